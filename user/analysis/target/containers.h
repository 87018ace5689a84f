/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of containers. Inside target/ only. */
#ifndef PROFTRACE_TARGET_CONTAINERS_H
#define PROFTRACE_TARGET_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The id of the container with that name, by the files in which Docker, Podman and nerdctl keep
 * both; `root` stands before their paths (for tests, else ""). False: none of them knows it; it may
 * be an id itself, or one of an engine whose names are ids (LXC, containerd).
 */
bool containers__id(const char *root, const char *name, char *id, size_t size);

#endif
