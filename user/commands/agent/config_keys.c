// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config_keys.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/config_data.h"
#include "cli/command_line.h"
#include "cli/options.h"
#include "cli/values.h"
#include "fleet/receiver.h"
#include "util/glob.h"
#include "util/log.h"

#define KEY(s, n, k, type, member)                                                          \
	{                                                                                   \
		.section = s, .name = n, .kind = k, .offset = offsetof(struct type, member) \
	}
#define OPTION(n, o)                                                                    \
	{                                                                               \
		.section = SECTION_SERVICE, .name = n, .kind = KIND_OPTION, .option = o \
	}
#define SELECTOR(n, o)                                                                   \
	{                                                                                \
		.section = SECTION_SERVICE, .name = n, .kind = KIND_OPTION, .option = o, \
		.selects = true                                                          \
	}
#define REPEATED(n, o)                                                                   \
	{                                                                                \
		.section = SECTION_SERVICE, .name = n, .kind = KIND_OPTION, .option = o, \
		.repeats = true                                                          \
	}
#define TEXTS(n, member)                                                            \
	{                                                                           \
		.section = SECTION_METRICS, .name = n, .kind = KIND_TEXTS,          \
		.offset = offsetof(struct config_metrics, member), .repeats = true, \
	}

static const struct config_key keys[] = {
	KEY(SECTION_AGENT, "ring", KIND_PATH, config, ring),
	KEY(SECTION_AGENT, "interval", KIND_TIME, config, interval_ns),
	KEY(SECTION_AGENT, "keep", KIND_AGE, config, keep_s),
	KEY(SECTION_AGENT, "size", KIND_SIZE, config, size),
	KEY(SECTION_AGENT, "memory", KIND_SIZE, config, memory),
	KEY(SECTION_AGENT, "overhead", KIND_PERCENT, config, overhead),
	KEY(SECTION_AGENT, "status", KIND_PATH, config, status),
	SELECTOR("process", "-p"),
	SELECTOR("unit", "--unit"),
	SELECTOR("cgroup", "--cgroup"),
	SELECTOR("container", "--container"),
	SELECTOR("user", "--user"),
	KEY(SECTION_SERVICE, "overhead", KIND_PERCENT, config_service, overhead),
	KEY(SECTION_SERVICE, "version", KIND_TEXT, config_service, version),
	REPEATED("filter", "-F"),
	REPEATED("leave-out", "-N"),
	{.section = SECTION_SERVICE, .name = "follow", .kind = KIND_SWITCH, .option = "--follow"},
	OPTION("sample-rate", "--sample-rate"),
	OPTION("max-paths", "--max-paths"),
	KEY(SECTION_RECEIVER, "url", KIND_URL, config_receiver, url),
	KEY(SECTION_RECEIVER, "services", KIND_LIST, config_receiver, services),
	KEY(SECTION_RECEIVER, "secret-file", KIND_PATH, config_receiver, secret_file),
	KEY(SECTION_RECEIVER, "ca-file", KIND_PATH, config_receiver, ca_file),
	KEY(SECTION_METRICS, "listen", KIND_ADDRESS, config_metrics, address),
	TEXTS("function", functions),
	TEXTS("session", sessions),
	KEY(SECTION_METRICS, "max-functions", KIND_NUMBER, config_metrics, max),
};
#define NUMBER_MAX 10000
#define KEYS	   (sizeof(keys) / sizeof(*keys))

const struct config_key *config_key__find(enum config_section section, const char *name)
{
	for (size_t i = 0; i < KEYS; i++) {
		if (keys[i].section == section && !strcmp(keys[i].name, name))
			return &keys[i];
	}
	return NULL;
}

/* How many letters are to be put in, taken out or exchanged to make one of the other. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64], len = strlen(b);

	if (len >= 64)
		return len;
	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t above_left = row[0];

		row[0] = i;
		for (size_t j = 1; j <= len; j++) {
			size_t above = row[j], best = above_left + (a[i - 1] != b[j - 1]);

			best = above + 1 < best ? above + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			above_left = above;
		}
	}
	return row[len];
}

const char *config_key__like(enum config_section section, const char *name)
{
	const char *best = NULL;
	size_t least = 3;

	for (size_t i = 0; i < KEYS; i++) {
		size_t d = keys[i].section == section ? distance(name, keys[i].name) : least;

		if (d < least) {
			least = d;
			best = keys[i].name;
		}
	}
	return best;
}

void config_key__list(enum config_section section, char *buf, size_t size)
{
	size_t len = 0;

	*buf = '\0';
	for (size_t i = 0; i < KEYS; i++) {
		if (keys[i].section == section && len < size)
			len += snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					keys[i].name);
	}
}

static char said[512];

static void keep_message(enum log_level level, const char *line)
{
	if (level == LOG_ERROR)
		snprintf(said, sizeof(said), "%s", line);
}

/* Tries an option with `record`, or a receiver's URL, and catches the error message. */
static const char *try_option(const struct config_key *k, const char *value)
{
	char *words[] = {"proftrace",
			 "record",
			 "-i",
			 "1",
			 "-o",
			 "/",
			 (char *)k->option,
			 (char *)value,
			 k->selects ? NULL : "-p",
			 "x",
			 NULL};
	static const char hint[] = "; see proftrace --help";
	struct options o;
	char *at;
	int status;

	*said = '\0';
	log_divert(keep_message);
	status = options__parse(&o, k->selects ? 8 : 10, words);
	log_divert(NULL);
	options__clear(&o);
	at = strstr(said, hint);
	if (at)
		*at = '\0';
	return !status ? NULL : *said ? said : "is not understood";
}

