// SPDX-License-Identifier: GPL-2.0-or-later
/* One profile as metrics: see metrics.h. */
#include "sink/data/metrics.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"

#define FUNCTIONS_MAX 100

static int write_openmetrics(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	char service[SERVICE_NAME];
	const struct metrics_choice choice = {.max = FUNCTIONS_MAX};
	struct metrics *m;
	int err = metrics__new(&choice, &m);

	if (!err)
		err = metrics__add(m, p, service__name(p, service));
	stream__begin();
	if (!err) {
		metrics__write(m, out);
		fputs("# EOF\n", out);
	}
	metrics__free(m);
	return err ? err : stream__end(out);
}

const struct sink sink_openmetrics = {
	.name = "openmetrics",
	.help = "metrics of functions, for Prometheus and VictoriaMetrics",
	.suffixes = (const char *const[]){".prom", NULL},
	.whole = true,
	.names_only = true,
	.write = write_openmetrics,
};
