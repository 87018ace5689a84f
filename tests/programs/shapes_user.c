// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shapes-linked [TIMES], shapes-dlopen [TIMES]: use libshapes.so from beside the program, which is
 * linked, or opened (before "ready").
 */
#include <dlfcn.h>
#include <limits.h>
#include "shapes.h"
#include "target.h"

#ifdef BY_DLOPEN
static void *library;

static void *open_beside(const char *program)
{
	char path[PATH_MAX];
	const char *slash = strrchr(program, '/');

	snprintf(path, sizeof(path), "%.*s/libshapes.so", (int)(slash ? slash - program : 0),
		 program);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	return library;
}
#define FUNCTION(name) ((__typeof__(&name))dlsym(library, #name))
#else
#define open_beside(program) (void)(program)
#define FUNCTION(name)	     name
#endif

static unsigned long draw_cnt;

TRACED long draw(long (*area)(long, long), long (*scale)(long, long), long n)
{
	draw_cnt++;
	return scale(area(n, n + 1), 3);
}

int main(int argc, char **argv)
{
	open_beside(argv[0]);
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);
	long sum = 0;

	for (unsigned long i = 0; i < times; i++)
		sum += draw(FUNCTION(shape_area), FUNCTION(shape_scale), i);
	printf("sum %ld\n", sum);
	target_count("draw", draw_cnt);
	target_count("shape_area", FUNCTION(shape_area_cnt)());
	target_count("shape_scale", FUNCTION(shape_scale_cnt)());
	target_count("shape_clamp", FUNCTION(shape_clamp_cnt)());
	return 0;
}
