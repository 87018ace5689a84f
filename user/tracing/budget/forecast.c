// SPDX-License-Identifier: GPL-2.0-or-later
#include "budget/forecast.h"

#include <errno.h>
#include <stdlib.h>

#include "attach/costs.h"

/* While most of the time is the counting's, a small error of its cost is a large one of the rest.
 * So the rest is taken to be at least this share: then rates are too low rather than too high, and
 * what is left too much after a forecast is seen in the run. */
#define OWN_SHARE 0.1

double forecast__own_ns(double cpu_ns, double counting_ns)
{
	double own_ns = cpu_ns - counting_ns;
	double least_ns = OWN_SHARE * (cpu_ns > counting_ns ? cpu_ns : counting_ns);

	return own_ns > least_ns ? own_ns : least_ns;
}

double forecast__share(const struct forecast_function *functions, size_t cnt)
{
	double share = 0;

	for (size_t i = 0; i < cnt; i++)
		share += functions[i].rate * functions[i].trace_ns;
	return share;
}

double forecast__unseen(const struct forecast_function *functions, const uint64_t *calls,
			size_t cnt)
{
	double share = 0;

	for (size_t i = 0; i < cnt; i++) {
		if (calls[i] == 1)
			share += functions[i].rate * functions[i].trace_ns;
	}
	return share;
}

#define FOUND_NS 300e6 /* after so long the looks of mariadbd's run had found them all */

bool forecast__leaves(double unseen, double load, size_t cnt)
{
	return unseen * load * FOUND_NS < (double)cnt * PROBE_LINK_NS;
}

static double counting_share(const struct forecast_function *f)
{
	return f->rate * f->count_ns;
}

static int compare_shares(const void *a, const void *b)
{
	const struct forecast_function *x = *(const struct forecast_function *const *)a;
	const struct forecast_function *y = *(const struct forecast_function *const *)b;

	if (counting_share(x) != counting_share(y))
		return counting_share(x) < counting_share(y) ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int64_t forecast__again(const struct forecast_function *functions, size_t cnt, double share,
			uint32_t *out)
{
	const struct forecast_function **sorted = calloc(cnt + 1, sizeof(*sorted));
	size_t again = 0;
	double sum = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		sorted[i] = &functions[i];
	qsort(sorted, cnt, sizeof(*sorted), compare_shares);
	for (; again < cnt; again++) {
		sum += counting_share(sorted[again]);
		if (sum > share)
			break;
		out[again] = sorted[again] - functions;
	}
	qsort(out, again, sizeof(*out), compare_numbers);
	free(sorted);
	return (int64_t)again;
}
