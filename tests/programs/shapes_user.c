// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * shapes-linked [TIMES], shapes-dlopen [TIMES]: use libshapes.so from beside the program, which is
 * linked, or opened (before "ready"). shapes-foreign opens it, too, after it has mapped code of a
 * file that is no ELF file, below all others, as sbcl maps its core.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <sys/mman.h>

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

#ifdef FOREIGN
static void map_foreign(void)
{
	static const char code[4096] = {(char)0xc3}; /* ret */
	int fd = memfd_create("foreign", MFD_CLOEXEC);
	void *at;

	if (fd < 0 || write(fd, code, sizeof(code)) != sizeof(code))
		exit(1);
	at = mmap((void *)0x10000000, sizeof(code), PROT_READ | PROT_EXEC,
		  MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd, 0);
	if (at == MAP_FAILED)
		exit(1);
	close(fd);
	((void (*)(void))at)();
}
#else
static void map_foreign(void)
{
}
#endif

static unsigned long draw_cnt;

TRACED long draw(long (*area)(long, long), long (*scale)(long, long), long n)
{
	draw_cnt++;
	return scale(area(n, n + 1), 3);
}

int main(int argc, char **argv)
{
	map_foreign();
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
