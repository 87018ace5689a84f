// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plugin_host [TIMES]: a C program, in which nothing can throw, until it opens libplugin.so (of
 * C++) from beside it: that one throws through the frames of `pass`.
 */
#include <dlfcn.h>
#include <limits.h>
#include "target.h"

static unsigned long pass_cnt, around_cnt;

TRACED void pass(void (*then)(int), int n)
{
	pass_cnt++;
	if (n % 4)
		pass(then, n - 1);
	else
		then(n);
}

TRACED int around(int (*run)(void (*)(void (*)(int), int), int), int n)
{
	around_cnt++;
	return run(pass, n);
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	const char *slash = strrchr(argv[0], '/');
	int (*run)(void (*)(void (*)(int), int), int);
	long sum = 0;
	void *library;

	snprintf(path, sizeof(path), "%.*s/libplugin.so", (int)(slash ? slash - argv[0] : 0),
		 argv[0]);
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 20);

	library = dlopen(path, RTLD_NOW);
	run = library ? (__typeof__(run))dlsym(library, "plugin_run") : NULL;
	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (unsigned long i = 0; i < times; i++)
		sum += around(run, i);
	printf("sum %ld\n", sum);
	target_count("around", around_cnt);
	target_count("pass", pass_cnt);
	return 0;
}
