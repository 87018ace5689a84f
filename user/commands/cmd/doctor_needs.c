// SPDX-License-Identifier: GPL-2.0-or-later
#include "cmd/doctor_needs.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample/sampler.h"
#include "security/privilege.h"

#define SAMPLE_RATE 97

/* These return whether it is there; if not, they may say why. */

static bool has_types(struct feature *f)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (!access(path, R_OK))
		return true;
	snprintf(f->why, sizeof(f->why), "%s: %s", path, strerror(errno));
	return false;
}

static bool is_open(struct feature *f)
{
	FILE *file = fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	if (file && fgets(line, sizeof(line), file))
		snprintf(f->why, sizeof(f->why), "%.*s", (int)strcspn(line, "\n"), line);
	if (file)
		fclose(file);
	return !strstr(line, "[confidentiality]");
}

static bool has_clocks(struct feature *f)
{
	struct sampler *s = NULL;
	int err = sampler__new(SAMPLE_RATE, &s);

	sampler__free(s);
	snprintf(f->why, sizeof(f->why), "perf events: %s", strerror(-err));
	return !err;
}

/* Whether addresses in kallsyms are shown: hidden ones are 0. */
static bool has_names(struct feature *f)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address = 0;

	for (int line = 0; file && line < 100 && !address; line++) {
		if (fscanf(file, "%" SCNx64 "%*[^\n]", &address) != 1)
			break;
	}
	if (file)
		fclose(file);
	return address;
}

/* Loads one of these libraries, NULL-terminated, in a process without privileges: they bring
 * others along, which proftrace does without until it needs them. */
static bool loads(const char *const *names)
{
	int status = -1;
	pid_t child = fork();

	if (!child) {
		privilege__drop_all();
		for (; *names; names++) {
			if (dlopen(*names, RTLD_LAZY | RTLD_LOCAL))
				_exit(0);
		}
		_exit(1);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

static bool has_debuginfod(struct feature *f)
{
	static const char *const names[] = {"libdebuginfod.so.1", NULL};
	const char *servers = getenv("DEBUGINFOD_URLS");

	if (!loads(names))
		snprintf(f->why, sizeof(f->why), "no %s", names[0]);
	else if (!servers || !*servers)
		snprintf(f->why, sizeof(f->why), "DEBUGINFOD_URLS is not set");
	return !*f->why;
}

static bool has_curl(struct feature *f)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
	bool there = loads(names);

	if (!there)
		snprintf(f->why, sizeof(f->why), "no %s", names[0]);
	return there;
}

static bool has_microhttpd(struct feature *f)
{
	static const char *const names[] = {"libmicrohttpd.so.12", NULL};
	bool there = loads(names);

	if (!there)
		snprintf(f->why, sizeof(f->why), "no %s", names[0]);
	return there;
}

static const struct {
	const char *name;
	bool (*look)(struct feature *f);
	const char *without, *advice;
} needs[DOCTOR_NEEDS] = {
	{"types of the kernel", has_types, "nothing can be traced",
	 "boot a kernel with CONFIG_DEBUG_INFO_BTF=y; in a chroot or container, mount /sys"},
	{"no lockdown", is_open, "the kernel lets nobody trace",
	 "boot without lockdown=confidentiality"},
	{"clocks for samples", has_clocks,
	 "no CPU time of code without probes, of libraries and of the kernel",
	 "in a container, allow perf_event_open (seccomp profile); else run as root"},
	{"names of the kernel", has_names, "its functions go by system calls, as [read]",
	 "sysctl kernel.kptr_restrict=1, and run as root"},
	{"debug symbols by network", has_debuginfod,
	 "functions of stripped files go by their addresses",
	 "install libdebuginfod (Debian: libdebuginfod1), and set DEBUGINFOD_URLS"},
	{"receivers", has_curl, "recordings are sent nowhere",
	 "install libcurl (Debian: libcurl4)"},
	{"browsers", has_microhttpd, "--serve shows no page",
	 "install libmicrohttpd (Debian: libmicrohttpd12)"},
};

void doctor_needs__examine(struct feature found[DOCTOR_NEEDS])
{
	for (int i = 0; i < DOCTOR_NEEDS; i++) {
		struct feature *f = &found[i];

		*f = (struct feature){.name = needs[i].name,
				      .without = needs[i].without,
				      .advice = needs[i].advice};
		f->works = needs[i].look(f);
		if (f->works)
			*f->why = '\0';
	}
}
