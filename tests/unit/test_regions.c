// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions in the plan: names that pair, code that may be pushed over, plans of small programs. */
#include "arch/arch.h"
#include "elf_fixture.h"

#include <errno.h>

#include "code/red_zone.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "regions/regions.h"
#include "select/filter.h"
#include "select/probe_name.h"
#include "select/usdt_pattern.h"
#include "symbol/usdt.h"
#include "target/target.h"

static void expect_name(struct probe_name name, enum probe_role role, size_t len)
{
	assert_int_equal(name.role, role);
	assert_int_equal(name.len, len);
}

static void test_own_names(void **state)
{
	enum probe_role role;

	expect_name(probe_name__own("parse__begin"), PROBE_BEGIN, 5);
	expect_name(probe_name__own("parse__end"), PROBE_END, 5);
	expect_name(probe_name__own("a b: c__begin__end"), PROBE_END, 13);
	expect_name(probe_name__own("parse_begin"), PROBE_MARK, 11);
	expect_name(probe_name__own("parse__start"), PROBE_MARK, 12);
	expect_name(probe_name__own("__begin"), PROBE_MARK, 7);
	expect_name(probe_name__own(""), PROBE_MARK, 0);
	assert_string_equal(probe_name__of_function("proftrace_begin_x", &role), "x");
	assert_int_equal(role, PROBE_BEGIN);
	assert_string_equal(probe_name__of_function("main.proftrace_end_a_b", &role), "a_b");
	assert_int_equal(role, PROBE_END);
	assert_null(probe_name__of_function("proftrace_begin_", &role));
	assert_null(probe_name__of_function("my_proftrace_begin_x", &role));
	assert_string_equal(probe_name__of_function("main.proftrace_begin_x.abi0", &role),
			    "x.abi0");
	assert_true(probe_name__is_assembly("main.proftrace_begin_x.abi0"));
	assert_false(probe_name__is_assembly("main.proftrace_begin_x"));
}

static void test_foreign_names(void **state)
{
	expect_name(probe_name__foreign("query__start"), PROBE_BEGIN, 5);
	expect_name(probe_name__foreign("query__done"), PROBE_END, 5);
	expect_name(probe_name__foreign("function-entry"), PROBE_BEGIN, 8);
	expect_name(probe_name__foreign("function_return"), PROBE_END, 8);
	expect_name(probe_name__foreign("transaction__commit"), PROBE_END, 11);
	expect_name(probe_name__foreign("map_completed"), PROBE_END, 3);
	expect_name(probe_name__foreign("restart"), PROBE_MARK, 7);
	expect_name(probe_name__foreign("start"), PROBE_MARK, 5);
	expect_name(probe_name__foreign("_start"), PROBE_MARK, 6);
	expect_name(probe_name__foreign("__start"), PROBE_BEGIN, 1);
	expect_name(probe_name__foreign("friend"), PROBE_MARK, 6);
}

static void test_patterns(void **state)
{
	const struct filter_object obj = {"/usr/lib/libshop.so.1", "", false};
	const struct usdt_probe start = {.provider = "shop", .name = "order__start"};
	const struct usdt_probe done = {.provider = "shop", .name = "order__done"};
	char *good[] = {"other:*", "libshop*:shop:ord*", " shop:x ->  shop:order__done "};
	char *bad[] = {"shop", ":", "shop:", ":x", "a:b ->", "-> a:b", ":shop:x"};
	struct usdt_patterns u;
	enum probe_role role;
	int saved;

	assert_int_equal(usdt_patterns__parse(&u, good, 3), 0);
	assert_null(u.items[0].object);
	assert_string_equal(u.items[1].object, "libshop*");
	assert_string_equal(u.items[2].name, "x");
	assert_string_equal(u.items[2].end_name, "order__done");
	assert_ptr_equal(usdt_patterns__match(&u, &obj, &start, &role), &u.items[1]);
	assert_int_equal(role, PROBE_MARK);
	assert_false(u.items[2].end_matched);
	assert_ptr_equal(usdt_patterns__match(&u, &obj, &done, &role), &u.items[1]);
	assert_true(u.items[2].end_matched);
	assert_false(u.items[0].matched || u.items[2].matched);
	usdt_patterns__clear(&u);
	assert_int_equal(usdt_patterns__parse(&u, good + 2, 1), 0);
	assert_ptr_equal(usdt_patterns__match(&u, &obj, &done, &role), &u.items[0]);
	assert_int_equal(role, PROBE_END);
	usdt_patterns__clear(&u);
	saved = hush();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(usdt_patterns__parse(&u, &bad[i], 1), -EINVAL);
	unhush(saved);
}

