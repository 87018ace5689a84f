// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf_fixture.h"

#include "exits/jump_swaps.h"

#define HEAD                                                                                \
	"#include <setjmp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>" \
	"\n#define OWN static __attribute__((noinline))\n"                                  \
	"struct task { int state; jmp_buf env; struct task *next; } *now;\n"                \
	"volatile int ready; jmp_buf first, second; extern char **environ;\n"

#define MAIN "\nint main(void) { return run(environ); }"

static const char *const swap[] = {
	/* To a scheduler, and back. */
	"OWN int run(void *p) { if (!setjmp(first)) longjmp(second, 1); return 0; }",
	"OWN int run(struct task *t) { if (!_setjmp(t->env)) longjmp(t->next->env, 1);"
	" return t->state; }",
	"OWN int run(void *p) { sigjmp_buf b; now = p; memcpy(&now->env, &b, sizeof(b));"
	" if (sigsetjmp(b, 0) == 0) siglongjmp(now->next->env, 1); return now->state; }",
	/* The result is put aside, and compared later. */
	"OWN int run(struct task *t) { volatile int r = setjmp(t->env);"
	" if (r == 0) longjmp(t->next->env, 1); return r + 1; }",
	"OWN int run(struct task *t) { switch (setjmp(t->env)) { case 0: longjmp(t->next->env, 1);"
	" case 2: ready = 1; return 3; default: return 4; } }",
	/* By a function that never comes back. */
	"OWN void go(struct task *t) { now = t; printf(\"to %d\\n\", t->state);"
	" longjmp(t->env, 1); }"
	"OWN int run(struct task *t) { if (!setjmp(t->env)) go(t->next); return t->state; }",
	"OWN void next(void) { do now = now->next; while (!now->state); longjmp(now->env, 1); }"
	"OWN int run(struct task *t) { if (!setjmp(t->env)) next(); return t->state; }",
	/* Only if there is another one. */
	"OWN int run(struct task *t) { struct task *n; if (setjmp(t->env)) return 1;"
	" n = t->next; if (n) longjmp(n->env, 1); return 0; }",
	/* Back to a stack that has been copied. */
	"char *at, *copy; size_t size;"
	"OWN int run(void *p) { if (setjmp(first)) return 1; memcpy(copy, p, size);"
	" if (ready) return 2; memcpy(at, copy, size); longjmp(first, 1); }",
	"char *volatile at, *volatile copy; size_t size;"
	"OWN int run(void *p) { volatile char *to = at, *from = copy; if (setjmp(first)) return 1;"
	" if (ready) return 2; for (size_t i = 0; i < size; i++) to[i] = from[i];"
	" longjmp(first, 1); }",
};

/* Error handling: what is skipped never runs again. */
static const char *const others[] = {
	"OWN int run(void *p) { if (setjmp(first)) return 1; puts(\"work\"); return 0; }"
	"void fail(void) { longjmp(first, 1); }",
	/* Thrown in the very function that catches. */
	"OWN int run(void *p) { if (setjmp(first)) return 1; if (ready) longjmp(first, 2);"
	" return 0; }",
	"OWN int run(void *p) { jmp_buf b; if (setjmp(b)) return 1; now = p;"
	" if (ready) longjmp(now->env, 2); return 0; }",
	"OWN void fail(int n) { longjmp(first, n); }"
	"OWN int run(void *p) { if (setjmp(first)) return 1; if (ready) fail(2);"
	" puts(\"work\"); return 0; }",
	/* Thrown on to the handler outside. */
	"OWN int run(struct task *t) { jmp_buf b; int r = setjmp(b); if (r) { puts(\"failed\");"
	" longjmp(t->env, r); } puts(\"work\"); return 0; }",
	"OWN int run(struct task *t) { int r = setjmp(t->env); if (r != 0) { puts(\"failed\");"
	" longjmp(t->next->env, r); } puts(\"work\"); return 0; }",
	/* Work that may do anything, and ends the program by a throw. */
	"int (*volatile work)(void); OWN void leave(int n) { longjmp(*(jmp_buf *)now, n); }"
	"OWN int run(void *p) { jmp_buf b; now = (void *)&b; if (setjmp(b)) return 1;"
	" leave(work()); return 0; }",
	/* Buffers that are put aside, and a message. */
	"OWN int run(void *p) { jmp_buf was; memcpy(was, first, sizeof(was));"
	" if (setjmp(first)) { memcpy(first, was, sizeof(was)); longjmp(first, 1); }"
	" puts(\"work\"); memcpy(first, was, sizeof(was)); return 0; }",
};

static const char *look(const char *code, const char *compiler, const char *flags)
{
	struct elf_image *img;
	const char *out;
	char text[4096];
	int fd;

	snprintf(text, sizeof(text), HEAD "%s" MAIN, code);
	write_text("object.c", text);
	sh("%s -w -U_FORTIFY_SOURCE %s -o object object.c", compiler, flags);
	img = open_path("object", &fd);
	assert_int_equal(jump_swaps__look(img, &out), 0);
	close_image(img, fd);
	return out;
}

static void check(const char *compiler, const char *flags)
{
	for (size_t i = 0; i < sizeof(swap) / sizeof(*swap); i++) {
		if (!look(swap[i], compiler, flags))
			fail_msg("%s %s: not found: %s", compiler, flags, swap[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const char *found = look(others[i], compiler, flags);

		if (found)
			fail_msg("%s %s: %s: %s", compiler, flags, found, others[i]);
	}
}

static void test_gcc(void **state)
{
	check("gcc", "-O0");
	check("gcc", "-O1 -static");
	check("gcc", "-O2");
	check("gcc", "-O2 -static");
	check("gcc", "-O2 -no-pie -fcf-protection=none");
	check("gcc", "-O2 -mstringop-strategy=rep_byte");
	check("gcc", "-O3 -fno-plt");
	check("gcc", "-Os -fcf-protection");
}

static void test_clang(void **state)
{
	check("clang", "-O0");
	check("clang", "-O2");
	check("clang", "-O2 -fno-plt");
	check("clang", "-Os -static");
}

static void use(struct elf_image *img)
{
	const char *out;

	assert_int_equal(jump_swaps__look(img, &out), 0);
}

static void test_damaged(void **state)
{
	assert_non_null(look(swap[0], "gcc", "-O2"));
	for_each_mutant("object", 500, use);
	for_each_cut("object", 199, use);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_gcc), cmocka_unit_test(test_clang),
					   cmocka_unit_test(test_damaged)};

	return cmocka_run_group_tests_name("jump swaps", tests, fixture_make, fixture_clean);
}
