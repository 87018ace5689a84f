/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles that --from and --where ask a database for, in place of recordings. */
#ifndef PROFTRACE_REPORT_ASKED_H
#define PROFTRACE_REPORT_ASKED_H

#include "cli/options.h"

struct answer;
struct recorded;

struct asked {
	struct answer *answers[OPTIONS_WHERES_MAX];
};

/* Asks, if there is anything to be asked: before the process may open no sockets any more. Returns
 * 0, or -errno with one line logged; to be freed in any case. */
int asked__ask(struct asked *a, const struct options *o);
void asked__free(struct asked *a);

/* Loads the answer to the `number`-th --where, as recorded_run__load() loads a run. */
int asked__load(struct asked *a, size_t number, struct recorded *out);

#endif