/* The proof of the bytes that the assembly makes. */
static bool unused(const char *assembly, bool split)
{
	struct red_zone_proof proof;
	uint8_t *code;
	size_t len;

	write_text("proof.s", assembly);
	sh("as -o proof.o proof.s && objcopy -O binary -j .text proof.o proof.bin");
	code = read_bytes("proof.bin", &len);
	proof = red_zone__prove(&arch_x86_64, code, len, split);
	free(code);
	assert_non_null(proof.reason);
	return proof.unused;
}

static void test_red_zone(void **state)
{
	/* A function that calls keeps nothing there, wherever the rest of it is. */
	assert_true(unused("sub $8,%rsp\nxor %eax,%eax\ncall .\nadd $8,%rsp\nret\n", false));
	assert_true(unused("mov %rdi,%rbx\ncall *%rax\nmov %rsp,%rbp\nret\n", true));
	/* A profiling hook's call says nothing, before or behind a frame is set up. */
	assert_false(unused("call .\nmov %edi,-8(%rsp)\nret\n", false));
	assert_false(unused("endbr64\ncall *0(%rip)\nmov %edi,-8(%rsp)\nret\n", false));
	assert_false(unused("push %rbp\nmov %rsp,%rbp\ncall .\nmov %edi,-8(%rbp)\nret\n", false));
	/* Leaves. */
	assert_true(unused("lea 1(%rdi),%rax\nnop\nret\n", false));
	assert_false(unused("push %rbx\nmov (%rsp,%rdi),%rax\npop %rbx\nret\n", false));
	assert_true(unused("push %rbx\nmov 8(%rsp),%rbx\npop %rbx\nret\n", false));
	assert_true(unused("sub $0x80,%rsp\nmov %edi,8(%rsp)\nadd $0x80,%rsp\nret\n", false));
	assert_false(unused("mov %edi,-8(%rsp)\nret\n", false));
	assert_false(unused("movups %xmm0,-0x78(%rsp)\nret\n", false));
	assert_false(unused("lea -8(%rsp),%rax\nmov %edi,(%rax)\nret\n", false));
	assert_false(unused("mov %rsp,%rax\nmov %edi,-8(%rax)\nret\n", false));
	assert_false(unused("push %rsp\npop %rax\nret\n", false));
	assert_false(unused("push %rbp\nmov %rsp,%rbp\nmov %edi,-4(%rbp)\npop %rbp\nret\n", false));
	assert_false(unused("xchg %rsp,%rax\nret\n", false));
	/* Cases in which that is not known. */
	assert_false(unused("lea 1(%rdi),%rax\nnop\nret\n", true));
	assert_false(unused("test %edi,%edi\njne .+0x100\nret\n", false));
	assert_false(unused("jmp *%rax\n", false));
	assert_false(unused("jmp 1f\n.byte 0xe8\n1: ret\n", false));
	assert_false(unused("ret\n.byte 0x06\n", false));
	assert_true(unused("1: dec %edi\njne 1b\nret\n", false));
	assert_false(red_zone__prove(&arch_x86_64, NULL, 0, true).unused);
}

