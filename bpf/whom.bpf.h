/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a process that begins a program belongs to the target, by its name, group and user. */
#ifndef PROFTRACE_WHOM_BPF_H
#define PROFTRACE_WHOM_BPF_H

#include "kernel.bpf.h"

const volatile bool has_whom = false; /* others may belong: else the verifier leaves it out */
struct wire_whom whom = {};

#define GROUP_DEPTH 16

enum belongs { BELONGS_NOT, BELONGS_PERHAPS, BELONGS };

struct program_name {
	u64 words[WIRE_WHOM_NAME / 8];
};

static __always_inline bool same_name(const struct wire_whom_name *wanted,
				      const struct program_name *name)
{
	return !((name->words[0] ^ wanted->words[0]) & wanted->masks[0]) &&
	       !((name->words[1] ^ wanted->words[1]) & wanted->masks[1]);
}

/* By what the program was started as, and what its file is called. */
static __always_inline bool name_belongs(const struct program_name *comm,
					 const struct task_struct *task)
{
	struct program_name file = {};
	const unsigned char *base = BPF_CORE_READ(task, mm, exe_file, f_path.dentry, d_name.name);

	bpf_probe_read_kernel_str(&file, sizeof(file), base);
	for (u32 i = 0; i < WIRE_WHOM_NAMES && i < whom.names_cnt; i++) {
		if (same_name(&whom.names[i], comm) || same_name(&whom.names[i], &file))
			return true;
	}
	return false;
}

/* In one of the groups, or below. */
static __always_inline bool group_belongs(const struct task_struct *task)
{
	const struct cgroup *group = BPF_CORE_READ(task, cgroups, dfl_cgrp);

	for (u32 up = 0; up < GROUP_DEPTH && group; up++) {
		u64 id = BPF_CORE_READ(group, kn, id);

		for (u32 i = 0; i < WIRE_WHOM_GROUPS && i < whom.groups_cnt; i++) {
			if (whom.groups[i] == id)
				return true;
		}
		/* Its part in the hierarchy is what a group begins with. */
		group = (const struct cgroup *)BPF_CORE_READ(group, self.parent);
	}
	return false;
}

/* Of the current process, which begins a program. */
static __noinline u32 program_belongs(void)
{
	const struct task_struct *task = current_task();
	struct program_name comm = {};

	if (!has_whom || !whom.open)
		return BELONGS_NOT;
	if (whom.by_user && BPF_CORE_READ(task, cred, euid.val) != whom.uid)
		return BELONGS_NOT;
	bpf_get_current_comm(&comm, sizeof(comm));
	if (same_name(&whom.own, &comm))
		return BELONGS_NOT;
	if (whom.names_cnt && !name_belongs(&comm, task))
		return BELONGS_NOT;
	if (whom.groups_cnt && !group_belongs(task))
		return BELONGS_NOT;
	return whom.certain ? BELONGS : BELONGS_PERHAPS;
}

#endif
