// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes of compilers about entries that may be patched later; both compilers build the files. */
#include "elf_fixture.h"

#include <elf.h>

#include "plan/options.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "select/filter.h"
#include "symbol/instrumented.h"
#include "target/target.h"

static const char program[] = "long kept;\n"
			      "__attribute__((noinline)) long leaf(long a) { return a * 3 + 1; }\n"
			      "__attribute__((noinline)) long calls(long a, long b)\n"
			      "{ kept = leaf(a) * b; return leaf(kept) + a; }\n"
			      "__attribute__((noinline)) void none(void)\n"
			      "{ __asm__ volatile(\"\"); }\n"
			      "int main(int argc, char **argv)\n"
			      "{ none(); return calls(argc, argc); }\n";

static struct plan *plan;
static int fd;

static const struct plan_function *function(const char *name)
{
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		if (!strcmp(plan->functions[i].symbol, name))
			return &plan->functions[i];
	}
	fail_msg("%s is not planned", name);
	return NULL;
}

static void make_plan(const char *path)
{
	static struct target_process process = {.pid = 1, .pidfd = -1};
	struct target_object object = {.path = (char *)path, .root = "", .is_main = true};
	struct target target = {
		.processes = &process, .processes_cnt = 1, .objects = &object, .objects_cnt = 1};
	const struct plan_options opts = {.call_nops = CALL_NOPS_5};
	struct filter filter;

	fd = object.fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(filter__init(&filter, NULL, 0, NULL, 0), 0);
	assert_int_equal(planner__make(&target, &filter, &opts, &plan), 0);
	filter__clear(&filter);
}

static void drop_plan(void)
{
	plan__free(plan);
	plan = NULL;
	close(fd);
}

/* Builds the program and checks where three of its functions are probed, and why there. */
static void check(const char *compiler, const char *flags, enum instrumented_by by, uint32_t offset,
		  enum site_class site)
{
	static const char *const names[] = {"leaf", "calls", "main"};

	write_text("program.c", program);
	sh("%s -O2 -o program program.c %s", compiler, flags);
	make_plan("program");
	for (size_t i = 0; i < 3; i++) {
		const struct plan_function *f = function(names[i]);

		if (f->instrumented != by || f->entry.offset != offset || f->entry.site != site)
			fail_msg("%s %s: %s is probed at +%u, %s, instrumented %u", compiler, flags,
				 names[i], f->entry.offset, site_class__name(f->entry.site),
				 f->instrumented);
	}
	drop_plan();
}

static void plain(void **state)
{
	write_text("program.c", program);
	sh("gcc -O2 -o program program.c");
	make_plan("program");
	for (size_t i = 0; i < plan->functions_cnt; i++)
		assert_int_equal(plan->functions[i].instrumented, INSTRUMENTED_NOT);
	drop_plan();
}

static void patchable(void **state)
{
	/* The GNU compiler makes single nops. */
	const char *gnu = "gcc -fcf-protection=none";

	check(gnu, "-fpatchable-function-entry=5", INSTRUMENTED_PATCHABLE, 0, SITE_NOP);
	check(gnu, "-fpatchable-function-entry=5 -no-pie", INSTRUMENTED_PATCHABLE, 0, SITE_NOP);
	check(gnu, "-fpatchable-function-entry=9,3", INSTRUMENTED_PATCHABLE, 0, SITE_NOP);
	check("gcc -fcf-protection", "-fpatchable-function-entry=5", INSTRUMENTED_PATCHABLE, 4,
	      SITE_NOP);
	check("clang", "-fpatchable-function-entry=5", INSTRUMENTED_PATCHABLE, 0, SITE_NOP5);
	check("clang", "-fpatchable-function-entry=8,3", INSTRUMENTED_PATCHABLE, 0, SITE_NOP5);
	check("clang -fcf-protection", "-fpatchable-function-entry=5", INSTRUMENTED_PATCHABLE, 4,
	      SITE_NOP5);
}

