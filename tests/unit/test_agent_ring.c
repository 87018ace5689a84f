// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's ring: what goes, and how far receivers have come. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/ring.h"

#define NOW 1000000

static char root[64], web[80], db[80];
static struct ring_state ring;

static void put(const char *folder, unsigned int number, time_t written, size_t bytes)
{
	const struct timespec times[2] = {{written, 0}, {written, 0}};
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%010u-20260101T000000Z.data", folder, number);
	f = fopen(path, "w");
	assert_non_null(f);
	for (size_t i = 0; i < bytes; i++)
		fputc('x', f);
	futimens(fileno(f), times);
	fclose(f);
	utimensat(AT_FDCWD, path, times, 0);
}

static int there(const char *folder, unsigned int number)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%010u-20260101T000000Z.data", folder, number);
	return !access(path, F_OK);
}

static int begin(void **state)
{
	strcpy(root, "/tmp/proftrace-ring-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	snprintf(web, sizeof(web), "%s/web", root);
	snprintf(db, sizeof(db), "%s/db", root);
	ring = (struct ring_state){0};
	return mkdir(web, 0700) || mkdir(db, 0700);
}

static int end(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void bound_at(time_t set, time_t steady, uint64_t size, uint64_t keep_s)
{
	assert_int_equal(ring__bound(root, size, keep_s, (struct ring_time){set, steady}, &ring),
			 0);
}

static void bound(uint64_t size, uint64_t keep_s)
{
	bound_at(NOW, NOW, size, keep_s);
}

static void by_size(void **state)
{
	put(web, 1, NOW - 50, 100);
	put(db, 1, NOW - 40, 100);
	put(web, 2, NOW - 30, 100);
	put(db, 2, NOW - 20, 100);
	bound(400, 1000);
	assert_int_equal(ring.recordings, 4);
	bound(250, 1000);
	assert_true(!there(web, 1) && !there(db, 1) && there(web, 2) && there(db, 2));
	assert_true(ring.bytes == 200 && ring.recordings == 2 && ring.removed == 2);
	/* The last one of each stays, for its number. */
	bound(1, 1000);
	assert_int_equal(ring.recordings, 2);
}

static void by_age(void **state)
{
	put(web, 1, NOW - 101, 10);
	put(web, 2, NOW - 99, 10);
	put(web, 3, NOW + 1000, 10); /* the clock was set back since */
	put(web, 4, NOW, 10);
	bound(1000, 100);
	assert_true(!there(web, 1) && there(web, 2) && there(web, 3) && there(web, 4));
}

/* Recordings from before somebody set the clock are as old as they are, and so are later ones. */
static void clock_set_forward(void **state)
{
	put(web, 1, NOW - 101, 10);
	put(web, 2, NOW - 99, 10);
	put(web, 3, NOW + 50000 - 101, 10);
	put(web, 4, NOW + 50000 - 1, 10);
	put(web, 5, NOW + 50000, 10);
	bound_at(NOW + 50000, NOW, 1000, 100);
	assert_true(!there(web, 1) && there(web, 2) && !there(web, 3) && there(web, 4));
}

static void clock_set_back(void **state)
{
	put(web, 1, NOW - 101, 10);
	put(web, 2, NOW - 99, 10);
	put(web, 3, NOW - 50000 - 101, 10);
	put(web, 4, NOW - 50000 - 1, 10);
	put(web, 5, NOW - 50000, 10);
	bound_at(NOW - 50000, NOW, 1000, 100);
	assert_true(!there(web, 1) && there(web, 2) && !there(web, 3) && there(web, 4));
	/* The oldest one has the lowest time no more. */
	bound_at(NOW - 50000, NOW, 20, 1000);
	assert_true(!there(web, 2) && there(web, 4) && there(web, 5));
}

static void other_files_stay(void **state)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/.part-1", web);
	fclose(fopen(path, "w"));
	put(web, 1, 0, 10);
	put(web, 2, 0, 10);
	bound(0, 1);
	assert_int_equal(access(path, F_OK), 0);
	assert_true(!there(web, 1) && there(web, 2));
}

static void places(void **state)
{
	const struct ring_place mine = {7, 8, 5, 1, 3};
	struct ring_place p;

	assert_int_equal(ring__load_place(web, "main", &p), 0);
	assert_true(!p.number && !p.sent);
	assert_int_equal(ring__store_place(web, "main", &mine), 0);
	assert_int_equal(ring__load_place(web, "main", &p), 0);
	assert_memory_equal(&p, &mine, sizeof(p));
	assert_int_equal(ring__load_place(web, "other", &p), 0);
	assert_int_equal(p.number, 0);
	assert_true(ring__store_place("/nowhere", "main", &mine) < 0);
}

static uint64_t next(struct ring_place *p, uint64_t *waiting)
{
	char path[256] = "";
	uint64_t number = ring__next(web, p, path, sizeof(path), waiting);

	if (number)
		assert_int_equal(access(path, F_OK), 0);
	return number;
}

static void in_order(void **state)
{
	struct ring_place p = {0};
	uint64_t waiting;

	assert_int_equal(next(&p, &waiting), 0);
	put(web, 12, NOW, 1);
	put(web, 10, NOW, 1);
	put(web, 11, NOW, 1);
	/* Recordings from before the receiver was there are not missed. */
	assert_int_equal(next(&p, &waiting), 10);
	assert_true(waiting == 3 && !p.missed);
	p.number = 10;
	assert_int_equal(next(&p, &waiting), 11);
	assert_int_equal(waiting, 2);
	/* A recording waits until it is done with. */
	assert_int_equal(next(&p, &waiting), 11);
	/* Recordings that have gone meanwhile are missed, and counted once. */
	put(web, 16, NOW, 1);
	bound(1, 1000);
	assert_int_equal(next(&p, &waiting), 16);
	assert_int_equal(p.missed, 5);
	assert_int_equal(next(&p, &waiting), 16);
	assert_int_equal(p.missed, 5);
	p.number = 16;
	assert_int_equal(next(&p, &waiting), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_size, begin, end),
		cmocka_unit_test_setup_teardown(by_age, begin, end),
		cmocka_unit_test_setup_teardown(clock_set_forward, begin, end),
		cmocka_unit_test_setup_teardown(clock_set_back, begin, end),
		cmocka_unit_test_setup_teardown(other_files_stay, begin, end),
		cmocka_unit_test_setup_teardown(places, begin, end),
		cmocka_unit_test_setup_teardown(in_order, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
