// SPDX-License-Identifier: GPL-2.0-or-later
#include "security/namespaces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"

#define INITIAL_USER_NAMESPACE 0xeffffffdu /* PROC_USER_INIT_INO in the kernel's proc_ns.h */

/* Whether we have one number there, thus none in a namespace between that of /proc and ours. */
static bool has_one_number(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[512];
	bool one = f;

	while (one && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "NSpid:", 6))
			one = strrchr(line, '\t') == line + 6;
	}
	if (f)
		fclose(f);
	return one;
}

static bool proc_is_ours(void)
{
	char number[16] = "";

	return readlink("/proc/self", number, sizeof(number) - 1) > 0 && atoi(number) == getpid() &&
	       has_one_number();
}

static int check_proc(void)
{
	if (proc_is_ours())
		return 0;
	log_error("/proc is not there, or has the process numbers of another PID namespace; "
		  "`mount -t proc proc /proc` in a mount namespace of its own makes it ours");
	return -ENOTSUP;
}

int namespaces__check(void)
{
	struct stat st;

	if (!stat("/proc/self/ns/user", &st) && st.st_ino != INITIAL_USER_NAMESPACE) {
		log_error("this is a user namespace (a container without root?), in which even "
			  "root has no right to trace; run proftrace as root outside of it");
		return -EPERM;
	}
	return check_proc();
}
