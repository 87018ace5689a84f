// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * dlloop [LOADS [TIMES]]: opens libshapes.so from beside the program, calls it TIMES times and
 * closes it, LOADS times in all. COUNT is of the program, LIBRARY of the library, all loads
 * together.
 */
#include <dlfcn.h>
#include <limits.h>
#include "shapes.h"
#include "target.h"

#define FUNCTION(name) ((__typeof__(&name))dlsym(library, #name))

static unsigned long draw_cnt, area_cnt, scale_cnt, clamp_cnt;

TRACED long draw(long (*area)(long, long), long (*scale)(long, long), long n)
{
	draw_cnt++;
	return scale(area(n, n + 1), 3);
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	const char *slash = strrchr(argv[0], '/');
	long sum = 0;

	snprintf(path, sizeof(path), "%.*s/libshapes.so", (int)(slash ? slash - argv[0] : 0),
		 argv[0]);
	target_begin(&argc, &argv);
	unsigned long loads = target_arg(argc, argv, 1, 20);
	unsigned long times = target_arg(argc, argv, 2, 10);

	for (unsigned long load = 0; load < loads; load++) {
		void *library = dlopen(path, RTLD_NOW);

		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		for (unsigned long i = 0; i < times; i++)
			sum += draw(FUNCTION(shape_area), FUNCTION(shape_scale), i);
		area_cnt += FUNCTION(shape_area_cnt)();
		scale_cnt += FUNCTION(shape_scale_cnt)();
		clamp_cnt += FUNCTION(shape_clamp_cnt)();
		dlclose(library);
	}
	printf("sum %ld\n", sum);
	target_count("draw", draw_cnt);
	printf("LIBRARY shape_area %lu\n", area_cnt);
	printf("LIBRARY shape_scale %lu\n", scale_cnt);
	printf("LIBRARY shape_clamp %lu\n", clamp_cnt);
	return 0;
}
