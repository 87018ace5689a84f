// SPDX-License-Identifier: GPL-2.0-or-later
/* The live view, without a terminal and without a run. */
#include "fixture.h"

#include "calls/distribution.h"
#include "top/canvas.h"
#include "top/history.h"
#include "top/rows.h"
#include "top/top.h"
#include "views/delta.h"

#define MS 1000000ull

static void close_to(double a, double b)
{
	assert_true(a > b - 1e-6 && a < b + 1e-6);
}

/* main (1 call, 10 ms of its own) calls hot (1,000 calls, 60 ms) and idle (waits 500 ms); hot calls
 * itself. In one second. */
static struct profile *server(void)
{
	struct profile *p = fixture_new();
	uint32_t n, hot, t = fixture_thread(p, 7, 8, "server");

	fixture_function(p, "main");
	fixture_function(p, "hot");
	fixture_function(p, "idle");
	n = fixture_node(p, t, 0, 0, 1, 590 * MS, 10 * MS);
	hot = fixture_node(p, t, n, 1, 900, 80 * MS, 50 * MS);
	fixture_node(p, t, hot, 1, 100, 30 * MS, 30 * MS);
	n = fixture_node(p, t, n, 2, 5, 500 * MS, 500 * MS);
	p->nodes[n].stats.off_ns = p->nodes[n].stats.off_self_ns = 500 * MS;
	p->nodes[1].stats.off_ns = 500 * MS;
	fixture_bucket(p, 1, bucket__of(100000), 1000);
	p->duration_ns = 1000 * MS;
	fixture_finish(p);
	return p;
}

static void test_functions(void **state)
{
	struct profile *p = server();
	struct top_rows r = {0};

	assert_int_equal(top_rows__functions(&r, p, NULL), 0);
	top_rows__sort(&r, SORT_SELF);
	assert_int_equal(r.cnt, 3);
	assert_string_equal(r.items[0].name, "hot");
	close_to(r.items[0].self, 80.0 / 90);
	close_to(r.items[0].total, 80.0 / 90);
	close_to(r.items[0].calls, 1000);
	assert_true(r.items[0].avg_ns > 98000 && r.items[0].avg_ns < 107000);
	assert_string_equal(r.items[1].name, "main");
	close_to(r.items[1].total, 1);
	close_to(r.items[2].wait, 500 * MS);
	top_rows__sort(&r, SORT_WAIT);
	assert_string_equal(r.items[0].name, "idle");
	top_rows__sort(&r, SORT_NAME);
	assert_string_equal(r.items[2].name, "main");
	top_rows__clear(&r);

	assert_int_equal(top_rows__functions(&r, p, "HO"), 0);
	assert_int_equal(r.cnt, 1);
	top_rows__clear(&r);
	profile__free(p);
}

static void test_threads(void **state)
{
	struct profile *p = server();
	struct top_rows r = {0};

	assert_int_equal(top_rows__threads(&r, p, NULL), 0);
	assert_int_equal(r.cnt, 1);
	assert_string_equal(r.items[0].name, "server 7/8");
	close_to(r.items[0].self, 1);
	close_to(r.items[0].calls, 1006);
	close_to(r.items[0].wait, 500 * MS);
	top_rows__clear(&r);
	profile__free(p);
}

/* Functions that only samples know have no calls; those that bursts know have estimated ones. */
static void test_estimates(void **state)
{
	struct profile *p = fixture_new();
	uint32_t t = fixture_thread(p, 1, 1, "x"), n;
	struct top_rows r = {0};

	p->sample_period_ns = 10 * MS;
	fixture_function(p, "sampled");
	fixture_function(p, "burst");
	n = fixture_node(p, t, 0, 0, 0, 70 * MS, 70 * MS);
	p->nodes[n].stats.samples = 7;
	p->nodes[n].stats.sampled_ns = 70 * MS;
	n = fixture_node(p, t, 0, 1, 300, 30 * MS, 30 * MS);
	p->nodes[n].stats.burst_calls = 300;
	p->duration_ns = 1000 * MS;
	fixture_finish(p);
	assert_int_equal(top_rows__functions(&r, p, NULL), 0);
	top_rows__sort(&r, SORT_SELF);
	assert_true(r.items[0].estimated && r.items[0].calls < 0);
	assert_true(r.items[1].calls_estimated && r.items[1].calls > 299);
	top_rows__clear(&r);
	profile__free(p);
}

