// SPDX-License-Identifier: GPL-2.0-or-later
#include "run/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "collect/collector.h"
#include "util/log.h"
#include "util/text.h"

void progress__init(struct progress *p, bool quiet)
{
	*p = (struct progress){.enabled = !quiet && isatty(STDERR_FILENO)};
}

void progress__show(struct progress *p, uint64_t elapsed_ns, bool off, const struct collector *c)
{
	char calls[32], functions[32];

	if (!p->enabled)
		return;
	fprintf(stderr, "\r\033[K%" PRIu64 ".%" PRIu64 " s%s  %s calls  %s function%s seen",
		elapsed_ns / 1000000000, elapsed_ns / 100000000 % 10, off ? "  OFF" : "",
		text_count(collector__calls(c), calls, sizeof(calls)),
		text_count(collector__functions(c), functions, sizeof(functions)),
		collector__functions(c) == 1 ? "" : "s");
	fflush(stderr);
	p->shown = true;
	log_status_line(true);
}

void progress__clear(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
	log_status_line(false);
}