static const char program[] =
	"#include <sys/sdt.h>\n"
	"__attribute__((noipa)) int other(int x) { __asm__ volatile(\"\"); return x; }\n"
	"#define OWN(name) __asm__ volatile(\"990: nop\\n.byte 0x0f,0x1f,0x44,0,0\\n\" \\\n"
	"	\".pushsection .note.stapsdt,\\\"?\\\",\\\"note\\\"\\n.balign 4\\n\" \\\n"
	"	\".4byte 992f-991f,994f-993f,3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n\" "
	"\\\n"
	"	\"993: .8byte 990b,0,0\\n.asciz \\\"proftrace\\\"\\n.asciz \\\"\" name "
	"\"\\\"\\n.asciz \\\"\\\"\\n\" \\\n"
	"	\"994: .balign 4\\n.popsection\\n\")\n"
	"#define TEN(name) __asm__ volatile(\"990: nop\\n\" \\\n"
	"	\".byte 0x66,0x2e,0x0f,0x1f,0x84,0,0,0,0,0\\n\" \\\n"
	"	\".pushsection .note.stapsdt,\\\"?\\\",\\\"note\\\"\\n.balign 4\\n\" \\\n"
	"	\".4byte 992f-991f,994f-993f,3\\n991: .asciz \\\"stapsdt\\\"\\n992: .balign 4\\n\" "
	"\\\n"
	"	\"993: .8byte 990b,0,0\\n.asciz \\\"proftrace\\\"\\n.asciz \\\"\" name "
	"\"\\\"\\n.asciz \\\"\\\"\\n\" \\\n"
	"	\"994: .balign 4\\n.popsection\\n\")\n"
	"void proftrace_begin_by_symbol(void) { other(1); }\n"
	"void proftrace_end_by_symbol(void) { other(2); }\n"
	"int calls(int x) { OWN(\"both__begin\"); x += other(x); OWN(\"both__end\"); return x + "
	"other(2); }\n"
	"int more(int x) { OWN(\"both__begin\"); x += other(x); OWN(\"both__end\"); return x + "
	"other(3); }\n"
	"int leaf(int x) { volatile int a[4]; a[x & 3] = x; OWN(\"spot\"); return a[0]; }\n"
	"int single(int x) { OWN(\"lone__begin\"); OWN(\"lost__end\"); return other(x); }\n"
	"__attribute__((aligned(64))) int tens(int x)\n"
	"{ volatile int a[4]; a[x & 3] = x; TEN(\"ten\"); return a[0]; }\n"
	"int foreign(int x) { DTRACE_PROBE(shop, order__start); x += other(x);\n"
	"	DTRACE_PROBE(shop, order__done); DTRACE_PROBE(shop, order__abort);\n"
	"	DTRACE_PROBE(shop, door__entry); return x; }\n"
	"int main(int argc, char **argv)\n"
	"{ proftrace_begin_by_symbol(); proftrace_end_by_symbol();\n"
	"  return calls(argc) + more(argc) + leaf(argc) + single(argc) + foreign(argc); }\n";

static struct target_object object;
static struct target_process process = {.pid = 1, .pidfd = -1};
static struct target target = {
	.processes = &process, .processes_cnt = 1, .objects = &object, .objects_cnt = 1};

static enum call_nops call_nops = CALL_NOPS_5;

static struct plan *plan_of(char *in, char *out, char *usdt, int expected)
{
	struct usdt_patterns patterns;
	struct plan_options opts = {.call_nops = call_nops, .usdt = usdt ? &patterns : NULL};
	struct plan *p = NULL;
	struct filter f;
	int saved = hush();

	assert_int_equal(filter__init(&f, &in, in != NULL, &out, out != NULL), 0);
	if (usdt)
		assert_int_equal(usdt_patterns__parse(&patterns, &usdt, 1), 0);
	assert_int_equal(planner__make(&target, &f, &opts, &p), expected);
	if (usdt)
		usdt_patterns__clear(&patterns);
	filter__clear(&f);
	unhush(saved);
	return p;
}

static const struct plan_function *find(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->functions_cnt; i++) {
		if (!strcmp(p->functions[i].symbol, name))
			return &p->functions[i];
	}
	return NULL;
}

static void expect_sites(const struct plan *p, const char *name, enum plan_kind kind,
			 uint32_t begins, uint32_t ends, enum site_class site)
{
	const struct plan_function *f = find(p, name);

	assert_non_null(f);
	assert_int_equal(f->kind, kind);
	assert_int_equal(f->begins_cnt, begins);
	assert_int_equal(f->ends_cnt, ends);
	assert_int_equal(f->entry.site, site);
	for (uint32_t i = 0; i < begins + ends; i++)
		assert_true(p->sites[f->sites + i].offset > 0);
}

