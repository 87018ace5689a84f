/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_SINK_DATA_LINES_JSON_H
#define PROFTRACE_SINK_DATA_LINES_JSON_H

struct json;
struct listing;
struct profile;

/* Members "lines" and "lines_skipped" of an object, if lines were asked for: each line of source is
 * one element, with the sums of all code it has. `functions` has the functions' ids. Returns 0 or
 * -ENOMEM. */
int lines_json__write(struct json *j, const struct profile *p, const struct listing *functions);

#endif
