/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost classes of the plan's functions, by which their probes are charged. */
#ifndef PROFTRACE_LOOKS_CALL_COST_H
#define PROFTRACE_LOOKS_CALL_COST_H

#include "collect/collector.h"

struct plan;
struct plan_function;
struct tracer;

struct function_probes call_cost__of(const struct plan *p, const struct plan_function *f);
/* In bursts, which leave dear exits out. */
struct function_probes call_cost__in_burst(const struct plan *p, const struct plan_function *f);

/* Tells the collector of all functions that are planned. Returns 0 or -ENOMEM. */
int call_cost__tell(const struct plan *p, struct collector *c);

/* Time that unwinding has taken per call so far, in ns, on average; 0 without --callers. */
double call_cost__unwinding_ns(const struct tracer *tr);

#endif
