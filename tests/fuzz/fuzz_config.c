// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: a configuration of the agent. One without errors must keep what the keys promise. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recording_file.h"

#include "agent/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* In place of the one that looks for users and files: no input is to choose those. */
int config__look(struct config *c)
{
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = calloc(1, len + 1);
	struct config c;

	check(text);
	/* A NUL becomes 1 where the file is read. */
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(data[i] ? data[i] : 1);
	check(!config__parse(text, &c));
	if (!c.errors_cnt) {
		check(c.services_cnt && *c.ring == '/' && *c.status == '/');
		check(c.interval_ns >= 1000000000 && c.interval_ns <= 3600000000000);
		check(c.keep_s && c.size >= 1 << 20 && c.memory >= 1 << 20);
		check(c.overhead > 0 && c.overhead <= 100 && c.metrics.max);
		for (size_t i = 0; i < c.services_cnt; i++)
			check(c.services[i].overhead >= 0 && c.services[i].overhead <= 100 &&
			      *c.services[i].name && !strchr(c.services[i].name, '/'));
		for (size_t i = 0; i < c.receivers_cnt; i++)
			check(c.receivers[i].url && *c.receivers[i].name);
	}
	config__clear(&c);
	free(text);
	return 0;
}
