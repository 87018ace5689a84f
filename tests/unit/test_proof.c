// SPDX-License-Identifier: GPL-2.0-or-later
/* Each proof with its counter-examples, on programs that are compiled here and what they load. */
#include "elf_fixture.h"

#include "plan/exit_strategy.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "select/filter.h"
#include "target/target.h"

/* noipa: nothing is known of a function but what its code says. */
static const char program[] =
	"#include <cstdlib>\n"
	"#include <cstring>\n"
	"#define F extern \"C\" __attribute__((noipa))\n"
	"extern \"C\" int helper(int);\n"
	"int (*pointer)(int) = helper;\n"
	"static int count;\n"
	"struct Guard { ~Guard() { count++; __asm__ volatile(\"\" ::: \"memory\"); } };\n"
	"F int leaf(int x) { return x * 7; }\n"
	"F int quiet(int x) { return leaf(x) + leaf(x + 1); }\n"
	"F int tails(int x) { return quiet(x); }\n"
	"F int odd(unsigned x);\n"
	"F int even(unsigned x) { return x ? odd(x - 1) + 0 * leaf(x) : 1; }\n"
	"F int odd(unsigned x) { int r = x ? even(x - 1) : 0; count++; return r; }\n"
	"F int indirect(int (*f)(int)) { return f(1) + 1; }\n"
	"F int by_variable(int x) { return pointer(x) + 1; }\n"
	"F int throws(int x) { if (x > 3) throw x; return x; }\n"
	"F int calls_thrower(int x) { return throws(x) + 1; }\n"
	"F int tails_to_thrower(int x) { return throws(x); }\n"
	"F int recursive_thrower(int x) { return x ? recursive_thrower(x - 1) + 1 : throws(x); }\n"
	"F int stops(int x) noexcept { return throws(x) + 1; }\n"
	"F int calls_stopper(int x) { return stops(x) + 1; }\n"
	"F int stops_unknown(int (*f)(int)) noexcept { return f(1) + 1; }\n"
	"F int cleans(int x) { Guard g; return throws(x); }\n"
	"F int catches(int x) { try { return throws(x); } catch (...) { return count++; } }\n"
	"F int catches_noexcept(int x) noexcept\n"
	"{ try { return throws(x); } catch (...) { return count++; } }\n"
	"F int catches_int(int x) noexcept\n"
	"{ try { return throws(x); } catch (int) { return count++; } }\n"
	"F int rethrows(int x) { try { return throws(x); } catch (...) { count++; throw; } }\n"
	"F int rethrows_noexcept(int x) noexcept\n"
	"{ try { return throws(x); } catch (...) { count++; throw; } }\n"
	"F int handler_throws(int x)\n"
	"{ try { return stops(x) + throws(x); } catch (...) { return throws(x + 1); } }\n"
	"F int string(const char *s) { return strlen(s) + 1; }\n"
	"F int frees(void *p) { free(p); return leaf(1); }\n"
	"F int deletes(int *p) { delete p; return leaf(1); }\n"
	"F int news(int x) { int *volatile p = new int(x); return *p + 1; }\n"
	"F int exits(int x) { if (x > 3) exit(x); return leaf(x); }\n"
	"F int helped(int x) { return helper(x) + 1; }\n"
	"F int switches(int x)\n"
	"{ switch (x) { case 0: return leaf(1); case 1: return throws(2) + 1; case 2: return x;\n"
	"  case 3: count++; return 5; case 4: return leaf(9) + 3; case 5: count--; return 17;\n"
	"  case 6: return leaf(x) ^ 4; } return 0; }\n"
	"extern \"C\" int pushes(void), runs_on(void), system_call(void);\n"
	"__asm__(\".type pushes,@function\\npushes: push %rdi\\n ret\\n.size pushes,.-pushes\\n\"\n"
	"	\".type runs_on,@function\\nruns_on: nop\\n.size runs_on,.-runs_on\\n\"\n"
	"	\" call *%rax\\n ret\\n\"\n"
	"	\".type system_call,@function\\nsystem_call: syscall\\n ret\\n\"\n"
	"	\".size system_call,.-system_call\\n\");\n"
	"int main() { return 0; }\n";

static struct target_object objects[16];
static struct target_process process = {.pid = 1, .pidfd = -1};
static struct target target;
static struct plan *plan;

