/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's configuration as data. */
#ifndef PROFTRACE_AGENT_CONFIG_DATA_H
#define PROFTRACE_AGENT_CONFIG_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/net_address.h"

/* An error in a line; 0: in the file as a whole. */
struct config_error {
	unsigned int line;
	char *text; /* what, and what to write instead */
};

/* Whom to record, and how: options of record, as "-p", "nginx". */
struct config_service {
	char *name;
	unsigned int line;
	char **words;
	size_t words_cnt;
	double overhead; /* percent; 0: no budget */
	char *version;	 /* NULL: not given */
};

struct config_receiver {
	char *name;
	unsigned int line;
	char *url;
	char *services; /* names with commas between; NULL: all */
	char *secret_file, *ca_file;
};

/* Texts, of a key that may be given several times. */
struct config_texts {
	char **items;
	size_t cnt;
};

/* Settings for the figures that are served to Prometheus. */
struct config_metrics {
	unsigned int line; /* 0: nothing */
	struct net_address address;
	struct config_texts functions, sessions; /* globs */
	uint32_t max;				 /* of both, that have series */
};

struct config_key;

/* A key that is given, with its value as written. */
struct config_given {
	const struct config_key *key;
	unsigned int section_line, line;
	char *value;
};

struct config {
	char *ring, *status;
	uint64_t interval_ns, keep_s, size, memory;
	double overhead; /* of the machine, percent */
	int lock;	 /* the descriptor that says that we are the only agent */
	struct config_service *services;
	size_t services_cnt;
	struct config_receiver *receivers;
	size_t receivers_cnt;
	struct config_metrics metrics;
	unsigned int agent_line;    /* of [agent]; 0: there is none */
	struct config_given *given; /* by line */
	size_t given_cnt, given_cap;
	struct config_error *errors; /* by line */
	size_t errors_cnt;
	bool no_memory; /* for an error */
};

#endif
