// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config_check.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/config_data.h"
#include "agent/config_errors.h"
#include "agent/config_keys.h"

unsigned int config__section_line(const struct config *c, enum config_section s, const char *name)
{
	for (size_t i = 0; s == SECTION_SERVICE && i < c->services_cnt; i++) {
		if (!strcmp(c->services[i].name, name))
			return c->services[i].line;
	}
	for (size_t i = 0; s == SECTION_RECEIVER && i < c->receivers_cnt; i++) {
		if (!strcmp(c->receivers[i].name, name))
			return c->receivers[i].line;
	}
	return 0;
}

/* The line in which a section has a key; NULL: any that selects whom to record. 0: in none. */
static unsigned int was_given(const struct config *c, unsigned int section_line, const char *name)
{
	for (size_t i = 0; i < c->given_cnt; i++) {
		const struct config_given *g = &c->given[i];

		if (g->section_line == section_line &&
		    (name ? !strcmp(g->key->name, name) : g->key->selects))
			return g->line;
	}
	return 0;
}

static void check_service(struct config *c, const struct config_service *s)
{
	int groups = !!was_given(c, s->line, "unit") + !!was_given(c, s->line, "cgroup") +
		     !!was_given(c, s->line, "container");

	if (!was_given(c, s->line, NULL))
		config__complain(c, s->line,
				 "[service %s]: whom? Add process, unit, cgroup, container or user",
				 s->name);
	if (groups > 1)
		config__complain(
			c, s->line,
			"[service %s]: unit, cgroup and container exclude each other; leave one",
			s->name);
}

static void check_receiver(struct config *c, const struct config_receiver *r)
{
	const char *at = r->services;

	if (!was_given(c, r->line, "url"))
		config__complain(
			c, r->line,
			"[receiver %s]: where is it? Add url, as clickhouse://HOST/DATABASE",
			r->name);
	while (at && *at) {
		size_t len;
		char name[CONFIG_NAME_MAX + 2];

		at += strspn(at, ", \t");
		len = strcspn(at, ", \t");
		snprintf(name, sizeof(name), "%.*s", (int)len, at);
		if (len && !config__section_line(c, SECTION_SERVICE, name))
			config__complain(c, r->line,
					 "[receiver %s]: services: there is no [service %s]",
					 r->name, name);
		at += len;
	}
}

/* A recording that may become no older than it took would go before anybody could read it. */
static void check_times(struct config *c)
{
	unsigned int interval = was_given(c, c->agent_line, "interval");
	unsigned int keep = was_given(c, c->agent_line, "keep");

	if (c->keep_s <= c->interval_ns / 1000000000)
		config__complain(
			c, keep > interval ? keep : interval,
			"keep (%llu s) is not longer than interval (%llu s): no recording would "
			"stay; make keep longer, or interval shorter",
			(unsigned long long)c->keep_s,
			(unsigned long long)c->interval_ns / 1000000000);
}

void config__check(struct config *c)
{
	check_times(c);
	for (size_t i = 0; i < c->services_cnt; i++)
		check_service(c, &c->services[i]);
	for (size_t i = 0; i < c->receivers_cnt; i++)
		check_receiver(c, &c->receivers[i]);
	if (!c->services_cnt && !c->errors_cnt)
		config__complain(c, 0,
				 "no service: write [service NAME], and below it process = NAME");
}
