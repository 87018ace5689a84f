/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys that a configuration may have, and checks of their values. Inside agent/ only. */
#ifndef PROFTRACE_AGENT_CONFIG_KEYS_H
#define PROFTRACE_AGENT_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_NAME_MAX 40 /* bytes of the name of a section */

enum config_section {
	SECTION_NONE,
	SECTION_AGENT,
	SECTION_SERVICE,
	SECTION_RECEIVER,
	SECTION_METRICS,
};

enum config_kind {
	KIND_PATH, /* absolute */
	KIND_TIME,
	KIND_AGE,
	KIND_SIZE,
	KIND_PERCENT,
	KIND_TEXT,
	KIND_URL,
	KIND_ADDRESS,
	KIND_NUMBER, /* up to 10000 */
	KIND_TEXTS,  /* one more each time */
	KIND_LIST,   /* words with commas between */
	KIND_SWITCH, /* yes or no */
	KIND_OPTION, /* whatever the option takes */
};

struct config_key {
	enum config_section section;
	const char *name;
	enum config_kind kind;
	size_t offset;	    /* of its member in the section's struct */
	const char *option; /* of record; NULL: it is none */
	bool repeats, selects;
};

/* NULL: there is none. */
const struct config_key *config_key__find(enum config_section section, const char *name);
/* The one that was probably meant; NULL: none is like it. */
const char *config_key__like(enum config_section section, const char *name);
/* "ring, interval, ..." */
void config_key__list(enum config_section section, char *buf, size_t size);

/* Sets the member of `to` by a value. Returns NULL, or what the value should be, in a buffer that
 * the next call overwrites. */
const char *config_key__take(const struct config_key *k, const char *value, void *to);

#endif
