// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers of paths, rows, and profiles made of answers. */
#include "fixture.h"

#include <errno.h>
#include <zstd.h>

#include "fleet/answer.h"
#include "fleet/id_set.h"
#include "fleet/native_block.h"
#include "fleet/path_ids.h"
#include "fleet/path_tree.h"
#include "fleet/profile_row.h"
#include "fleet/row_binary.h"
#include "record/reader.h"
#include "util/log.h"

/* As a database answers; we send no floating-point numbers. */
static void add_f64(struct rows *r, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	rows__u64(r, bits);
}

static void test_values(void **state)
{
	struct rows r = {0};
	struct rows_reader in;
	char longest[300];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	rows__u64(&r, UINT64_MAX - 1);
	rows__string(&r, longest);
	rows__u8(&r, 7);
	add_f64(&r, 1.5);
	rows__u32(&r, 9);
	rows__string(&r, NULL);
	assert_false(r.failed);
	in = (struct rows_reader){.at = r.data, .end = r.data + r.len};
	assert_int_equal(rows_reader__u64(&in), UINT64_MAX - 1);
	assert_string_equal(rows_reader__string(&in), longest);
	assert_int_equal(rows_reader__u8(&in), 7);
	assert_true(rows_reader__f64(&in) == 1.5);
	assert_int_equal(rows_reader__u32(&in), 9);
	assert_string_equal(rows_reader__string(&in), "");
	assert_false(in.failed || rows_reader__more(&in));
	rows_reader__u8(&in);
	assert_true(in.failed);
	rows__free(&r);
}

/* The block's lengths are those that ClickHouse's compressed blocks have. */
static void test_block(void **state)
{
	static const char none[16];
	struct rows r = {0};
	char back[1 << 13], *block;
	uint32_t lengths[2];
	size_t len;

	for (uint64_t i = 0; i < 1000; i++)
		rows__u64(&r, i);
	assert_int_equal(native_block__make(&r, &block, &len), 0);
	assert_memory_equal(block, none, sizeof(none));
	assert_int_equal((uint8_t)block[16], 0x90);
	memcpy(lengths, block + 17, sizeof(lengths));
	assert_int_equal(lengths[0], len - 16);
	assert_int_equal(lengths[1], r.len);
	assert_int_equal(ZSTD_decompress(back, sizeof(back), block + 25, len - 25), r.len);
	assert_memory_equal(back, r.data, r.len);
	free(block);
	rows__free(&r);
}

