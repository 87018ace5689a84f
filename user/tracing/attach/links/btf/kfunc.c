// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of the kernel's functions, by their numbers in its BTF. libbpf could do it, for functions
 * that are declared in the program; but it refuses a declaration that differs from the kernel's,
 * and looks for what the kernel lacks in the BTF of all modules, which takes privileges.
 */
#include "attach/links/btf/kfunc.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "attach/links/btf/btf_view.h"
#include "attach/links/btf/kernel_btf.h"

/* Whether it is a pointer, for the first argument, or a number. */
static bool fits(const struct btf_view *kernel, const struct btf_type *function, size_t argument)
{
	uint32_t id = btf_params(function)[argument].type;
	const struct btf_type *type = btf_view__plain_type(kernel, &id);

	return type && (argument ? btf_is_int(type) : btf_is_ptr(type));
}

int kfunc__find(const struct btf_view *kernel, const char *name, size_t most)
{
	int id = btf_view__find(kernel, name, BTF_KIND_FUNC);
	const struct btf_type *type = id > 0 ? btf_view__type(kernel, id) : NULL;

	if (!type)
		return -ENOENT;
	type = btf_view__type(kernel, type->type);
	if (!type || !btf_is_func_proto(type) || btf_vlen(type) > most)
		return -EPROTO;
	for (size_t i = 0; i < btf_vlen(type); i++) {
		if (!fits(kernel, type, i))
			return -EPROTO;
	}
	type = btf_view__type(kernel, type->type);
	return type && btf_is_ptr(type) ? id : -EPROTO;
}

int kfunc__call(struct bpf_program *prog, int placeholder, const char *name, size_t most)
{
	size_t cnt = bpf_program__insn_cnt(prog), calls = 0;
	const struct btf_view *kernel = kernel_btf();
	int id = kernel ? kfunc__find(kernel, name, most) : -ENOENT, err;
	struct bpf_insn *insns;

	if (id < 0)
		return id;
	insns = calloc(cnt, sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), cnt * sizeof(*insns));
	for (size_t i = 0; i < cnt; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
		    insns[i].imm != placeholder)
			continue;
		insns[i].src_reg = BPF_PSEUDO_KFUNC_CALL;
		insns[i].imm = id;
		calls++;
	}
	err = calls ? bpf_program__set_insns(prog, insns, cnt) : -EINVAL;
	free(insns);
	return err;
}
