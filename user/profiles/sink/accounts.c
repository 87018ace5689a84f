// SPDX-License-Identifier: GPL-2.0-or-later
#include "sink/accounts.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "calls/accounting.h"
#include "calls/estimate.h"
#include "calls/profile.h"
#include "util/json.h"
#include "util/text.h"

char *accounts__calls(const struct profile *p, char *buf, size_t size)
{
	const struct profile_accounting *a = &p->accounting;
	uint64_t open = a->open < 0 ? -(uint64_t)a->open : (uint64_t)a->open;
	char n[7][32];
	int len;

	/* An interval may end with fewer open calls than it began with. */
	len = snprintf(
		buf, size, "entered %s = returned %s + unwound %s %c open %s; lost %s, dropped %s",
		text_count(a->entered, n[0], sizeof(n[0])),
		text_count(a->returned, n[1], sizeof(n[1])),
		text_count(a->unwound, n[2], sizeof(n[2])), a->open < 0 ? '-' : '+',
		text_count(open, n[3], sizeof(n[3])), text_count(a->lost, n[4], sizeof(n[4])),
		text_count(a->dropped, n[5], sizeof(n[5])));
	if (a->untriggered && len > 0 && (size_t)len < size)
		snprintf(buf + len, size - len, ", not below a trigger %s",
			 text_count(a->untriggered, n[6], sizeof(n[6])));
	return buf;
}

#define SPARED_CPUS 0.01 /* the budget spares a target that does little (BUDGET_SPARED) */

static bool is_spared(const struct profile *p)
{
	return (double)p->accounting.probe_ns <
	       SPARED_CPUS * (double)(p->duration_ns - p->paused_ns);
}

/* Tells of probes whose cost is not known, so that it is in all times. */
static void tell_unknown(const struct profile *p, const char *budget, char *buf, size_t size)
{
	char cpu[32], own[64] = "";

	if (p->accounting.cpu_ns)
		snprintf(own, sizeof(own), ", as does the target's %s CPU time",
			 text_duration(p->accounting.cpu_ns, cpu, sizeof(cpu)));
	snprintf(buf, size, "what probes cost is not known: times include it%s; %s%s", own, budget,
		 p->max_overhead > 0 ? ", kept by a guess" : "");
}

#define TOLD_EXCESS 1.5 /* times the budget: less is not explained */

/* How many functions were dropped after the start, so that they had been traced, and have not come
 * back. */
static size_t dropped_late(const struct profile *p)
{
	size_t cnt = 0;

	for (size_t i = 0; i < p->drops_cnt; i++)
		cnt += p->drops[i].at_ns && !p->drops[i].back_ns;
	return cnt;
}

/* Tells why probes cost more than the budget. */
static void tell_excess(const struct profile *p, double percent, char *buf, size_t size)
{
	bool told = p->max_overhead > 0 && percent > TOLD_EXCESS * p->max_overhead && !is_spared(p);
	size_t cnt = told ? dropped_late(p) : 0;
	char text[32];

	*buf = '\0';
	if (cnt)
		snprintf(buf, size, "; more, as %s function%s traced until found to be hot",
			 text_count(cnt, text, sizeof(text)), cnt == 1 ? " was" : "s were");
}

char *accounts__cost(const struct profile *p, bool raw, char *buf, size_t size)
{
	const struct profile_accounting *a = &p->accounting;
	char probes[32], cpu[32], share[32], whole[96] = "CPU time", budget[48] = "no budget";
	char surveyed[32], survey[64] = "", excess[80];
	double percent = 0;

	*buf = '\0';
	if (!a->probe_ns && !a->cpu_ns && !p->cost_unknown)
		return buf;
	if (accounting__overhead(a, &percent))
		snprintf(whole, sizeof(whole), "on top of the target's %s CPU time (%s)",
			 text_duration(accounting__own_ns(a), cpu, sizeof(cpu)),
			 text_percent(percent, share, sizeof(share)));
	if (p->max_overhead > 0)
		snprintf(budget, sizeof(budget), "budget %s%s",
			 text_percent(p->max_overhead, share, sizeof(share)),
			 percent > p->max_overhead && is_spared(p) ? " or 1% of a CPU" : "");
	if (p->cost_unknown) {
		tell_unknown(p, budget, buf, size);
		return buf;
	}
	if (p->surveyed_ns)
		snprintf(survey, sizeof(survey), ", by a survey of %s before the start",
			 text_duration(p->surveyed_ns, surveyed, sizeof(surveyed)));
	tell_excess(p, percent, excess, sizeof(excess));
	snprintf(buf, size, "probes cost %s %s, %s; %s%s%s",
		 text_duration(a->probe_ns, probes, sizeof(probes)), whole,
		 raw ? "left in" : "taken out", budget, survey, excess);
	return buf;
}

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t size, const char *format,
							 ...)
{
	size_t len = strlen(buf);
	va_list args;

	va_start(args, format);
	vsnprintf(buf + len, size - len, format, args);
	va_end(args);
}

