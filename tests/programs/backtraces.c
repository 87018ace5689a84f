// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * backtraces [TIMES]: functions that ask who called them: by backtrace(), which loads the unwinder
 * when it is first used, by the chain of frame pointers (-fno-omit-frame-pointer), and by their
 * return address. Built with -rdynamic, so that it finds names. Prints what they saw, each new
 * sight once. BY_NAME: dlsym() finds backtrace().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include "target.h"

static unsigned long outer_cnt, middle_cnt, unwinds_cnt, walks_cnt, asks_cnt;
extern char __executable_start[], etext[];

static const char *name_of(void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_sname ? info.dli_sname : "?";
}

static void append(char *text, size_t size, const char *name)
{
	snprintf(text + strlen(text), size - strlen(text), " %s", name);
}

/* Called, and not counted: it belongs to the test. */
static void say_once(const char *what, const char *text)
{
	static char said[8][512];
	char line[512];

	snprintf(line, sizeof(line), "%s%s", what, text);
	for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		if (!strcmp(said[i], line))
			return;
		if (!said[i][0]) {
			strcpy(said[i], line);
			puts(line);
			return;
		}
	}
}

static int list_callers(void **frames, int cnt)
{
#ifdef BY_NAME
	int (*list)(void **, int) =
		(int (*)(void **, int))dlsym(dlopen("libc.so.6", RTLD_NOW), "backtrace");

	return list(frames, cnt);
#else
	return backtrace(frames, cnt);
#endif
}

TRACED void unwinds(void)
{
	void *frames[64];
	char text[400] = "";
	int cnt = list_callers(frames, 64);

	unwinds_cnt++;
	for (int i = 0; i < cnt; i++) {
		if ((char *)frames[i] >= __executable_start && (char *)frames[i] < etext)
			append(text, sizeof(text), name_of(frames[i]));
	}
	say_once("backtrace:", text);
}

TRACED void walks(void)
{
	void **frame = __builtin_frame_address(0);
	char text[400] = "";

	walks_cnt++;
	for (int i = 0; i < 3; i++, frame = *frame)
		append(text, sizeof(text), name_of(frame[1]));
	say_once("frame pointers:", text);
}

TRACED void asks(void)
{
	char text[400] = "";

	asks_cnt++;
	append(text, sizeof(text), name_of(__builtin_return_address(0)));
	say_once("return address:", text);
}

TRACED void middle(void)
{
	middle_cnt++;
	unwinds();
	walks();
	asks();
}

TRACED void outer(void)
{
	outer_cnt++;
	middle();
	asks();
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 10);

	for (unsigned long i = 0; i < times; i++)
		outer();
	target_count("outer", outer_cnt);
	target_count("middle", middle_cnt);
	target_count("unwinds", unwinds_cnt);
	target_count("walks", walks_cnt);
	target_count("asks", asks_cnt);
	return 0;
}
