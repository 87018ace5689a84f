/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions in SQL, as --where takes them. Inside cli/ only. */
#ifndef PROFTRACE_CLI_CONDITION_H
#define PROFTRACE_CLI_CONDITION_H

/*
 * Why a condition would not stay within the parentheses that our queries of ClickHouse have around
 * it, or NULL: "service = 'api'" does; "", "1) or (1", "1 -- x", "a = 'b" and "1; drop" do not.
 * Whether the condition means anything is the database's to say.
 */
const char *condition__wrong(const char *sql);

#endif