static void test_edges(void **state)
{
	struct profile *p = server();
	struct top_edge *edges;

	/* The time of inner calls is in that of the outer ones. */
	assert_int_equal(top_rows__callers(p, 1, &edges), 2);
	assert_int_equal(edges[0].function, 0);
	assert_int_equal(edges[0].calls, 900);
	assert_int_equal(edges[0].ns, 80 * MS);
	assert_int_equal(edges[1].function, 1);
	assert_int_equal(edges[1].calls, 100);
	assert_int_equal(edges[1].ns, 0);
	free(edges);
	assert_int_equal(top_rows__callers(p, 0, &edges), 1);
	assert_int_equal(edges[0].function, TOP_OUTERMOST);
	free(edges);
	assert_int_equal(top_rows__callees(p, 0, &edges), 2);
	assert_int_equal(edges[0].function, 2);
	assert_int_equal(edges[1].ns, 80 * MS);
	free(edges);
	profile__free(p);
}

/* Half a CPU in one interval, nothing in the next, a whole one in the third. */
static void test_history(void **state)
{
	static const uint64_t cpu_ns[] = {500 * MS, 500 * MS, 1500 * MS};
	char spark[HISTORY_SPARK];
	struct history h = {0};

	for (int i = 0; i < 3; i++) {
		struct profile *p = fixture_new();

		fixture_thread(p, 1, 1, "x");
		fixture_function(p, "f");
		fixture_node(p, 0, 0, 0, 1, cpu_ns[i], cpu_ns[i]);
		p->duration_ns = (i + 1) * 1000 * MS;
		fixture_finish(p);
		assert_int_equal(history__add(&h, p), 0);
		profile__free(p);
	}
	assert_string_equal(history__spark(&h, 0, HISTORY_LEN, spark) +
				    strlen(history__spark(&h, 0, HISTORY_LEN, spark)) - 7,
			    "▅ █");
	assert_string_equal(history__spark(&h, 0, 2, spark), " █");
	assert_string_equal(history__spark(&h, 99, 2, spark), "  ");
	history__fini(&h);
}

/* One line of the canvas, without blanks at its end. */
static const char *line(const struct canvas *c, size_t row)
{
	static char text[UTF8_MAX * 200 + 1];
	size_t len = 0;

	for (size_t i = 0; i < c->columns; i++)
		len += strlen(strcpy(text + len, c->cells[row * c->columns + i].text));
	while (len && text[len - 1] == ' ')
		len--;
	text[len] = '\0';
	return text;
}

static bool shows(const struct canvas *c, const char *word)
{
	for (size_t i = 0; i < c->rows; i++) {
		if (strstr(line(c, i), word))
			return true;
	}
	return false;
}

static void feed(struct top *t)
{
	struct profile *now = server(), *delta;

	assert_int_equal(profile__delta(now, NULL, &delta), 0);
	assert_int_equal(top__take(t, now, delta), 0);
	profile__free(now);
}

static void test_screen(void **state)
{
	struct top *t = top__new("PID 7");
	struct canvas c = {0};

	assert_int_equal(canvas__resize(&c, 24, 80), 0);
	assert_int_equal(top__draw(t, &c), 0);
	assert_true(shows(&c, "nothing has been seen yet"));
	feed(t);
	canvas__resize(&c, 24, 80);
	assert_int_equal(top__draw(t, &c), 0);
	assert_string_equal(line(&c, 0), "PID 7  CPU 9%  1,006 calls/s traced");
	assert_string_equal(line(&c, 2),
			    "   SELF   TOTAL    CALLS/S     AVG     P99  WAIT/S  HISTORY FUNCTION");
	assert_string_equal(line(&c, 3),
			    "  88.9%   88.9%      1,000  102 us  106 us       -       █  hot");
	/* A row stays selected as rows are sorted by something else. */
	top__key(t, TOP_KEY_DOWN);
	for (int i = 0; i < SORT_WAIT; i++)
		top__key(t, '>');
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_non_null(strstr(line(&c, 3), "idle"));
	assert_int_equal(c.cells[5 * 80].style, CANVAS_SELECTED);
	assert_non_null(strstr(line(&c, 5), "main"));
	top__key(t, TOP_KEY_ENTER);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "(the thread's begin)"));
	assert_true(shows(&c, "hot"));
	top__free(t);
	canvas__fini(&c);
}

