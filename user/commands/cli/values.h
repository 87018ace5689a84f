/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsers of options' values. Example: "1.5s" is 1,500,000,000 ns. Each returns false if the text
 * is no such value. */
#ifndef PROFTRACE_CLI_VALUES_H
#define PROFTRACE_CLI_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds with a fraction: above 0 and below 10^9. */
bool value__seconds(const char *text, uint64_t *ns);

/* Above 0, with a unit: ns, us, ms or s. */
bool value__duration(const char *text, uint64_t *ns);

/* FROM..TO, seconds if there is no unit; without FROM from 0 on, without TO up to UINT64_MAX. */
bool value__range(const char *text, uint64_t *from_ns, uint64_t *to_ns);

/* Bytes, or K, M, G of them; at least `min`. */
bool value__size(const char *text, uint64_t min, uint64_t *bytes);

/* Above 0; "none" is 0. */
bool value__percent(const char *text, double *percent);

/* From 1 to `max`. */
bool value__number(const char *text, unsigned long max, uint32_t *out);

#endif
