// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/health.h"

#include <stdio.h>
#include <string.h>

#include "agent/state.h"
#include "sink/data/metrics.h"

#define NS 1e9

static void put_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# TYPE proftrace_agent_%s %s\n# HELP proftrace_agent_%s %s\n", name, type,
		name, help);
}

static void put_one(FILE *out, const char *name, const char *type, const char *help, double value)
{
	put_head(out, name, type, help);
	fprintf(out, "proftrace_agent_%s%s %.12g\n", name, *type == 'c' ? "_total" : "", value);
}

static void put_labelled(FILE *out, const char *name, const char *type, const char *label,
			 const char *labelled, double value)
{
	fprintf(out, "proftrace_agent_%s%s{%s=", name, *type == 'c' ? "_total" : "", label);
	metrics__put_label(out, labelled);
	fprintf(out, "} %.12g\n", value);
}

enum service_figure {
	SERVICE_RECORDING,
	SERVICE_RECORDINGS,
	SERVICE_UNWRITTEN,
	SERVICE_STARTS,
	SERVICE_FAILURES,
	SERVICE_PROBES,
	SERVICE_CPU,
	SERVICE_FIGURES,
};

static double service_figure(const struct service *sv, enum service_figure figure)
{
	const struct service_sums sums = service__sums(sv);
	const double figures[SERVICE_FIGURES] = {
		[SERVICE_RECORDING] = sv->run.pid != 0,
		[SERVICE_RECORDINGS] = (double)sums.recordings,
		[SERVICE_UNWRITTEN] = (double)sums.unwritten,
		[SERVICE_STARTS] = (double)sv->starts,
		[SERVICE_FAILURES] = (double)sv->failures,
		[SERVICE_PROBES] = (double)sums.probe_ns / NS,
		[SERVICE_CPU] = (double)sums.cpu_ns / NS,
	};

	return figures[figure];
}

static void put_services(FILE *out, const struct agent *a)
{
	static const struct {
		const char *name, *type, *help;
	} figures[SERVICE_FIGURES] = {
		[SERVICE_RECORDING] = {"service_recording", "gauge",
				       "1: the service is recorded now."},
		[SERVICE_RECORDINGS] = {"recordings", "counter", "Recordings that were made."},
		[SERVICE_UNWRITTEN] = {"recordings_unwritten", "counter",
				       "Intervals that could not be written, as to a full disk."},
		[SERVICE_STARTS] = {"service_starts", "counter", "How often recording began."},
		[SERVICE_FAILURES] = {"service_failures", "counter",
				      "How often a recorder failed."},
		[SERVICE_PROBES] = {"probe_seconds", "counter",
				    "CPU time that probes have cost the service."},
		[SERVICE_CPU] = {"service_cpu_seconds", "counter",
				 "CPU time of the service while it was recorded."},
	};

	for (int f = 0; f < SERVICE_FIGURES; f++) {
		put_head(out, figures[f].name, figures[f].type, figures[f].help);
		for (size_t i = 0; i < a->services_cnt; i++)
			put_labelled(out, figures[f].name, figures[f].type, "service",
				     a->services[i].name, service_figure(&a->services[i], f));
	}
}

enum receiver_figure {
	RECEIVER_SENT_CNT,
	RECEIVER_REFUSED_CNT,
	RECEIVER_MISSED,
	RECEIVER_WAITING,
	RECEIVER_BYTES,
	RECEIVER_AWAY,
	RECEIVER_FIGURES,
};

static double receiver_figure(const struct sender_share *s, enum receiver_figure figure)
{
	const double figures[RECEIVER_FIGURES] = {
		[RECEIVER_SENT_CNT] = (double)atomic_load(&s->sent),
		[RECEIVER_REFUSED_CNT] = (double)atomic_load(&s->refused),
		[RECEIVER_MISSED] = (double)atomic_load(&s->missed),
		[RECEIVER_WAITING] = (double)atomic_load(&s->waiting),
		[RECEIVER_BYTES] = (double)atomic_load(&s->bytes),
		[RECEIVER_AWAY] = atomic_load(&s->away),
	};

	return figures[figure];
}

static void put_receivers(FILE *out, const struct agent *a)
{
	static const struct {
		const char *name, *type, *help;
	} figures[RECEIVER_FIGURES] = {
		[RECEIVER_SENT_CNT] = {"sent", "counter",
				       "Recordings that the receiver has taken."},
		[RECEIVER_REFUSED_CNT] = {"refused", "counter",
					  "Recordings that the receiver will never take."},
		[RECEIVER_MISSED] = {"missed", "counter",
				     "Recordings that have left the ring unsent."},
		[RECEIVER_WAITING] = {"waiting", "gauge", "Recordings that are to be sent."},
		[RECEIVER_BYTES] = {"sent_bytes", "counter", "Bytes sent, compressed."},
		[RECEIVER_AWAY] = {"receiver_away", "gauge", "1: the receiver takes nothing now."},
	};

	for (int f = 0; a->senders_cnt && f < RECEIVER_FIGURES; f++) {
		put_head(out, figures[f].name, figures[f].type, figures[f].help);
		for (size_t i = 0; i < a->senders_cnt; i++) {
			const struct sender *s = &a->senders[i];

			if (s->share)
				put_labelled(out, figures[f].name, figures[f].type, "receiver",
					     s->config->name, receiver_figure(s->share, f));
		}
	}
}

void health__write(struct agent *a)
{
	size_t room;
	char *text;
	FILE *out;

	if (!a->exporter.share)
		return;
	text = exporter__text(&a->exporter, &room);
	out = fmemopen(text, room, "w");
	if (!out)
		return;
	put_one(out, "cpu_seconds", "counter", "CPU time of the agent with all its processes.",
		(double)a->cpu_ns / NS);
	put_one(out, "memory_bytes", "gauge", "Memory of the agent with all its processes (Pss).",
		(double)a->memory);
	put_one(out, "kernel_bytes", "gauge",
		"Tables of the agent in the kernel that no process has in its memory.",
		(double)a->kernel);
	put_one(out, "budget_scale", "gauge",
		"What is left of all budgets to keep that of the machine; 1: all.",
		a->budget.scale);
	put_one(out, "ring_bytes", "gauge", "Bytes of recordings on disk.", (double)a->ring.bytes);
	put_one(out, "ring_recordings", "gauge", "Recordings on disk.", (double)a->ring.recordings);
	put_one(out, "ring_removed", "counter", "Recordings that were too old or too many.",
		(double)a->ring.removed);
	put_services(out, a);
	put_receivers(out, a);
	fclose(out);
	exporter__pass_on(&a->exporter);
}