static void target_add(const char *path)
{
	struct target_object *obj = &objects[target.objects_cnt];

	assert_true(target.objects_cnt < 16);
	*obj = (struct target_object){
		.path = strdup(path), .root = "", .is_main = !target.objects_cnt};
	obj->fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(obj->fd >= 0);
	target.objects_cnt++;
}

/* Plans the program among all that it loads, and `more` (NULL: nothing). */
static void plan_program(const char *name, const char *more)
{
	const struct plan_options opts = {.call_nops = CALL_NOPS_5};
	char line[512], path[512];
	struct filter f;
	FILE *ldd;

	target = (struct target){.processes = &process, .processes_cnt = 1, .objects = objects};
	target_add(name);
	snprintf(line, sizeof(line), "LD_LIBRARY_PATH=. ldd ./%s", name);
	ldd = popen(line, "r");
	assert_non_null(ldd);
	while (fgets(line, sizeof(line), ldd)) {
		if (sscanf(line, "%*s => %511s", path) == 1 ||
		    sscanf(line, " /%510s", path + 1) == 1) {
			path[0] = path[0] == '.' ? '.' : '/';
			target_add(path);
		}
	}
	assert_int_equal(pclose(ldd), 0);
	if (more)
		target_add(more);
	assert_int_equal(filter__init(&f, NULL, 0, NULL, 0), 0);
	assert_int_equal(planner__make(&target, &f, &opts, &plan), 0);
	filter__clear(&f);
}

static int close_all(void **state)
{
	plan__free(plan);
	plan = NULL;
	for (size_t i = 0; i < target.objects_cnt; i++) {
		close(objects[i].fd);
		free(objects[i].path);
	}
	target.objects_cnt = 0;
	return 0;
}

static const struct plan_function *function(const char *symbol)
{
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		if (!strcmp(plan->functions[i].symbol, symbol))
			return &plan->functions[i];
	}
	fail_msg("%s is not planned", symbol);
	return NULL;
}

/* All of the functions named in `names` keep return exits, for this reason. */
static void assert_proven(const char *names, const char *reason)
{
	char copy[1024], *name, *rest = copy;

	strcpy(copy, names);
	while ((name = strsep(&rest, " "))) {
		const struct plan_function *f = function(name);

		if (f->exit != EXIT_RETURN || !strstr(f->reason, reason))
			fail_msg("%s: %s (%s)", name, exit_strategy__name(f->exit), f->reason);
		assert_int_equal(f->exits_cnt, 0);
		assert_int_equal(f->entry.delta, 0);
	}
}

static void assert_unproven(const char *names)
{
	char copy[1024], *name, *rest = copy;

	strcpy(copy, names);
	while ((name = strsep(&rest, " "))) {
		const struct plan_function *f = function(name);

		if (f->exit == EXIT_RETURN)
			fail_msg("%s: return (%s)", name, f->reason);
	}
}

#define NEVER                                                                                  \
	"indirect by_variable throws calls_thrower tails_to_thrower recursive_thrower cleans " \
	"catches catches_int rethrows handler_throws news exits switches "                     \
	"pushes runs_on system_call"
#define BY_CODE	    "quiet tails even odd"
#define BY_IMPORTS  "string frees deletes helped"
#define BY_NOEXCEPT "stops stops_unknown catches_noexcept rethrows_noexcept"

static void among_exceptions(void **state)
{
	plan_program("prog", NULL);
	assert_proven("leaf", "calls nothing");
	assert_proven(BY_CODE " " BY_IMPORTS " calls_stopper", "calls only what cannot unwind");
	assert_proven(BY_NOEXCEPT, "noexcept: exceptions end in it");
	assert_unproven(NEVER);
	assert_int_equal(plan->functions[plan->functions_cnt - 1].exits +
				 plan->functions[plan->functions_cnt - 1].exits_cnt,
			 plan->exits_cnt);
}

static void others_may_define_the_same(void **state)
{
	plan_program("prog", "libhelper2.so");
	assert_proven(BY_CODE " string frees deletes", "calls only");
	assert_unproven("helped " NEVER);
}

static void helpers_that_call_back(void **state)
{
	plan_program("prog-calls", NULL);
	assert_proven(BY_CODE " string frees deletes", "calls only");
	assert_unproven("helped " NEVER);
}

static void allocators_of_others(void **state)
{
	plan_program("prog", "libmalloc.so");
	assert_proven(BY_CODE " string helped", "calls only");
	assert_unproven("frees deletes " NEVER);
}