char *accounts__estimates(const struct profile *p, char *buf, size_t size)
{
	const struct profile_accounting *a = &p->accounting;
	uint64_t placed = a->samples_whole + a->samples_no_rule + a->samples_unreadable +
			  a->samples_astray + a->samples_deep + a->samples_unknown;
	/* In a run of the whole machine no sample is unwound. */
	uint64_t all = placed ? placed : a->samples_taken - a->samples_probing - a->samples_lost;
	char cnt[32], ns[32];

	*buf = '\0';
	if (!estimate__any(p))
		return buf;
	append(buf, size, "estimated from ");
	if (p->sample_period_ns)
		append(buf, size, "%s sample%s of %s CPU time each",
		       text_count(all, cnt, sizeof(cnt)), all == 1 ? "" : "s",
		       text_duration(p->sample_period_ns, ns, sizeof(ns)));
	if (a->bursts)
		append(buf, size, "%s%s burst%s of %s in all",
		       p->sample_period_ns ? ", calls from " : "",
		       text_count(a->bursts, cnt, sizeof(cnt)), a->bursts == 1 ? "" : "s",
		       text_duration(a->burst_ns, ns, sizeof(ns)));
	if (placed)
		append(buf, size, "; %.1f%% with all callers",
		       100.0 * (double)a->samples_whole / (double)placed);
	if (a->samples_probing)
		append(buf, size, "; %s met probes",
		       text_count(a->samples_probing, cnt, sizeof(cnt)));
	if (a->samples_lost)
		append(buf, size, "; %s lost", text_count(a->samples_lost, cnt, sizeof(cnt)));
	if (a->waits_estimated)
		append(buf, size, "; %s of %s waits from others like them",
		       text_count(a->waits_estimated, cnt, sizeof(cnt)),
		       text_count(a->waits, ns, sizeof(ns)));
	if (a->waits_lost)
		append(buf, size, "; %s wait%s without a place",
		       text_count(a->waits_lost, cnt, sizeof(cnt)), a->waits_lost == 1 ? "" : "s");
	return buf;
}

char *accounts__held(const struct profile *p, char *buf, size_t size)
{
	char ns[32];

	*buf = '\0';
	if (p->accounting.held_ns > p->accounting.cpu_ns / 100)
		snprintf(buf, size,
			 "threads waited for the probes of what they had loaded: %s of CPU time, "
			 "not the target's",
			 text_duration(p->accounting.held_ns, ns, sizeof(ns)));
	return buf;
}

char *accounts__single_calls(const struct profile *p, char *buf, size_t size)
{
	const struct calls_share s = estimate__share(p);
	char kept[32], all[32], share[32];

	*buf = '\0';
	if (s.kept)
		snprintf(
			buf, size, "single calls: %s of %s%s (%s), exact",
			text_count(s.kept, kept, sizeof(kept)), s.estimate ? "~" : "",
			text_count(s.all, all, sizeof(all)),
			text_percent(100.0 * (double)s.kept / (double)s.all, share, sizeof(share)));
	return buf;
}

static void write_share(struct json *j, const struct profile *p)
{
	const struct calls_share s = estimate__share(p);

	if (!s.kept)
		return;
	json_member_open(j, "single_calls", '{');
	json_member_u64(j, "kept", s.kept);
	json_member_u64(j, "all", s.all);
	json_member_bool(j, "estimate", s.estimate);
	json_close(j, '}');
}

static void write_accounting(struct json *j, const struct profile *p)
{
	double overhead = 0;

	accounting__overhead(&p->accounting, &overhead);
	json_member_open(j, "accounting", '{');
	for (size_t i = 0; i < ACCOUNTS; i++) {
		int64_t v = account__of(&accounts[i], &p->accounting);

		if (!account__matters(&accounts[i], p))
			continue;
		json_key(j, accounts[i].name);
		if (account__is_signed(&accounts[i]))
			json_i64(j, v);
		else
			json_u64(j, (uint64_t)v);
	}
	json_member_double(j, "overhead_percent", overhead);
	if (p->cost_unknown)
		json_member_bool(j, "probe_cost_unknown", true);
	json_close(j, '}');
}

static void write_budget(struct json *j, const struct profile *p)
{
	double used;

	json_member_open(j, "budget", '{');
	json_key(j, "max_percent");
	if (p->max_overhead > 0)
		json_double(j, p->max_overhead);
	else
		json_null(j);
	json_key(j, "used_percent");
	if (!p->cost_unknown && accounting__overhead(&p->accounting, &used))
		json_double(j, used);
	else
		json_null(j);
	json_member_u64(j, "surveyed_ns", p->surveyed_ns);
	json_close(j, '}');
}

void accounts__json(struct json *j, const struct profile *p)
{
	write_accounting(j, p);
	write_share(j, p);
	write_budget(j, p);
}