/* Calls of main and idle are sessions; idle's are all waiting. */
static void test_sessions(void **state)
{
	char *globs[] = {"ma*", "idle", "none"};
	struct top *t = top__new("PID 7");
	struct canvas c = {0};

	feed(t);
	top__key(t, 's');
	canvas__resize(&c, 24, 80);
	assert_int_equal(top__draw(t, &c), 0);
	assert_true(shows(&c, "none is named"));
	top__sessions(t, globs, 3);
	top__key(t, TOP_KEY_RIGHT);
	canvas__resize(&c, 24, 80);
	assert_int_equal(top__draw(t, &c), 0);
	assert_string_equal(line(&c, 2),
			    "SESSIONS/S     AVG     P50     P99     MAX WAITING    SESSION");
	assert_string_equal(line(&c, 3),
			    "       5.0       -       -       -       -  100.0%    idle");
	assert_string_equal(line(&c, 4),
			    "       1.0       -       -       -       -   84.7%    main");
	assert_false(shows(&c, "hot"));
	/* Into one of them and back. */
	top__key(t, TOP_KEY_DOWN);
	assert_int_equal(top__key(t, TOP_KEY_ENTER), TOP_ZOOM);
	assert_int_equal(top__zoomed(t), 0);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "(the thread's begin)"));
	assert_int_equal(top__key(t, TOP_KEY_ESCAPE), TOP_RELEASE);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "WAITING"));
	/* The table of functions is sorted as it was before. */
	top__key(t, 'f');
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_non_null(strstr(line(&c, 3), "hot"));
	top__free(t);
	canvas__fini(&c);
}

static void test_keys(void **state)
{
	struct top *t = top__new("PID 7");
	struct canvas c = {0};

	feed(t);
	for (const char *key = "/hot"; *key; key++)
		assert_int_equal(top__key(t, *key), TOP_NOTHING);
	assert_int_equal(top__key(t, 'q'), TOP_NOTHING); /* a letter of the word */
	top__key(t, TOP_KEY_BACKSPACE);
	top__key(t, TOP_KEY_ENTER);
	canvas__resize(&c, 10, 60);
	top__draw(t, &c);
	assert_true(shows(&c, "hot") && !shows(&c, "idle"));
	top__key(t, TOP_KEY_ESCAPE);
	canvas__resize(&c, 10, 60);
	top__draw(t, &c);
	assert_true(shows(&c, "idle"));
	for (const char *key = "tH?"; *key; key++) {
		top__key(t, *key);
		canvas__resize(&c, 24, 80);
		assert_int_equal(top__draw(t, &c), 0);
		assert_true(shows(&c, *key == 't' ? "└" : *key == 'H' ? "server 7/8" : "Enter  "));
	}
	top__key(t, ' ');
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "FROZEN"));
	assert_int_equal(top__key(t, 'p'), TOP_SWITCH);
	assert_int_equal(top__key(t, 'S'), TOP_SAVE);
	assert_int_equal(top__key(t, 'q'), TOP_QUIT);
	top__free(t);
	canvas__fini(&c);
}

