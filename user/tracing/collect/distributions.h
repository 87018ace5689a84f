/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of distributions as the profile has it. Inside collect/ only. */
#ifndef PROFTRACE_COLLECT_DISTRIBUTIONS_H
#define PROFTRACE_COLLECT_DISTRIBUTIONS_H

#include <stdint.h>

struct profile;
struct bpf_tables;

/* Sets p->buckets from those of functions below `functions_cnt`. Returns 0 or -ENOMEM. */
int distributions__read(const struct bpf_tables *t, uint32_t functions_cnt, struct profile *p);

#endif
