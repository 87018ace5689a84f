/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attach backends: the ways a kernel offers to put probes in, best first. A new backend is one row
 * in the table in backend.c.
 */
#ifndef PROFTRACE_ATTACH_LINKS_BACKEND_H
#define PROFTRACE_ATTACH_LINKS_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

struct proftrace_bpf;

/* One probe kind that a group of functions needs, as link parameters. */
struct backend_probe {
	int prog_fd;
	int attach_type;
	int return_probes;
};

#define BACKEND_MAX_PROBES 2

struct backend {
	const char *name;
	const char *needs; /* the kernel it came with, for messages */
	const char *sign;  /* the member of enum bpf_attach_type that came with it; NULL: none */
	/* Picks the programs to load, before load. Returns 0, or -errno: the kernel lacks what
	 * they need. */
	int (*prepare)(struct proftrace_bpf *skel);
	/* The probes that see entry and return of functions whose exit strategy is `return`;
	 * returns how many. */
	size_t (*returns)(const struct proftrace_bpf *skel,
			  struct backend_probe probes[BACKEND_MAX_PROBES]);
	/* The probe for entries alone. */
	struct backend_probe (*entry)(const struct proftrace_bpf *skel);
	/* The probe for exit sites; `ret`: for `ret`s, if programs may write registers. */
	struct backend_probe (*exit_site)(const struct proftrace_bpf *skel, bool ret);
	/* The probe for sites of lines. */
	struct backend_probe (*line)(const struct proftrace_bpf *skel);
	/* The probe for a hook of this kind (enum hook_kind). */
	struct backend_probe (*hook)(const struct proftrace_bpf *skel, int kind);
	/* The probe that only counts calls; NULL: putting probes in twice would take too long. */
	struct backend_probe (*survey)(const struct proftrace_bpf *skel);
	/* The probe that keeps the cookie of a hit of our own; NULL: there is no doubt of cookies.
	 */
	struct backend_probe (*cookie)(const struct proftrace_bpf *skel, bool returns);
	/* A program can decline to see the return of a call that it sees begin. */
	bool declines_returns;
	/* Its programs are those for kernels that have fewer helpers: what a run lacks for that, in
	 * a line. NULL: they are the others. */
	const char *lacks;
};

/* The backends, best first; NULL past the end. */
const struct backend *backend__at(size_t index);

/* Whether the running kernel's BTF knows the backend; true if there is no telling. */
bool backend__in_kernel(const struct backend *backend);

#endif