static void who_inspects_may_have_patched(void **state)
{
	plan_program("prog", "libinspects.so");
	assert_proven(BY_CODE, "calls only");
	assert_unproven(BY_IMPORTS " " BY_NOEXCEPT " calls_stopper " NEVER);
}

static void auditors_bind_as_they_like(void **state)
{
	plan_program("prog", "libaudit.so");
	assert_proven(BY_CODE, "calls only");
	assert_unproven(BY_IMPORTS " " NEVER);
}

/* noexcept stops exceptions, but no switch and no forced unwinding. */
static void among_other_hazards(void **state)
{
	static const char *const libraries[] = {"libcancels.so", "libswitches.so"};

	for (size_t i = 0; i < 2; i++) {
		close_all(state);
		plan_program("prog", libraries[i]);
		assert_proven(BY_CODE " " BY_IMPORTS, "calls only");
		assert_unproven(BY_NOEXCEPT " calls_stopper " NEVER);
	}
}

static void nothing_holds_among_signal_handlers(void **state)
{
	plan_program("prog", "libsignals.so");
	assert_unproven("leaf " BY_CODE " " BY_IMPORTS " " BY_NOEXCEPT " " NEVER);
	close_all(state);
	/* nor if threads can be cancelled at any instruction */
	plan_program("prog", "libasync.so");
	assert_unproven("leaf " BY_CODE " " BY_IMPORTS " " BY_NOEXCEPT " " NEVER);
}

/* A program that comes later binds as it likes, also what libraries of the first one call. */
static void other_programs_end_proofs(void **state)
{
	const struct plan_options opts = {.call_nops = CALL_NOPS_5};
	struct filter f;

	plan_program("prog", NULL);
	assert_int_equal(filter__init(&f, NULL, 0, NULL, 0), 0);
	target_add("libhelper2.so");
	assert_int_equal(planner__extend(plan, &target, &f, &opts), 0);
	assert_proven(BY_CODE " " BY_IMPORTS, "calls only");
	target_add("prog-calls");
	objects[target.objects_cnt - 1].is_main = false;
	assert_int_equal(planner__extend(plan, &target, &f, &opts), 0);
	assert_unproven(BY_CODE " " BY_IMPORTS " " BY_NOEXCEPT " " NEVER);
	filter__clear(&f);
}

/* A library that refers to one function is all that it takes. */
static void make_library(const char *name, const char *text)
{
	char source[64], flags[64];

	snprintf(source, sizeof(source), "%s.c", name);
	snprintf(flags, sizeof(flags), "-shared -fPIC -O2 -w -Wl,-soname,%s", name);
	compile(name, source, text, flags);
}

static void make_reference(const char *name, const char *function)
{
	char text[128];

	snprintf(text, sizeof(text), "void %s(void); void *f_%s = %s;\n", function, function,
		 function);
	make_library(name, text);
}

static int make_programs(void **state)
{
	if (fixture_make(state))
		return -1;
	write_text("prog.cpp", program);
	make_library("libhelper2.so", "int helper(int x) { return x + 2; }\n");
	make_library("libcalls.so", "int (*f)(int); int helper(int x) { return f(x) + 1; }\n");
	sh("g++ -O2 -w -o prog-calls prog.cpp ./libcalls.so");
	make_library("libhelper.so", "int helper(int x) { return x + 1; }\n");
	sh("g++ -O2 -w -o prog prog.cpp ./libhelper.so");
	make_library("libmalloc.so", "void *malloc(unsigned long n) { return 0; }\n"
				     "void free(void *p) {}\n");
	make_library("libaudit.so", "int la_version(int x) { return x; }\n");
	make_reference("libinspects.so", "backtrace");
	make_reference("libcancels.so", "pthread_cancel");
	make_reference("libswitches.so", "swapcontext");
	make_reference("libsignals.so", "sigaction");
	make_reference("libasync.so", "pthread_setcanceltype");
	return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(among_exceptions),
		TEST(others_may_define_the_same),
		TEST(helpers_that_call_back),
		TEST(allocators_of_others),
		TEST(who_inspects_may_have_patched),
		TEST(auditors_bind_as_they_like),
		TEST(among_other_hazards),
		TEST(nothing_holds_among_signal_handlers),
		TEST(other_programs_end_proofs),
	};

	return cmocka_run_group_tests(tests, make_programs, fixture_clean);
}