static void test_kinds(void **state)
{
	static const char *const names[][2] = {
		{"worker-17", "worker-#"},
		{"pool 3", "pool #"},
		{"python3", "python3"},
		{"42", "42"},
		{"kworker/0:12", "kworker/0:#"},
		{"", ""},
		{"a-", "a-"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char comm[16];

		strcpy(comm, names[i][0]);
		thread_kind(comm);
		assert_string_equal(comm, names[i][1]);
	}
}

/* Paths have the same numbers in whichever order they come, and wherever code lies. */
static void test_ids(void **state)
{
	struct profile *a = fixture_small(), *b = fixture_small(), *merged;
	struct path_ids x, y, z;

	b->functions[1].offset = 5;
	b->functions[2].module = "/opt/other/prog";
	assert_int_equal(path_ids__make(&x, a), 0);
	assert_int_equal(path_ids__make(&y, b), 0);
	assert_memory_equal(x.paths, y.paths, a->nodes_cnt * sizeof(*x.paths));
	for (size_t i = 1; i < a->nodes_cnt; i++) {
		for (size_t j = 1; j < i; j++)
			assert_int_not_equal(x.paths[i], x.paths[j]);
	}
	assert_int_equal(merge_kinds(a, &merged), 0);
	assert_int_equal(path_ids__make(&z, merged), 0);
	assert_int_equal(z.paths[1], x.paths[1]);
	strcpy(b->threads[0].comm, "other");
	path_ids__clear(&y);
	assert_int_equal(path_ids__make(&y, b), 0);
	assert_int_not_equal(x.paths[1], y.paths[1]);
	path_ids__clear(&x);
	path_ids__clear(&y);
	path_ids__clear(&z);
	profile__free(merged);
	profile__free(a);
	profile__free(b);
}

/* Results of engine_hash() for steps 100, 200 and 300, as ClickHouse 18.16 and 26.7 gave them. */
static void test_engine_ids(void **state)
{
	struct profile *p = fixture_small();
	struct path_ids ids;
	uint64_t sum, expected;

	assert_int_equal(path_ids__make(&ids, p), 0);
	assert_int_equal(path_ids__step(100, 1), 2308058417128181240);
	sum = path_ids__step(100, 1) + path_ids__step(200, 2);
	assert_int_equal(path_ids__of_sum(sum), 163507754243214);
	assert_int_equal(path_ids__of_sum(sum + path_ids__step(300, 3)), 262985405452010);
	/* main › work */
	expected = path_ids__step(ids.threads[0], 1) + path_ids__step(ids.functions[0], 2) +
		   path_ids__step(ids.functions[1], 3);
	assert_int_equal(ids.paths[3], path_ids__of_sum(expected));
	path_ids__clear(&ids);
	profile__free(p);
}

static uint64_t next_count(struct rows_reader *in)
{
	uint8_t cnt = rows_reader__u8(in);

	assert_in_range(cnt, 0, 127);
	return cnt;
}

static void expect_numbers(struct rows_reader *in, const uint32_t *numbers, size_t cnt)
{
	assert_int_equal(next_count(in), cnt);
	for (size_t i = 0; i < cnt; i++)
		assert_int_equal(rows_reader__u32(in), numbers[i]);
}

/* Two threads, of which the first has nothing below it. */
static void test_tree(void **state)
{
	static const uint32_t names[] = {0, 1, 2, 3, 4, 5}, sizes[] = {1, 5, 4, 2, 1, 1};
	struct profile *p = fixture_new();
	uint32_t a = fixture_function(p, "a"), b = fixture_function(p, "b");
	uint32_t c = fixture_function(p, "c"), d = fixture_function(p, "d");
	uint32_t outer, inner, t;
	struct rows r = {0};
	struct rows_reader in;
	struct path_tree tree;
	struct path_ids ids;

	fixture_thread(p, 1, 1, "idle");
	t = fixture_thread(p, 1, 2, "prog");
	outer = fixture_node(p, t, 0, a, 1, 10, 1);
	fixture_node(p, t, outer, b, 1, 3, 3);
	inner = fixture_node(p, t, outer, c, 1, 6, 4);
	fixture_node(p, t, inner, d, 1, 2, 2);
	fixture_finish(p);
	assert_int_equal(path_ids__make(&ids, p), 0);
	assert_int_equal(path_tree__make(&tree, p, NULL), 0);
	assert_int_equal(tree.paths_cnt, 4);
	path_tree__write(&tree, p, &ids, &r);
	in = (struct rows_reader){.at = r.data, .end = r.data + r.len};
	assert_int_equal(next_count(&in), 6);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(rows_reader__u64(&in), ids.threads[i]);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(rows_reader__u64(&in),
				 ids.functions[p->nodes[tree.paths[i]].function]);
	expect_numbers(&in, names, 6);
	expect_numbers(&in, sizes, 6);
	assert_false(in.failed || rows_reader__more(&in) || r.failed);
	path_tree__clear(&tree);
	path_ids__clear(&ids);
	rows__free(&r);
	profile__free(p);
}

/* Names of paths go once, with the callers that their numbers are made of. */
static void test_fresh_paths(void **state)
{
	static const uint32_t names[] = {0, 1, 2, 3}, sizes[] = {4, 3, 2, 1};
	struct profile *p = fixture_small();
	struct id_set known = {0};
	struct rows r = {0};
	struct rows_reader in;
	struct path_ids ids;

	assert_int_equal(path_ids__make(&ids, p), 0);
	for (size_t i = 1; i + 1 < p->nodes_cnt; i++)
		id_set__add(&known, ids.paths[i]);
	paths_rows(p, &ids, &known, &r);
	in = (struct rows_reader){.at = r.data, .end = r.data + r.len};
	assert_int_equal(next_count(&in), 4);
	for (size_t i = 0; i < 4; i++)
		rows_reader__u64(&in);
	expect_numbers(&in, names, 4);
	expect_numbers(&in, sizes, 4);
	assert_int_equal(next_count(&in), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(rows_reader__u8(&in), i == 3);
	assert_int_equal(next_count(&in), 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(rows_reader__string(&in), "prog");
	assert_int_equal(next_count(&in), 4);
	in.at += 4;
	assert_false(in.failed || rows_reader__more(&in) || r.failed);
	r.len = 0;
	id_set__add(&known, ids.paths[p->nodes_cnt - 1]);
	paths_rows(p, &ids, &known, &r);
	assert_int_equal(r.len, 0);
	rows__free(&r);
	id_set__clear(&known);
	path_ids__clear(&ids);
	profile__free(p);
}

static void test_id_set(void **state)
{
	struct id_set s = {0};

	assert_false(id_set__has(&s, 1));
	for (uint64_t i = 1; i <= ID_SET_MAX; i++)
		id_set__add(&s, i * 7);
	assert_true(id_set__has(&s, 7));
	assert_true(id_set__has(&s, 7ull * ID_SET_MAX));
	assert_false(id_set__has(&s, 8));
	id_set__add(&s, 5);
	assert_true(id_set__has(&s, 5));
	assert_false(id_set__has(&s, 7));
	id_set__clear(&s);
}

static void path_row(struct rows *r, uint64_t path, uint64_t parent, uint64_t function,
		     uint64_t calls, uint64_t self_ns)
{
	rows__u64(r, path);
	rows__u64(r, parent);
	rows__u64(r, function);
	rows__string(r, "prog");
	rows__u8(r, 0);
	rows__u64(r, calls);
	rows__u64(r, self_ns);
	for (int i = 0; i < 5; i++)
		rows__u64(r, 0);
	add_f64(r, 0);
	rows__u64(r, 0);
	rows__u64(r, 0);
}

static void function_row(struct rows *r, uint64_t function, const char *name)
{
	rows__u64(r, function);
	rows__string(r, name);
	rows__string(r, name);
	rows__string(r, "/bin/prog");
	rows__string(r, "");
	rows__u32(r, 0);
	rows__u8(r, 0);
}

/* Labels that the profiles of an answer have: how many, and any of them. */
struct labels {
	uint64_t services, versions;
	const char *version;
};

static struct labels labels = {1, 1, "1.2"};

static void sums_row(struct rows *r, uint64_t profiles)
{
	rows__u64(r, profiles);
	rows__u64(r, 2); /* hosts */
	rows__u32(r, 1700000000);
	rows__u64(r, 0);
	rows__u64(r, labels.services);
	rows__string(r, "api");
	rows__u64(r, labels.versions);
	rows__string(r, labels.version);
	for (int i = 0; i < 26; i++)
		rows__u64(r, 0);
}

static void put(struct answer *a, enum answer_part part, struct rows *r)
{
	a->parts[part].len = r->len;
	assert_int_equal(answer__take(a, part, r->data ? (char *)r->data : ""), 0);
	rows__free(r);
}

/* `parent` is that of the outermost of two paths; `cut`: bytes that are missing at their end. */
static struct answer *make_answer(uint64_t parent, size_t cut, uint64_t profiles)
{
	struct answer *a = calloc(1, sizeof(*a));
	struct rows r = {0};

	assert_non_null(a);
	path_row(&r, 12, 11, 2, 30, 300);
	path_row(&r, 11, parent, 1, 3, 1000);
	r.len -= cut;
	put(a, ANSWER_PATHS, &r);
	function_row(&r, 1, "main");
	function_row(&r, 2, "work");
	put(a, ANSWER_NAMES, &r);
	rows__u64(&r, 2);
	rows__u64(&r, 5);
	rows__u64(&r, 20);
	rows__u64(&r, 1);
	put(a, ANSWER_FUNCTIONS, &r);
	rows__u64(&r, 2);
	rows__u64(&r, 10);
	rows__u64(&r, 30);
	put(a, ANSWER_LATENCIES, &r);
	sums_row(&r, profiles);
	put(a, ANSWER_SUMS, &r);
	return a;
}

static void test_answer(void **state)
{
	struct answer *a = make_answer(0, 0, 4);
	struct recorded run;
	const struct profile *p;

	assert_int_equal(answer__read(a, &run), 0);
	answer__free(a);
	p = run.profile;
	assert_int_equal(p->nodes_cnt, 3);
	assert_int_equal(p->threads_cnt, 1);
	assert_string_equal(p->threads[0].title, "prog");
	assert_string_equal(p->target.exec, "api 1.2: 4 profiles of 2 hosts");
	assert_int_equal(p->nodes[p->threads[0].first_root].stats.total_ns, 1300);
	assert_int_equal(p->nodes[1].stats.max_ns, 20);
	assert_int_equal(p->buckets_cnt, 1);
	assert_int_equal(p->drops_cnt, 1);
	recorded__free(&run);
}

static void expect_title(struct labels of, const char *title)
{
	struct answer *a;
	struct recorded run;

	labels = of;
	a = make_answer(0, 0, 4);
	labels = (struct labels){1, 1, "1.2"};
	assert_int_equal(answer__read(a, &run), 0);
	assert_string_equal(run.profile->target.exec, title);
	answer__free(a);
	recorded__free(&run);
}

static void test_titles(void **state)
{
	expect_title((struct labels){1, 1, ""}, "api: 4 profiles of 2 hosts");
	expect_title((struct labels){1, 2, "1.2"},
		     "api in several versions: 4 profiles of 2 hosts");
	expect_title((struct labels){1, 2, ""}, "api in several versions: 4 profiles of 2 hosts");
	expect_title((struct labels){2, 3, "1.2"}, "several services: 4 profiles of 2 hosts");
}

static void refuse(struct answer *a, int expected)
{
	struct recorded run;

	assert_int_equal(answer__read(a, &run), expected);
	answer__free(a);
}

static void take_no_lines(enum log_level level, const char *line)
{
}

static void test_nonsense(void **state)
{
	log_divert(take_no_lines);
	refuse(make_answer(0, 0, 0), -ENODATA);
	refuse(make_answer(0, 5, 4), -EINVAL);
	refuse(make_answer(12, 0, 4), -EINVAL); /* each is below the other */
	refuse(calloc(1, sizeof(struct answer)), -ENODATA);
	log_divert(NULL);
}

/* A path whose parent is not there is an outermost one. */
static void test_orphan(void **state)
{
	struct answer *a = make_answer(99, 0, 4);
	struct recorded run;

	assert_int_equal(answer__read(a, &run), 0);
	assert_int_equal(run.profile->nodes[run.profile->threads[0].first_root].stats.calls, 3);
	answer__free(a);
	recorded__free(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values), cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_ids),    cmocka_unit_test(test_id_set),
		cmocka_unit_test(test_answer), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_titles), cmocka_unit_test(test_orphan),
		cmocka_unit_test(test_block),  cmocka_unit_test(test_engine_ids),
		cmocka_unit_test(test_tree),   cmocka_unit_test(test_fresh_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