static void test_plan(void **state)
{
	struct plan *p = plan_of(NULL, NULL, NULL, 0);

	expect_sites(p, "both", PLAN_REGION, 2, 2, SITE_NOP5);
	expect_sites(p, "spot", PLAN_MARK, 1, 0, SITE_NOP);
	/* The function jumps elsewhere, so nothing is proven, but is entered there. */
	expect_sites(p, "lone", PLAN_REGION, 1, 0, SITE_NOP5);
	assert_int_equal(find(p, "single")->entry.site, SITE_NOP5);
	assert_int_equal(find(p, "single")->offset + find(p, "single")->entry.offset,
			 p->sites[find(p, "lone")->sites].offset);
	expect_sites(p, "by_symbol", PLAN_REGION, 1, 1, SITE_STEP);
	assert_int_equal(p->sites[find(p, "by_symbol")->sites].up, 8);
	assert_true(p->sites[find(p, "by_symbol")->sites].called);
	/* By the unwind tables: where it ends, between calls, the stack is aligned for these. */
	for (size_t i = 2; i < 4; i++) {
		const struct plan_site *site = &p->sites[find(p, "both")->sites + i];

		assert_false(site->called || site->by_frame_pointer);
		assert_int_equal(site->up % 16, 8);
	}
	assert_null(find(p, "lost"));
	assert_null(find(p, "proftrace_begin_by_symbol"));
	assert_null(find(p, "shop:order"));
	assert_non_null(find(p, "calls"));
	for (size_t i = 0; i < p->skipped_cnt; i++) {
		if (!strcmp(p->skipped[i].symbol, "lost"))
			assert_string_equal(p->skipped[i].reason, "nothing begins it");
	}
	plan__free(p);
}

/* On 7.2 the single nop before the one of five bytes is probed, and the one of ten bytes behind
 * another one, whatever is below the stack pointer there. */
static void test_nops_of_ten_bytes(void **state)
{
	struct plan *p = plan_of(NULL, NULL, NULL, 0);
	uint64_t single = p->sites[find(p, "ten")->sites].offset;

	expect_sites(p, "ten", PLAN_MARK, 1, 0, SITE_NOP);
	plan__free(p);
	call_nops = CALL_NOPS_10;
	p = plan_of(NULL, NULL, NULL, 0);
	call_nops = CALL_NOPS_5;
	expect_sites(p, "ten", PLAN_MARK, 1, 0, SITE_NOP10);
	assert_int_equal(p->sites[find(p, "ten")->sites].offset, single + 1);
	expect_sites(p, "both", PLAN_REGION, 2, 2, SITE_NOP);
	expect_sites(p, "spot", PLAN_MARK, 1, 0, SITE_NOP);
	plan__free(p);
}

static void test_filters(void **state)
{
	struct plan *p = plan_of("region:both", NULL, NULL, 0);

	assert_int_equal(p->functions_cnt, 1);
	plan__free(p);
	p = plan_of("region:lone", NULL, NULL, 0);
	expect_sites(p, "lone", PLAN_REGION, 1, 0, SITE_NOP);
	plan__free(p);
	p = plan_of("calls", NULL, NULL, 0);
	assert_int_equal(p->functions_cnt, 1);
	plan__free(p);
	p = plan_of(NULL, "region:b*", NULL, 0);
	assert_null(find(p, "both"));
	assert_null(find(p, "by_symbol"));
	assert_non_null(find(p, "spot"));
	plan__free(p);
	assert_null(plan_of("region:nothing", NULL, NULL, -ENOENT));
}

static void test_usdt(void **state)
{
	struct plan *p = plan_of("calls", NULL, "shop:*", 0);

	assert_int_equal(p->functions_cnt, 3);
	expect_sites(p, "shop:order", PLAN_REGION, 1, 2, SITE_NOP);
	expect_sites(p, "shop:door__entry", PLAN_MARK, 1, 0, SITE_NOP);
	plan__free(p);
	p = plan_of("calls", "region:shop:door*", "shop:*", 0);
	assert_int_equal(p->functions_cnt, 2);
	plan__free(p);
	p = plan_of("calls", NULL, "shop:door__entry -> shop:order__done", 0);
	expect_sites(p, "shop:door__entry", PLAN_REGION, 1, 1, SITE_NOP);
	plan__free(p);
	p = plan_of("calls", NULL, "shop:order__start", 0);
	expect_sites(p, "shop:order__start", PLAN_MARK, 1, 0, SITE_NOP);
	plan__free(p);
}

static int make_program(void **state)
{
	if (fixture_make(state))
		return -1;
	compile("program", "program.c", program, "-O2");
	object = (struct target_object){.path = "program", .root = "", .is_main = true};
	object.fd = open("program", O_RDONLY | O_CLOEXEC);
	return object.fd < 0;
}

static int clean(void **state)
{
	close(object.fd);
	return fixture_clean(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_names),	  cmocka_unit_test(test_foreign_names),
		cmocka_unit_test(test_patterns),	  cmocka_unit_test(test_red_zone),
		cmocka_unit_test(test_nops_of_ten_bytes), cmocka_unit_test(test_plan),
		cmocka_unit_test(test_filters),		  cmocka_unit_test(test_usdt),
	};

	return cmocka_run_group_tests(tests, make_program, clean);
}
