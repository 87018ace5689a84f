/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as rows of docs/fleet/clickhouse.sql. Inside fleet/ only, and for its tests. */
#ifndef PROFTRACE_FLEET_PROFILE_ROW_H
#define PROFTRACE_FLEET_PROFILE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set;
struct path_ids;
struct profile;
struct rows;
struct shipment;

/* A member of 64 bits that is a column, at its offset in struct profile. */
struct row_column {
	const char *name;
	size_t offset;
	bool rounded;	/* to what is known of it */
	bool is_double; /* a whole number, that is sent as INT64_MAX if it is larger */
};

#define ROW_SUMS 26
extern const struct row_column row_sums[ROW_SUMS]; /* those that add up */

/* The tables that have a row of a profile, in the order in which they get it: who has the last one
 * has all. */
enum row_table { ROW_PATHS, ROW_FUNCTIONS, ROW_LATENCIES, ROW_PROFILE, ROW_TABLES };

const char *profile_row__table(enum row_table table);

/* The table that a row is sent to: that one, or one whose view writes to it. */
const char *profile_row__sent_to(enum row_table table);

/* Which of the tables that ROW_PATHS is for lack it: `profile_paths`, and `path_minutes`, which has
 * its sums. The numbers are those of the column t_only. */
enum row_lack { LACKS_BOTH, LACKS_ROW, LACKS_SUMS, LACKS_NOTHING };

/* By that number `path_minutes` tells whether it has the sums of a profile: a hash of its id,
 * service and host. */
uint64_t profile_row__mark(const struct shipment *s);

/* The columns of a row, with commas between them; paths_columns are of `path_trees`. */
extern const char functions_columns[], paths_columns[];
char *profile_row__columns(enum row_table table); /* NULL: no memory. The caller frees it. */

/* Write the functions or paths of `p` that are not in `known`, which stays as it is. Paths are one
 * row, if there are any, with the callers that they need. `p` is linked; memory that is missing
 * shows in the rows. */
void functions_rows(const struct profile *p, const struct path_ids *ids, const struct id_set *known,
		    struct rows *out);
void paths_rows(const struct profile *p, const struct path_ids *ids, const struct id_set *known,
		struct rows *out);

/* When it began, in seconds since 1970; 0: unknown. */
uint32_t profile_row__time(const struct shipment *s);

/* The row of the profile itself in a table; `p` is that of the shipment, its threads merged by
 * their kinds; `lack` is of ROW_PATHS alone. Returns 0 or -ENOMEM. */
int profile_row(const struct shipment *s, enum row_table table, enum row_lack lack,
		const struct profile *p, const struct path_ids *ids, struct rows *out);

#endif
