/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that target programs share. Each program counts its own calls and prints them last, one line
 * a function: "COUNT name N", or "COUNT one|other N" if it has two names. With --wait as first
 * argument the program says "ready" before its work and waits for a line on stdin, so that a test
 * can attach in between. With --hold it waits once more, at its end, after it has said "held": a
 * profiler can leave, and the program's memory can be looked at.
 */
#ifndef TARGET_H
#define TARGET_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A function that stays one: not inlined, not cloned, not merged, nothing about it assumed. */
#define TRACED __attribute__((noipa))

/* Unbuffered, so that a program can go on reading stdin in its own way. Returns 0 at its end. */
static inline int target_read_line(char *line, size_t size)
{
	size_t len = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n') {
			line[len] = 0;
			return 1;
		}
		if (len + 1 < size)
			line[len++] = c;
	}
	return 0;
}

static inline void target_say(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
}

static int target_holds;

/* At exit; to be called by programs that end in another way. */
static inline void target_end(void)
{
	char line[64];

	if (!target_holds)
		return;
	target_say("held");
	target_read_line(line, sizeof(line));
}

static inline void target_begin(int *argc, char ***argv)
{
	char line[64];

	target_holds = *argc > 1 && !strcmp((*argv)[1], "--hold");
	if (!target_holds && (*argc < 2 || strcmp((*argv)[1], "--wait")))
		return;
	if (target_holds)
		atexit(target_end);
	(*argv)[1] = (*argv)[0];
	++*argv;
	--*argc;
	target_say("ready");
	target_read_line(line, sizeof(line));
}

/* The numeric argument at `index`, or what it is by default. */
static inline unsigned long target_arg(int argc, char **argv, int index, unsigned long otherwise)
{
	return index < argc ? strtoul(argv[index], NULL, 0) : otherwise;
}

/* The time, in ns of CLOCK_MONOTONIC. */
static inline unsigned long target_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ul + now.tv_nsec;
}

/* The CPU time that the calling thread has had, in ns. */
static inline __attribute__((always_inline)) unsigned long target_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ul + now.tv_nsec;
}

static inline void target_count(const char *name, unsigned long count)
{
	printf("COUNT %s %lu\n", name, count);
}

#endif
