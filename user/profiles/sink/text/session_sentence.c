// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/text/session_sentence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "calls/profile.h"
#include "calls/session_data.h"
#include "sink/names.h"
#include "sink/why/session_ranks.h"
#include "sink/text/printer.h"
#include "util/text.h"

#define PARTS_MAX  4
#define PART_LEAST 20 /* a part that is told is at least the 20th part of the whole */
#define NAME_MAX   60

/* Time that slow sessions have more of: waiting, or running, on one path. */
struct part {
	uint32_t path; /* 0: it is in queues */
	bool waits;
	int64_t ns;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

/* Fills in the parts of the reasons, the longest first. Returns how many. */
static size_t parts_of(const struct session_reason *reasons, size_t cnt, int64_t whole_ns,
		       struct part *parts)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		const struct session_reason *r = &reasons[i];
		int64_t off_ns = r->path ? r->more_off_ns : r->more_ns;

		parts[n++] = (struct part){r->path, true, off_ns};
		parts[n++] = (struct part){r->path, false, r->more_ns - off_ns};
	}
	qsort(parts, n, sizeof(*parts), compare_parts);
	for (cnt = 0; cnt < n && cnt < PARTS_MAX && parts[cnt].ns >= 1; cnt++)
		if (parts[cnt].ns < whole_ns / PART_LEAST)
			break;
	return cnt;
}

static int print_part(struct printer *pr, const struct sessions *s, const struct part *part)
{
	char ns[32];
	int err = 0;

	fprintf(pr->out, "%s %s", text_duration(part->ns, ns, sizeof(ns)),
		!part->path   ? "in queues"
		: part->waits ? "waiting in "
			      : "running ");
	if (part->path)
		err = printer__name(
			pr, function__name(&pr->profile->functions[s->paths[part->path].function]),
			NAME_MAX);
	return err;
}

static int print_parts(struct printer *pr, const struct sessions *s, const struct part *parts,
		       size_t cnt, int64_t whole_ns)
{
	int64_t rest_ns = whole_ns;
	char ns[32];
	int err = 0;

	fprintf(pr->out, "%sslow sessions take %s longer%s", printer__style(pr, STYLE_BOLD),
		text_duration(whole_ns, ns, sizeof(ns)), printer__style(pr, STYLE_PLAIN));
	for (size_t i = 0; i < cnt && err >= 0; i++) {
		rest_ns -= parts[i].ns;
		fputs(i ? ", " : ": ", pr->out);
		err = print_part(pr, s, &parts[i]);
	}
	if (rest_ns > 0)
		fprintf(pr->out, "%s%s elsewhere", cnt ? ", " : ": ",
			text_duration(rest_ns, ns, sizeof(ns)));
	else if (rest_ns < 0)
		fprintf(pr->out, ", and %s less elsewhere",
			text_duration(-rest_ns, ns, sizeof(ns)));
	fputs("\n\n", pr->out);
	return err < 0 ? err : 0;
}

int session_sentence__print(struct printer *pr, const struct session_ranks *r,
			    const struct session_group *g)
{
	int64_t whole_ns = session_group__more_ns(g);
	struct session_reason *reasons;
	struct part *parts;
	size_t cnt;
	int err;

	if (whole_ns < 1)
		return 0;
	err = session_ranks__reasons(r, g, &reasons, &cnt);
	if (err)
		return err;
	parts = calloc(2 * cnt + 1, sizeof(*parts));
	err = parts ? print_parts(pr, r->s, parts, parts_of(reasons, cnt, whole_ns, parts),
				  whole_ns)
		    : -ENOMEM;
	free(parts);
	free(reasons);
	return err;
}
