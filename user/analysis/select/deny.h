/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols that are no plain functions, and functions that must not see a changed return address. */
#ifndef PROFTRACE_SELECT_DENY_H
#define PROFTRACE_SELECT_DENY_H

struct symbol;

enum deny_verdict {
	DENY_NOTHING,
	DENY_UNKNOWN, /* the same as DENY_RETURN, as nobody knows: it has no name */
	DENY_RETURN,  /* may be probed, but its return address must stay untouched */
	DENY_PROBE,   /* must not be probed at all */
};

/* Looks at all names of the symbol. *reason is set for every verdict but DENY_NOTHING. */
enum deny_verdict deny__verdict(const struct symbol *sym, const char **reason);

#endif
