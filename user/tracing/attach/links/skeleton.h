/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiled BPF programs, with what their generated header takes for granted. */
#ifndef PROFTRACE_ATTACH_LINKS_SKELETON_H
#define PROFTRACE_ATTACH_LINKS_SKELETON_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "wire.h"
#include "proftrace.skel.h"

struct fds;

/* Opens the programs of proftrace.bpf.c, or of basic.bpf.c, which are for kernels before 5.17
 * (bpf/kernel.bpf.h); both are loaded alike. Who calls proftrace_bpf__open() gets a copy of all of
 * them in the file. NULL with errno set. */
struct proftrace_bpf *skeleton__open(bool basic);

/* Opens the programs for a process that is to load them: libbpf gets the kernel's types that the
 * programs name, instead of all that the kernel has (btf/kernel_types.h). */
struct proftrace_bpf *skeleton__open_to_load(bool basic);

/* Writes the kernel's types that the programs of an object name to a file, as its
 * btf_custom_path. Returns 0 or -errno. */
int skeleton__write_types(const struct bpf_object *object, int file);

/* Closes and frees it. Accepts NULL. */
void skeleton__free(struct proftrace_bpf *skel);

/* Has one that is not loaded take the descriptors of the maps and programs that another process has
 * loaded, as loader__descriptors() gives them, and map the variables. Those that it takes are -1 in
 * *maps and *programs. Returns 0 or -errno. */
int skeleton__take(struct proftrace_bpf *skel, struct fds *maps, struct fds *programs);

/* A program's descriptor, once it has been loaded, here or elsewhere; negative: it has not. */
int skeleton__program(const struct proftrace_bpf *skel, const struct bpf_program *program);

/* Whether a map is one of bpf/own_stack.bpf.h: each program has its own, which nobody else may hold
 * open. */
bool skeleton__is_own_stack(const struct bpf_map *map);

/* The CPU time that the target has had, in ns, with its children that are traced, as the programs
 * at switches of threads measure it; 0 where they do not. Of programs whose variables are mapped.
 */
uint64_t skeleton__ran_ns(const struct proftrace_bpf *skel);

#endif
