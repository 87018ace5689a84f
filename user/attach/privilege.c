// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/privilege.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/log.h"

static const struct {
	const char *name;
	int bit;
} needed[] = {
	{"CAP_BPF", 39},	/* load programs */
	{"CAP_PERFMON", 38},	/* attach them to other users' code */
	{"CAP_SYS_PTRACE", 19}, /* read other users' /proc/PID/maps */
	{"CAP_SYS_ADMIN", 21},	/* open /proc/PID/map_files */
};

static uint64_t effective_capabilities(void)
{
	uint64_t caps = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return ~0ull; /* the kernel will say so itself */
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "CapEff: %" SCNx64, &caps) == 1)
			break;
	}
	fclose(f);
	return caps;
}

int privilege__check(void)
{
	uint64_t caps = effective_capabilities();
	char missing[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++) {
		if (!(caps >> needed[i].bit & 1))
			len += snprintf(missing + len, sizeof(missing) - len, "%s%s",
					len ? ", " : "", needed[i].name);
	}
	if (!len)
		return 0;
	log_error("not permitted: needs %s; run it with sudo", missing);
	return -EPERM;
}
