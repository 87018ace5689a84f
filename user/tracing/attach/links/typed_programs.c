// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel wants the number of the type that a program's arguments have. libbpf would look for it
 * in a copy of the kernel's BTF of its own: 5 MB that are read in pieces of 4 KB, and copied, 45 ms
 * of CPU time in a virtual machine. So it is told that the programs are for another program, for
 * which it leaves that to us.
 */
#include "attach/links/typed_programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attach/links/btf/btf_view.h"
#include "attach/links/btf/kernel_btf.h"

#define OTHER_PROGRAM 1 /* a descriptor; libbpf does not look at it before it loads the program */

static int attach(const struct bpf_program *program, long cookie, struct bpf_link **link)
{
	*link = bpf_program__attach_trace(program);
	return *link ? 0 : -errno;
}

/* The kinds, by the cookies of their handlers. */
static const struct kind {
	const char *section; /* up to the name */
	const char *type;    /* likewise */
	uint32_t btf_kind;   /* of the type */
	enum bpf_attach_type attach_type;
	libbpf_prog_attach_fn_t attach; /* NULL: nothing is attached by libbpf */
} kinds[] = {
	{"tp_btf", "btf_trace_", BTF_KIND_TYPEDEF, BPF_TRACE_RAW_TP, attach},
	{"iter.s", "bpf_iter_", BTF_KIND_FUNC, BPF_TRACE_ITER, NULL},
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static int put_off_target(struct bpf_program *program, long cookie)
{
	return bpf_program__set_attach_target(program, OTHER_PROGRAM, NULL);
}

static int set_target(struct bpf_program *program, struct bpf_prog_load_opts *opts, long cookie)
{
	const struct btf_view *kernel = kernel_btf();
	const struct kind *kind = &kinds[cookie];
	char type[64];

	snprintf(type, sizeof(type), "%s%s", kind->type,
		 bpf_program__section_name(program) + strlen(kind->section) + 1);
	opts->attach_prog_fd = 0;
	opts->attach_btf_id = kernel ? btf_view__find(kernel, type, kind->btf_kind) : -ENOENT;
	return (int)opts->attach_btf_id < 0 ? (int)opts->attach_btf_id : 0;
}

int typed_programs__handle(void)
{
	static int handlers[KINDS];

	for (size_t i = 0; i < KINDS; i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = i,
			    .prog_setup_fn = put_off_target, .prog_prepare_load_fn = set_target,
			    .prog_attach_fn = kinds[i].attach);
		char sections[16];

		snprintf(sections, sizeof(sections), "%s+", kinds[i].section);
		if (!handlers[i])
			handlers[i] = libbpf_register_prog_handler(sections, BPF_PROG_TYPE_TRACING,
								   kinds[i].attach_type, &opts);
		if (handlers[i] < 0)
			return handlers[i];
	}
	return 0;
}
