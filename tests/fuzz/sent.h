/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PROFTRACE_FUZZ_SENT_H
#define PROFTRACE_FUZZ_SENT_H

struct recorded;
struct sessions;

/* Makes all messages for databases of a recording, whose profile is linked and summarized.
 * Sessions: NULL where there are none. */
void sent__make(struct recorded *r, const struct sessions *sessions);

#endif