static const char *try_url(const char *value)
{
	const struct receiver_options none = {0};
	struct receiver *r = NULL;
	int err;

	*said = '\0';
	log_divert(keep_message);
	err = receiver__open(value, &none, &r);
	log_divert(NULL);
	receiver__free(r);
	return !err ? NULL : *said ? said : "is no URL of a receiver";
}

/* "90s", "15m", "24h", "7d" */
static bool take_time(const char *value, uint64_t *s)
{
	static const struct {
		char unit;
		uint32_t s;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (*value >= '0' && *value <= '9' && *end == units[i].unit && !end[1] && number &&
		    number < 1000000) {
			*s = number * units[i].s;
			return true;
		}
	}
	return false;
}

static bool take_percent(const char *value, double *percent)
{
	char number[32];
	size_t len = strlen(value);

	if (len && value[len - 1] == '%')
		len--;
	if (!len || len >= sizeof(number))
		return false;
	memcpy(number, value, len);
	number[len] = '\0';
	return value__percent(number, percent) && *percent > 0 && *percent <= 100;
}

static const char *take_text(const char *value, char **text)
{
	free(*text);
	*text = strdup(value);
	return *text ? NULL : "no memory";
}

static const char *add_text(const char *value, struct config_texts *texts)
{
	char **grown = reallocarray(texts->items, texts->cnt + 1, sizeof(*grown));
	char *copy = strdup(value);

	if (grown)
		texts->items = grown;
	if (!grown || !copy) {
		free(copy);
		return "no memory";
	}
	grown[texts->cnt++] = copy;
	return NULL;
}

static const char unbalanced[] = "no function has such a name: a bracket or parenthesis has no "
				 "counterpart (\\[ stands for a single one)";

const char *config_key__take(const struct config_key *k, const char *value, void *to)
{
	void *member = (char *)to + k->offset;
	const char *wrong;
	uint64_t s;

	switch (k->kind) {
	case KIND_PATH:
		return *value == '/' ? take_text(value, member)
				     : "not an absolute path, as /var/lib/proftrace";
	case KIND_TIME:
		if (!take_time(value, &s) || s > 3600)
			return "not a time from 1s to 1h, as 60s or 5m";
		*(uint64_t *)member = s * 1000000000;
		return NULL;
	case KIND_AGE:
		return take_time(value, member) ? NULL : "not a time, as 30m, 24h or 7d";
	case KIND_SIZE:
		return value__size(value, 1 << 20, member) ? NULL
							   : "not a size from 1M to 900T, as 500M";
	case KIND_PERCENT:
		/* Who names a service's functions may want them whatever they cost. */
		if (k->section == SECTION_SERVICE && !strcmp(value, "none")) {
			*(double *)member = 0;
			return NULL;
		}
		return take_percent(value, member) ? NULL : "not a percentage, as 1%";
	case KIND_URL:
		wrong = try_url(value);
		return wrong ? wrong : take_text(value, member);
	case KIND_SWITCH:
		return strcmp(value, "yes") && strcmp(value, "no") ? "neither yes nor no" : NULL;
	case KIND_OPTION:
		if (k->repeats && !glob__is_balanced(value))
			return unbalanced;
		return try_option(k, value);
	case KIND_ADDRESS:
		return net_address__parse(value, member)
			       ? NULL
			       : "not as 9464, 0.0.0.0:9464 or [::1]:9464";
	case KIND_NUMBER:
		return value__number(value, NUMBER_MAX, member) ? NULL
								: "not a number from 1 to 10000";
	case KIND_TEXTS:
		return glob__is_balanced(value) ? add_text(value, member) : unbalanced;
	default:
		return take_text(value, member);
	}
}
