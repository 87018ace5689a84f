// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions by functions that only mark a place, and those of a library that is opened beside the
 * program. Argument: rounds.
 */
#include "target.h"

#include <dlfcn.h>
#include <limits.h>

static unsigned long marked;

TRACED void proftrace_begin_marked(void)
{
}

TRACED void proftrace_end_marked(void)
{
}

TRACED unsigned long work(unsigned long (*step)(void))
{
	unsigned long steps;

	proftrace_begin_marked();
	marked++;
	steps = step();
	proftrace_end_marked();
	return steps;
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	unsigned long rounds, steps = 0;
	unsigned long (*step)(void);
	char path[PATH_MAX];
	void *library;

	snprintf(path, sizeof(path), "%.*s/libregions.so", (int)(slash ? slash - argv[0] : 0),
		 argv[0]);
	target_begin(&argc, &argv);
	rounds = target_arg(argc, argv, 1, 10);
	library = dlopen(path, RTLD_NOW);
	step = library ? (__typeof__(step))dlsym(library, "plugin_step") : NULL;
	if (!step) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	for (unsigned long i = 0; i < rounds; i++)
		steps = work(step);
	target_count("marked", marked);
	target_count("plugged", steps);
	printf("UNWOUND in all 0\n");
	return 0;
}
