// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * late: does what it is told by lines on stdin, and answers each with "done": "load" opens
 * libshapes.so from beside the program, "N" calls its shape_area N times, "unload" closes it. Ends
 * with stdin.
 */
#include <dlfcn.h>
#include <limits.h>
#include "shapes.h"
#include "target.h"

static unsigned long area_cnt;

TRACED void draw(__typeof__(&shape_area) area)
{
	area_cnt++;
	area(2, 3);
}

int main(int argc, char **argv)
{
	const char *slash = strrchr(argv[0], '/');
	char path[PATH_MAX], line[64];
	void *library = NULL;

	snprintf(path, sizeof(path), "%.*s/libshapes.so", (int)(slash ? slash - argv[0] : 0),
		 argv[0]);
	target_begin(&argc, &argv);
	while (target_read_line(line, sizeof(line))) {
		if (!strcmp(line, "load") && !(library = dlopen(path, RTLD_NOW))) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		if (!strcmp(line, "unload")) {
			dlclose(library);
			library = NULL;
		}
		for (long i = strtol(line, NULL, 0); i > 0 && library; i--)
			draw((__typeof__(&shape_area))dlsym(library, "shape_area"));
		target_say("done");
	}
	target_count("draw", area_cnt);
	return 0;
}
