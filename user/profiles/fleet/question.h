/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks a database of profiles (docs/fleet/clickhouse.sql) for those that a condition chooses, added
 * up: the engine merges hosts and times, and what comes back is one profile.
 */
#ifndef PROFTRACE_FLEET_QUESTION_H
#define PROFTRACE_FLEET_QUESTION_H

struct answer;
struct receiver_options;

/*
 * Asks the database at `url` (clickhouse://HOST/DATABASE). `where` is SQL of the user's, with the
 * user's rights, and only reads: of service, version, time and, which takes longer as no sums are
 * kept of them, host and kernel. Returns 0, or -errno with one line logged; the caller frees *out.
 */
int question__ask(const char *url, const struct receiver_options *o, const char *where,
		  struct answer **out);

#endif
