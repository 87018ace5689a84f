// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Four known faults of the kernel (the first three on x86-64):
 *
 * Since 6.11 a return probe's trampoline makes a system call, uretprobe. Until 6.12.14, 6.13.3 and
 * 6.14 it was subject to the process's seccomp filter, which does not know it and kills
 * (CVE-2025-21834; mended by cf6cb56ef244 "seccomp: passthrough uretprobe systemcall without
 * filtering"). That holds for every process there, because any may put itself under a filter at any
 * time, by a system call that no symbol tells of, and calls under way then still return through the
 * trampoline.
 *
 * Before 6.11 a return probe did not change the shadow stack along with the stack, so that the
 * return faulted (mended by 1713b63a07a2 "x86/shstk: Make return uretprobe work with shadow
 * stack"). Processes get shadow stacks from the dynamic linker, while it starts, and keep them.
 *
 * Before 2026 the shadow stack did not get the return address of a call instruction that is probed:
 * none where the kernel emulates the call, a wrong one where it single-steps a copy. So the
 * callee's return faulted. As it is not known which kernels have that mended, calls are left alone
 * under shadow stacks on all of them; other instructions do as well.
 *
 * Since 6.14, where two consumers of one uprobe want a return, and see its entry as well, the
 * kernel keeps a list of them with the record of that return, and the thread's next return probe
 * takes the record, list and all. If that one has one such consumer or none and the thread forks
 * before it returns, parent and child share the list, and both free it: the machine dies. Such
 * consumers are session links and return probes of trace events (perf's, older bpftrace's);
 * uprobe_multi links on returns alone are none, but may take such a record. No kernel is known that
 * has it mended. planner/return_crash.c and bpf/return_lists.bpf.h keep proftrace from it.
 *
 * Other entry probes have no such faults: the call that a nop becomes since 6.18 came with an
 * exception from seccomp and with its care for shadow stacks.
 */
#include "target/hazard.h"

#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "target/target_data.h"

#define VERSION(major, minor, patch) ((major) << 24 | (minor) << 12 | (patch))
/* Far more than /proc has to say of a process or of the first processor. */
#define MAX_TEXT (64u << 10)

static unsigned int version_of(const char *release)
{
	unsigned int major = 0, minor = 0, patch = 0;

	/* "6.12.13-amd64", "6.11.0-26-generic", "6.13-rc1" */
	if (!release || sscanf(release, "%3u.%3u.%3u", &major, &minor, &patch) < 2)
		return UINT32_MAX;
	return VERSION(major, minor, patch);
}

static bool filters_kill(unsigned int version)
{
	return (version >= VERSION(6, 11, 0) && version < VERSION(6, 12, 14)) ||
	       (version >= VERSION(6, 13, 0) && version < VERSION(6, 13, 3));
}

/* Whether the line that begins with `key` has this word. */
static bool line_has(const char *text, const char *key, const char *word)
{
	const size_t key_len = strlen(key), len = strlen(word);
	const char *end, *at;

	while (text && strncmp(text, key, key_len) != 0) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return false;
	end = text + strcspn(text, "\n");
	for (at = strstr(text, word); at && at < end; at = strstr(at + 1, word)) {
		if (strchr(" \t", at[-1]) && strchr(" \t\n", at[len]))
			return true; /* strchr() finds the end of the text, too */
	}
	return false;
}

bool hazard__shadow_stacks(const struct hazard_view *view)
{
	return view->status ? line_has(view->status, "x86_Thread_features:", "shstk")
			    : line_has(view->cpuinfo, "flags", "user_shstk");
}

const char *hazard__of(const struct hazard_view *view)
{
	unsigned int version = version_of(view->release);

	if (filters_kill(version))
		return "this kernel's return probes kill processes under seccomp";
	if (version >= VERSION(6, 11, 0))
		return NULL;
	return hazard__shadow_stacks(view)
		       ? "this kernel's return probes kill processes with shadow stacks"
		       : NULL;
}

bool hazard__lists_returns(const char *release)
{
	return version_of(release) >= VERSION(6, 14, 0);
}

bool hazard__skips_programs(const char *release)
{
	return version_of(release) >= VERSION(7, 0, 0);
}

/* The beginning of a file in /proc, or NULL. */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(MAX_TEXT) : NULL;

	if (text)
		text[fread(text, 1, MAX_TEXT - 1, f)] = '\0';
	if (f)
		fclose(f);
	return text;
}

/* The status of a command still held tells nothing: its dynamic linker has not come that far. */
static void look_at_process(struct hazard_view *view, struct target *t, size_t i)
{
	char path[64], *status;

	snprintf(path, sizeof(path), "/proc/%d/status", t->processes[i].pid);
	status = t->launch ? NULL : read_text(path);
	view->status = status;
	if (!t->hazard)
		t->hazard = hazard__of(view);
	t->shadow_stacks |= hazard__shadow_stacks(view);
	free(status);
	view->status = NULL;
}

void hazard__look(struct target *t)
{
	struct hazard_view view = {0};
	struct utsname kernel;
	char *cpuinfo;

	if (uname(&kernel))
		return;
	t->lists_returns = hazard__lists_returns(kernel.release);
	t->skips_programs = hazard__skips_programs(kernel.release);
	cpuinfo = read_text("/proc/cpuinfo");
	view.release = kernel.release;
	view.cpuinfo = cpuinfo;
	t->shadow_stacks_possible = hazard__shadow_stacks(&view);
	if (!t->processes_cnt) {
		t->hazard = hazard__of(&view);
		t->shadow_stacks = t->shadow_stacks_possible;
	}
	for (size_t i = 0; i < t->processes_cnt; i++)
		look_at_process(&view, t, i);
	free(cpuinfo);
}
