// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/judge.h"

#include <stdbool.h>
#include <stdio.h>

#include "calls/distribution.h"
#include "calls/function_glob.h"
#include "calls/profile.h"
#include "cli/assertion.h"
#include "util/log.h"
#include "util/text.h"

#define NAME_SIZE 200

static bool matches(const struct assertion *a, const struct profile_function *f)
{
	return !function_kind__of_stacks(f->kind) && function_glob__matches(a->glob, f);
}

/* Why the function's figures are not those of all of its calls; NULL: they are. */
static const char *blur_of(const struct profile *p, uint32_t function)
{
	const struct profile_function *f = &p->functions[function];

	for (size_t i = 0; i < p->drops_cnt; i++) {
		if (p->drops[i].function == function)
			return "was dropped for the budget (--max-overhead none keeps it)";
	}
	if (f->sampled)
		return "is sampled";
	if (f->stats.burst_calls)
		return "is estimated from bursts";
	return NULL;
}

/* Logs why the assertion cannot be judged; returns whether. Of sums all functions must be known. */
static bool is_unknown(const struct assertion *a, const struct profile *p)
{
	char name[NAME_SIZE];
	size_t cnt = 0;

	for (size_t i = 0; a->measure < MEASURE_SUMS && i < p->probes.skipped_cnt; i++) {
		const struct profile_skip *s = &p->probes.skipped[i];
		const struct profile_function f = {
			.name = s->name, .symbol = s->name, .module = s->module};

		if (!function_glob__matches(a->glob, &f))
			continue;
		log_error("%s: not known, as %s was not probed: %s", a->text,
			  text_escape(s->name, name, sizeof(name)), s->reason);
		return true;
	}
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const char *blur;

		if (!matches(a, &p->functions[i]))
			continue;
		cnt++;
		blur = blur_of(p, i);
		if (blur) {
			log_error("%s: not known, as %s %s", a->text,
				  text_escape(p->functions[i].name, name, sizeof(name)), blur);
			return true;
		}
	}
	if (cnt && p->accounting.lost) {
		log_error("%s: not known, as %lu calls were lost, of functions that are not known",
			  a->text, (unsigned long)p->accounting.lost);
		return true;
	}
	if (!cnt)
		log_error("%s: not known, as no function that was traced matches '%s'", a->text,
			  a->glob);
	return !cnt;
}

/* The measured value for a single function; false: no call has ended. */
static bool measure_of(const struct assertion *a, const struct profile *p, uint32_t function,
		       uint64_t *value)
{
	static const double shares[MEASURES] = {
		[MEASURE_P50] = 0.5, [MEASURE_P90] = 0.9, [MEASURE_P99] = 0.99};
	const struct profile_function *f = &p->functions[function];
	const struct distribution d = distribution__of(p, function);
	const struct call_stats *s = &f->stats;

	switch (a->measure) {
	case MEASURE_CALLS:
		*value = s->calls;
		return true;
	case MEASURE_TOTAL:
		*value = s->total_ns;
		return true;
	case MEASURE_SELF:
		*value = s->self_ns;
		return true;
	case MEASURE_AVG:
		*value = s->calls ? f->spent_ns / s->calls : 0;
		return s->calls;
	case MEASURE_MAX:
		*value = distribution__single(&d, s->max_ns);
		return s->min_ns != UINT64_MAX;
	default:
		*value = distribution__quantile(&d, shares[a->measure], s->min_ns, s->max_ns);
		return d.calls;
	}
}

static const char *value_text(const struct assertion *a, uint64_t value, char *buf, size_t size)
{
	char number[32];

	if (a->measure != MEASURE_CALLS)
		return text_duration(value, buf, size);
	snprintf(buf, size, "%s call%s", text_count(value, number, sizeof(number)),
		 value == 1 ? "" : "s");
	return buf;
}

static enum verdict judge_sum(const struct assertion *a, const struct profile *p)
{
	char name[NAME_SIZE], text[64];
	const char *only = NULL;
	uint64_t sum = 0, value;
	size_t cnt = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (!matches(a, &p->functions[i]) || !measure_of(a, p, i, &value))
			continue;
		sum += value;
		only = p->functions[i].name;
		cnt++;
	}
	value_text(a, sum, text, sizeof(text));
	if (assertion__holds(a, sum)) {
		log_info("%s: holds, %s", a->text, text);
		return HOLDS;
	}
	if (cnt == 1)
		log_error("%s: does not hold, %s has %s", a->text,
			  text_escape(only, name, sizeof(name)), text);
	else
		log_error("%s: does not hold, %zu functions have %s", a->text, cnt, text);
	return FAILS;
}

/* One line, with the function that is furthest off. */
static enum verdict judge_each(const struct assertion *a, const struct profile *p)
{
	bool least = a->comparison == GREATER || a->comparison == GREATER_OR_EQUAL;
	size_t failed = 0, judged = 0, worst = 0;
	char name[NAME_SIZE], text[64], more[48] = "";
	uint64_t value, worst_value = 0;

	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (!matches(a, &p->functions[i]) || !measure_of(a, p, i, &value))
			continue;
		judged++;
		if (assertion__holds(a, value))
			continue;
		if (!failed++ || (least ? value < worst_value : value > worst_value)) {
			worst = i;
			worst_value = value;
		}
	}
	if (!judged) {
		log_error("%s: not known, as no call of such a function has ended", a->text);
		return UNKNOWN;
	}
	if (!failed) {
		log_info("%s: holds", a->text);
		return HOLDS;
	}
	if (failed > 1)
		snprintf(more, sizeof(more), ", and %zu more do not", failed - 1);
	log_error("%s: does not hold, %s has %s%s", a->text,
		  text_escape(p->functions[worst].name, name, sizeof(name)),
		  value_text(a, worst_value, text, sizeof(text)), more);
	return FAILS;
}

enum verdict judge(const struct assertion *a, const struct profile *p)
{
	if (is_unknown(a, p))
		return UNKNOWN;
	return a->measure < MEASURE_SUMS ? judge_sum(a, p) : judge_each(a, p);
}
