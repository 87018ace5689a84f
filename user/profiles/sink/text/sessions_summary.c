// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/sessions_summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/why/session_ranks.h"
#include "sink/sink.h"
#include "sink/text/printer.h"
#include "sink/text/sessions_why.h"

/* *text = the headlines of one function's sessions, or, if it is NULL, of all. */
static int write_text(const struct profile *p, const uint32_t *function, char **text)
{
	const struct sink_options opts = {0};
	struct printer pr = {.profile = p, .opts = &opts};
	const struct sessions *s = p->sessions;
	struct session_ranks ranks;
	size_t size;
	int err;

	*text = NULL;
	pr.out = open_memstream(text, &size);
	if (!pr.out)
		return -ENOMEM;
	err = session_ranks__init(&ranks, s);
	for (size_t i = 0; !err && i < s->groups_cnt; i++) {
		if (!function || s->groups[i].function == *function)
			err = sessions_why__headline(&pr, &ranks, &s->groups[i],
						     !function && s->groups_cnt > 1);
	}
	session_ranks__fini(&ranks);
	printer__fini(&pr);
	if (fclose(pr.out) && !err)
		err = -ENOMEM;
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

int sessions_summary__text(const struct profile *p, uint32_t function, char **text)
{
	int err = write_text(p, &function, text);

	if (!err)
		(*text)[strcspn(*text, "\n")] = '\0';
	return err;
}

int sessions_summary__lines(const struct profile *p, char **text)
{
	return write_text(p, NULL, text);
}
