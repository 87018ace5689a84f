/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_RECORD_CHECKED_H
#define PROFTRACE_RECORD_CHECKED_H

struct profile;
struct recorded;

/* Checks a profile that was made of a stranger's data, as one out of a file is: only its arrays and
 * what paths have cost themselves need to be there. out->profile is a copy with texts of its own,
 * linked, not summarized. Returns 0, -EINVAL (it makes no sense) or -ENOMEM; the caller frees it in
 * any case. */
int recorded__check(const struct profile *p, struct recorded *out);

#endif