/* main is opened: it is to be exact, and what it calls, of which idle does not fit. */
static void test_zoom(void **state)
{
	struct top *t = top__new("PID 7");
	struct canvas c = {0};
	struct profile *now, *delta;

	feed(t);
	assert_int_equal(top__zoomed(t), UINT32_MAX);
	assert_int_equal(top__key(t, '!'), TOP_NOTHING);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	top__key(t, TOP_KEY_DOWN);
	assert_int_equal(top__key(t, TOP_KEY_ENTER), TOP_ZOOM);
	assert_int_equal(top__zoomed(t), 0);

	now = server();
	now->duration_ns = 9000 * MS;
	now->functions[0].chosen = now->functions[1].chosen = now->functions[2].chosen = true;
	fixture_drop(now, (struct profile_drop){.function = 0, .at_ns = 1, .back_ns = 5000 * MS});
	fixture_drop(now, (struct profile_drop){.function = 1, .at_ns = 1, .back_ns = 5000 * MS});
	fixture_drop(now, (struct profile_drop){.function = 2, .at_ns = 1, .back_ns = 500 * MS});
	fixture_drop(now, (struct profile_drop){.function = 2, .at_ns = 700 * MS});
	assert_int_equal(profile__delta(now, NULL, &delta), 0);
	assert_int_equal(top__take(t, now, delta), 0);
	profile__free(now);
	canvas__resize(&c, 24, 80);
	assert_int_equal(top__draw(t, &c), 0);
	assert_string_equal(line(&c, 1), "ZOOM main and 1 that it calls are exact (+), 1 more are "
					 "not (*; ! pays for it)");
	assert_string_equal(line(&c, 2), "main  (exact again for 4.00 s)");
	assert_true(shows(&c, "idle*") && shows(&c, "hot+"));

	/* The function stays beside the table until it is let go of. */
	top__key(t, 'f');
	canvas__resize(&c, 24, 60);
	top__draw(t, &c);
	assert_true(shows(&c, "ZOOM main") && shows(&c, "hot+") && shows(&c, "idle*"));

	/* A function without a probe cannot be exact itself. */
	now = server();
	now->duration_ns = 10000 * MS;
	now->functions[0].kind = FUNCTION_CALLER;
	now->functions[1].chosen = true;
	assert_int_equal(profile__delta(now, NULL, &delta), 0);
	assert_int_equal(top__take(t, now, delta), 0);
	profile__free(now);
	canvas__resize(&c, 24, 80);
	assert_int_equal(top__draw(t, &c), 0);
	assert_string_equal(line(&c, 1), "ZOOM main has no probe; 1 that it calls are exact (+)");

	assert_int_equal(top__key(t, '!'), TOP_ZOOM_ALL);
	assert_int_equal(top__key(t, TOP_KEY_BACKSPACE), TOP_RELEASE);
	assert_int_equal(top__zoomed(t), UINT32_MAX);
	assert_int_equal(top__key(t, TOP_KEY_ESCAPE), TOP_NOTHING);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_false(shows(&c, "ZOOM"));
	top__free(t);
	canvas__fini(&c);
}

/* The reason of a wait stands in the table, but is no function: nothing to search for or zoom
 * into. */
static void test_what_is_no_code(void **state)
{
	struct top *t = top__new("PID 7");
	struct canvas c = {0};
	struct profile *now = server(), *delta;
	struct top_rows r = {0};

	now->functions[1].kind = FUNCTION_CALLER;
	now->functions[1].name = "[by main: idle]";
	assert_int_equal(top_rows__functions(&r, now, "idle"), 0);
	assert_int_equal(r.cnt, 1);
	assert_string_equal(r.items[0].name, "idle");
	top_rows__clear(&r);
	assert_int_equal(top_rows__functions(&r, now, "[by"), 0);
	assert_int_equal(r.cnt, 1);
	assert_true(r.items[0].no_code);
	top_rows__clear(&r);

	assert_int_equal(profile__delta(now, NULL, &delta), 0);
	assert_int_equal(top__take(t, now, delta), 0);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_int_equal(top__key(t, TOP_KEY_ENTER), TOP_NOTHING); /* on the first row, [by main] */
	assert_int_equal(top__zoomed(t), UINT32_MAX);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "[by main: idle]"));
	assert_false(shows(&c, "ZOOM"));
	assert_int_equal(top__key(t, TOP_KEY_ESCAPE), TOP_NOTHING);
	profile__free(now);
	top__free(t);
	canvas__fini(&c);
}

