// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/asked.h"

#include <stdlib.h>

#include "fleet/answer.h"
#include "fleet/question.h"
#include "fleet/receiver.h"

int asked__ask(struct asked *a, const struct options *o)
{
	const struct receiver_options opts = {
		.secret = getenv("PROFTRACE_SECRET"),
		.ca_file = o->ca_file,
	};
	int err = 0;

	for (size_t i = 0; o->from && i < o->wheres_cnt && !err; i++)
		err = question__ask(o->from, &opts, o->wheres[i], &a->answers[i]);
	return err;
}

void asked__free(struct asked *a)
{
	for (size_t i = 0; i < OPTIONS_WHERES_MAX; i++)
		answer__free(a->answers[i]);
}

int asked__load(struct asked *a, size_t number, struct recorded *out)
{
	return answer__read(a->answers[number], out);
}