static void fentry(void **state)
{
	const char *gnu = "gcc -fcf-protection=none -fno-pie -no-pie -pg -mfentry";

	check(gnu, "-mrecord-mcount -mnop-mcount", INSTRUMENTED_FENTRY, 0, SITE_NOP5);
	check(gnu, "-mrecord-mcount", INSTRUMENTED_FENTRY, 0, SITE_CALL);
	/* Without a section the calls tell; nops could be anything. */
	check(gnu, "", INSTRUMENTED_FENTRY, 0, SITE_CALL);
	check(gnu, "-mnop-mcount", INSTRUMENTED_NOT, 0, SITE_NOP5);
	check("clang -fcf-protection", "-pg -mfentry", INSTRUMENTED_FENTRY, 4, SITE_CALL);
}

/* The call goes through a pointer, which the kernel cannot emulate: what lies behind it may do. */
static void fentry_by_a_pointer(void **state)
{
	write_text("program.c", program);
	sh("gcc -O2 -fcf-protection=none -fPIE -pie -pg -mfentry -o program program.c");
	make_plan("program");
	assert_int_equal(function("leaf")->instrumented, INSTRUMENTED_FENTRY);
	assert_int_equal(function("calls")->instrumented, INSTRUMENTED_FENTRY);
	assert_int_equal(function("calls")->entry.offset, 6);
	assert_int_equal(function("calls")->entry.site, SITE_PUSH);
	drop_plan();
}

static void xray(void **state)
{
	write_text("program.c", program);
	sh("clang -O2 -fxray-instrument -fxray-instruction-threshold=1 -o program program.c");
	make_plan("program");
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		if (plan->functions[i].instrumented == INSTRUMENTED_XRAY)
			assert_true(plan->functions[i].entry.offset >= 11);
	}
	assert_int_equal(function("leaf")->instrumented, INSTRUMENTED_XRAY);
	assert_int_equal(function("calls")->entry.offset, 11);
	assert_int_equal(function("calls")->entry.site, SITE_PUSH);
	drop_plan();
}

/* Random sizes and contents of the sections, and cut files: nothing is taken for more than it is.
 */
static void damaged(void **state)
{
	uint32_t seed = 1;
	uint8_t *bytes;
	size_t len;

	write_text("program.c", program);
	sh("clang -O2 -fPIC -fpatchable-function-entry=5 -c -o nops.o program.c");
	sh("clang -O2 -fPIC -fxray-instrument -fxray-instruction-threshold=1 -Dleaf=l -Dcalls=c "
	   "-Dnone=n -Dmain=m -Dkept=k -c -o sleds.o program.c");
	sh("gcc -shared -nostdlib -o program nops.o sleds.o");
	bytes = read_bytes("program", &len);
	for (int i = 0; i < 400; i++) {
		uint8_t *copy = malloc(len);
		struct instrumented *in = NULL;
		const Elf64_Ehdr *eh = (const void *)copy;
		struct elf_image *img = NULL;
		uint64_t at = 0, headers;
		int saved = hush(), memfd;

		memcpy(copy, bytes, len);
		headers = eh->e_shoff;
		for (int k = 0; k < 8 && headers < len; k++)
			copy[headers + next_random(&seed) % (len - headers)] = next_random(&seed);
		for (int k = 0; k < 64; k++)
			copy[sizeof(*eh) + next_random(&seed) % (len - sizeof(*eh))] =
				next_random(&seed);
		memfd = memfd_with(copy,
				   i % 4 ? len : headers + next_random(&seed) % (len - headers));
		if (!elf_image__try(memfd, "damaged", &img)) {
			assert_int_equal(instrumented__load(img, &in), 0);
			assert_true(instrumented__within(in, 5, 5, &at) == INSTRUMENTED_NOT);
			instrumented__within(in, 0, UINT64_MAX, &at);
		}
		instrumented__free(in);
		elf_image__free(img);
		close(memfd);
		unhush(saved);
		free(copy);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain),  cmocka_unit_test(patchable),
		cmocka_unit_test(fentry), cmocka_unit_test(fentry_by_a_pointer),
		cmocka_unit_test(xray),	  cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
