/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds a call path by its last step: (path of the caller, function) -> node. Open addressing. */
#ifndef PROFTRACE_CALLS_PATH_MAP_H
#define PROFTRACE_CALLS_PATH_MAP_H

#include <stddef.h>
#include <stdint.h>

struct path_step {
	uint32_t parent; /* node, or 0: an outermost call */
	uint32_t thread; /* of an outermost call; 0 below one, where the parent tells it */
	uint32_t function;
};

struct path_slot {
	struct path_step step;
	uint32_t node; /* 0: the slot is free */
};

struct path_map {
	struct path_slot *slots;
	size_t mask;
};

/* Makes room for `cnt` paths; the map does not grow. Returns 0 or -ENOMEM. */
int path_map__init(struct path_map *m, size_t cnt);
void path_map__fini(struct path_map *m);

/* The node of a step, to be read or, if it is 0, to be set by the caller. */
uint32_t *path_map__at(struct path_map *m, struct path_step step);

static inline struct path_step path_step(uint32_t parent, uint32_t thread, uint32_t function)
{
	return (struct path_step){parent, parent ? 0 : thread, function};
}

#endif