/* All processes: their shares of one CPU, and which process is opened. */
static void test_machine(void **state)
{
	struct top *t = top__machine("all processes");
	struct canvas c = {0};
	struct profile *now = fixture_new(), *delta;

	now->sample_period_ns = 10 * MS;
	fixture_function(now, "work");
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t thread =
			fixture_thread(now, 10 + i, 10 + i, i == 1 ? "kworker" : "server");
		uint32_t n =
			fixture_node(now, thread, 0, 0, 0, (i + 1) * 100 * MS, (i + 1) * 100 * MS);

		now->nodes[n].stats.samples = now->nodes[n].stats.sampled_ns / (10 * MS);
		now->threads[thread].threads = 4 - i;
		now->threads[thread].memory = i == 1 ? 0 : 3ull << (10 * (i + 1));
	}
	now->duration_ns = 1000 * MS;
	fixture_finish(now);
	assert_int_equal(profile__delta(now, NULL, &delta), 0);
	assert_int_equal(top__take(t, now, delta), 0);
	profile__free(now);
	canvas__resize(&c, 24, 60);
	assert_int_equal(top__draw(t, &c), 0);
	assert_string_equal(line(&c, 0), "all processes  CPU 60%  3 processes have run");
	assert_string_equal(line(&c, 2), "     CPU   MEMORY THREADS      PID  PROCESS");
	assert_string_equal(line(&c, 3), "  ~30.0%   3.0 GB       2       12  server");
	assert_string_equal(line(&c, 4), "  ~20.0%        -       3       11  kworker");
	top__key(t, '>'); /* by memory */
	top__key(t, '>'); /* by threads */
	canvas__resize(&c, 24, 60);
	top__draw(t, &c);
	assert_true(strstr(line(&c, 3), " 10  server"));
	top__key(t, '>'); /* by name: there is nothing between */
	canvas__resize(&c, 24, 60);
	top__draw(t, &c);
	assert_true(strstr(line(&c, 3), " 11  kworker"));
	assert_int_equal(top__key(t, TOP_KEY_ENTER), TOP_OPEN);
	assert_int_equal(top__opened(t), 11);
	/* A function of the machine is looked at, and not made exact. */
	top__key(t, 'f');
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "work"));
	assert_int_equal(top__key(t, TOP_KEY_ENTER), TOP_NOTHING);
	assert_int_equal(top__zoomed(t), UINT32_MAX);
	top__key(t, TOP_KEY_ESCAPE);
	top__key(t, TOP_KEY_ESCAPE);
	canvas__resize(&c, 24, 80);
	top__draw(t, &c);
	assert_true(shows(&c, "PROCESS"));
	assert_int_equal(top__key(t, TOP_KEY_ESCAPE), TOP_NOTHING);
	top__free(t);
	canvas__fini(&c);

	/* In one of them Esc leads back, once there is nothing else to leave. */
	t = top__new("PID 7");
	top__nest(t);
	feed(t);
	top__key(t, '/');
	top__key(t, 'h');
	top__key(t, TOP_KEY_ENTER);
	assert_int_equal(top__key(t, TOP_KEY_ESCAPE), TOP_NOTHING);
	assert_int_equal(top__key(t, TOP_KEY_ESCAPE), TOP_LEAVE);
	top__free(t);
}

/* However small the screen is, and whatever keys come, nothing is written outside of it. */
static void test_any_size(void **state)
{
	static const uint32_t keys[] = {TOP_KEY_END, TOP_KEY_PAGE_UP, TOP_KEY_ENTER,  't',
					TOP_KEY_END, TOP_KEY_ESCAPE,  TOP_KEY_HOME,   'H',
					'?',	     TOP_KEY_DOWN,    TOP_KEY_ESCAPE, 'f'};
	struct top *t = top__new("PID 7");
	struct canvas c = {0};

	feed(t);
	canvas__resize(&c, 3, 20);
	top__draw(t, &c);
	assert_string_equal(line(&c, 0), "4 lines are needed");
	for (size_t rows = 0; rows < 12; rows++) {
		for (size_t columns = 0; columns < 100; columns += 3) {
			for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
				top__key(t, keys[i]);
				assert_int_equal(canvas__resize(&c, rows, columns), 0);
				assert_int_equal(top__draw(t, &c), 0);
			}
		}
	}
	top__free(t);
	canvas__fini(&c);
}

static void test_canvas(void **state)
{
	struct canvas c = {0};

	assert_int_equal(canvas__resize(&c, 1, 4), 0);
	assert_int_equal(canvas__put(&c, 0, 1, CANVAS_BOLD, "a\033…\xff"), 5);
	assert_string_equal(line(&c, 0), " a …");
	assert_int_equal(canvas__put(&c, 9, 0, CANVAS_PLAIN, "out"), 3);
	canvas__fini(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_estimates),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_screen),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_any_size),
		cmocka_unit_test(test_canvas),
		cmocka_unit_test(test_zoom),
		cmocka_unit_test(test_what_is_no_code),
		cmocka_unit_test(test_machine),
		cmocka_unit_test(test_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
