// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans of small programs that are compiled here; objdump says where their exits are. */
#include "elf_fixture.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "plan/exit_strategy.h"
#include "plan/lookups.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "planner/callers.h"
#include "planner/planner.h"
#include "planner/return_claim.h"
#include "select/filter.h"
#include "select/read_code.h"
#include "symbol/symtab.h"
#include "target/target.h"

static const char program[] =
	"void (*volatile hook)(void);\n"
	"__attribute__((noinline, cold)) void sink(int x) { __asm__ volatile(\"call *%1\" :: "
	"\"r\"(x), \"m\"(hook)); }\n"
	"__attribute__((noinline)) int hot(int x)\n"
	"{ if (x < 0) { sink(x); sink(x + 1); return x - 1; } return x * 3; }\n"
	"__attribute__((noinline)) int tail(int x) { return x > 10 ? hot(x - 1) : x; }\n"
	"__attribute__((noinline)) int leaf(int x) { return x * 7; }\n"
	"__attribute__((noinline)) int calls(int x) { sink(x); sink(x + 2); return x; }\n"
	"int same(int x) __attribute__((alias(\"calls\")));\n"
	"static int impl(int x) { return x + 5; }\n"
	"static void *choose(void) { return impl; }\n"
	"int chosen(int) __attribute__((ifunc(\"choose\")));\n"
	"int setjmp(int x) { return x; }\n"
	"__asm__(\".globl calling\\n.type calling,@function\\n\"\n"
	"	\"calling: call leaf\\nret\\n.size calling,.-calling\\n\");\n"
	"__asm__(\".globl sizeless\\n.type sizeless,@function\\nsizeless: ret\\n\");\n"
	"#ifdef LISTS\n"
	"void backtrace(void) {}\n"
	"#endif\n"
	"#ifdef THROWS\n"
	"void __cxa_throw(void) {}\n"
	"#endif\n"
	"int main(int argc, char **argv)\n"
	"{ return tail(argc) + leaf(argc) + hot(argc) + chosen(argc) + calls(argc); }\n";

/* A target of up to two files, the first of them the program. */
static struct target_object objects[2];
static struct target_process process = {.pid = 1, .pidfd = -1};
static struct target target;
static struct plan *plan;
static const char *exits; /* --exits */

static void target_open(const char *path, const char *library)
{
	objects[0] = (struct target_object){.path = (char *)path, .root = "", .is_main = true};
	objects[1] = (struct target_object){.path = (char *)library, .root = ""};
	target = (struct target){.processes = &process, .processes_cnt = 1, .objects = objects};
	for (; target.objects_cnt < (library ? 2 : 1); target.objects_cnt++) {
		struct target_object *obj = &objects[target.objects_cnt];

		obj->fd = open(obj->path, O_RDONLY | O_CLOEXEC);
		assert_true(obj->fd >= 0);
	}
}

static int close_all(void **state)
{
	plan__free(plan);
	plan = NULL;
	exits = NULL;
	for (size_t i = 0; i < target.objects_cnt; i++)
		close(objects[i].fd);
	target.objects_cnt = 0;
	return 0;
}

static bool closes_leaves, emulates, attaches;

/* Plans what `in` matches (NULL: everything), less what `out` does. */
static int plan_with(char *in, char *out)
{
	const struct plan_options opts = {
		.call_nops = CALL_NOPS_5,
		.exits = exits,
		.closes_leaves = closes_leaves,
		.early_exits = emulates,
		.emulates = emulates,
		.attaches = attaches,
	};
	struct filter f;
	int err;

	plan__free(plan);
	plan = NULL;
	assert_int_equal(filter__init(&f, &in, in ? 1 : 0, &out, out ? 1 : 0), 0);
	err = planner__make(&target, &f, &opts, &plan);
	filter__clear(&f);
	return err;
}

/* Plans like plan(), with the log's lines in `text`. */
static int plan_logged(char *in, char *text, size_t size)
{
	int saved = dup(STDERR_FILENO), fd = memfd_create("log", MFD_CLOEXEC), err;
	ssize_t len;

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	err = plan_with(in, NULL);
	unhush(saved);
	len = pread(fd, text, size - 1, 0);
	text[len < 0 ? 0 : len] = '\0';
	close(fd);
	return err;
}

static struct plan_function *function(const char *symbol)
{
	struct plan_function *found = NULL;

	for (size_t i = 0; i < plan->functions_cnt; i++) {
		if (!strcmp(plan->functions[i].symbol, symbol)) {
			assert_null(found);
			found = &plan->functions[i];
		}
	}
	return found;
}

static const char *skip_reason(const char *symbol)
{
	for (size_t i = 0; i < plan->skipped_cnt; i++) {
		if (!strcmp(plan->skipped[i].symbol, symbol))
			return plan->skipped[i].reason;
	}
	return "not skipped";
}

static bool is_exit(const struct plan_function *f, uint64_t offset)
{
	int found = 0;

	for (uint32_t i = 0; i < f->exits_cnt; i++)
		found += plan->exits[f->exits + i].offset == offset;
	assert_true(found <= 1);
	return found;
}

/* Whether a line of objdump's is an instruction that leaves `name`. */
static bool leaves(const char *text, const char *name)
{
	const char *to = strchr(text, '<');
	size_t len = strlen(name);

	if (strstr(text, "ret"))
		return true;
	return text[0] == 'j' && to && (strncmp(to + 1, name, len) || !strchr(".+>", to[len + 1]));
}

/* Compares a function's exits and its offset with the disassembly, cold piece included. */
static void assert_exits(const char *path, const struct plan_function *f)
{
	unsigned long long base = 0, file = 0, at, offset;
	char line[512], name[256] = "", text[256];
	size_t len = strlen(f->symbol);
	uint32_t exits = 0;
	FILE *dump;

	snprintf(line, sizeof(line), "objdump -dF --no-show-raw-insn %s", path);
	dump = popen(line, "r");
	assert_non_null(dump);
	while (fgets(line, sizeof(line), dump)) {
		if (sscanf(line, "%llx <%255[^>]> (File Offset: 0x%llx)", &at, text, &offset) ==
		    3) {
			strcpy(name, text);
			base = at;
			file = offset;
			if (!strcmp(name, f->symbol))
				assert_int_equal(f->offset, file);
			continue;
		}
		if (strncmp(name, f->symbol, len) || (name[len] && strcmp(name + len, ".cold")) ||
		    sscanf(line, " %llx: %255[^\n]", &at, text) != 2 || !leaves(text, f->symbol))
			continue;
		exits++;
		if (!is_exit(f, file + at - base))
			fail_msg("%s: %s is no exit", f->symbol, line);
	}
	assert_int_equal(pclose(dump), 0);
	assert_true(exits > 0);
	assert_int_equal(f->exits_cnt, exits);
}

static void plain_programs_get_return_probes(void **state)
{
	target_open("plain", NULL);
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_non_null(function("main"));
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		const struct plan_function *f = &plan->functions[i];

		assert_int_equal(f->exit, EXIT_RETURN);
		assert_int_equal(f->entry.delta, 0);
		assert_int_equal(f->exits_cnt, 0);
		assert_string_equal(f->reason, "nothing mapped unwinds or switches stacks");
		assert_true(!i || f[-1].offset < f->offset);
	}
	assert_int_equal(plan->exits_cnt, 0);
}

static void programs_that_throw_get_exit_sites(void **state)
{
	static const char *const names[] = {"hot", "tail", "main"};

	target_open("throws", NULL);
	assert_int_equal(plan_with(NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct plan_function *f = function(names[i]);

		assert_non_null(f);
		assert_string_equal(exit_strategy__name(f->exit), "sites");
		assert_string_equal(f->reason, "throws can unwind or switch stacks (__cxa_throw)");
		assert_exits("throws", f);
	}
	assert_true(function("tail")->tail_jumps);
	assert_false(function("main")->tail_jumps);
	/* nothing can be unwound through it */
	assert_int_equal(function("leaf")->exit, EXIT_RETURN);
}

/* Leaves that return at once get no exit probe, and no proof gives them one. */
static void leaves_are_closed_at_entry(void **state)
{
	static const char *const programs[] = {"plain", "throws"};

	for (size_t i = 0; i < 2; i++) {
		const struct plan_function *leaf;

		target_open(programs[i], NULL);
		closes_leaves = true;
		assert_int_equal(plan_with(NULL, NULL), 0);
		leaf = function("leaf");
		assert_int_equal(leaf->exit, EXIT_NONE);
		assert_true(leaf->closed_at_entry > 0);
		assert_int_equal(leaf->leaf_insns, 0);
		assert_int_equal(leaf->exits_cnt, 0);
		assert_int_equal(function("main")->closed_at_entry, 0);
		exits = "return";
		assert_int_equal(plan_with(NULL, NULL), 0);
		assert_int_equal(function("leaf")->closed_at_entry, 0);
		assert_int_equal(function("leaf")->exit, EXIT_RETURN);
		exits = NULL;
		closes_leaves = false;
		assert_int_equal(plan_with(NULL, NULL), 0);
		assert_int_equal(function("leaf")->closed_at_entry, 0);
		close_all(state);
	}
}

static uint32_t emulated(const struct plan_function *f)
{
	uint32_t cnt = 0;

	for (uint32_t i = 0; i < f->exits_cnt; i++) {
		const struct plan_exit *exit = &plan->exits[f->exits + i];

		assert_true(!exit->emulated || (exit->kind == CODE_EXIT_RET && !exit->early));
		cnt += exit->emulated;
	}
	return cnt;
}

/* Each `ret` is, none is seen early then; and none where a process has shadow stacks. */
static void returns_that_are_emulated(void **state)
{
	target_open("throws", NULL);
	emulates = true;
	exits = "sites";
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_string_equal(plan__exit_kind(plan, function("main")), "emulated");
	assert_true(emulated(function("main")) > 0 && emulated(function("leaf")) > 0);
	assert_string_equal(plan__exit_kind(plan, function("leaf")), "emulated");
	target.shadow_stacks = true;
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(emulated(function("leaf")), 0);
	target.shadow_stacks = emulates = false;
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(emulated(function("leaf")), 0);
	assert_string_equal(plan__exit_kind(plan, function("leaf")), "ret");
}

/* Entries are, where the kernel emulates none of their instructions; with the place in the page. */
static void entries_that_are_emulated(void **state)
{
	const struct plan_function *f;

	target_open("throws", NULL);
	emulates = true;
	assert_int_equal(plan_with(NULL, NULL), 0);
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		const struct code_site *entry = &plan->functions[i].entry;
		uint64_t at = plan->functions[i].offset + entry->offset;

		assert_int_equal(entry->site == SITE_EMUL, entry->emulation.length != 0);
		if (entry->site == SITE_EMUL)
			assert_int_equal(entry->emulation.page_offset, at % 4096);
	}
	f = function("leaf"); /* lea 1(%rdi),%eax, or the like */
	assert_string_equal(site_class__name(f->entry.site), "emul");
	assert_int_equal(f->entry.emulation.length, f->entry.size);
	target.shadow_stacks = true;
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_string_equal(site_class__name(function("leaf")->entry.site), "step");
	target.shadow_stacks = emulates = false;
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_string_equal(site_class__name(function("leaf")->entry.site), "step");
	assert_int_equal(function("leaf")->entry.emulation.length, 0);
}

static void cold_pieces_are_no_functions(void **state)
{
	const struct plan_function *hot;
	bool outside = false;

	target_open("throws", NULL);
	assert_int_equal(plan_with("hot*", NULL), 0);
	assert_int_equal(plan->functions_cnt, 1);
	hot = function("hot");
	assert_non_null(hot);
	for (uint32_t i = 0; i < hot->exits_cnt; i++)
		outside |= plan->exits[i].offset - hot->offset >= hot->size;
	assert_true(outside);
}

static void libraries_that_throw_count_too(void **state)
{
	target_open("plain", "libthrows.so");
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_string_equal(exit_strategy__name(function("hot")->exit), "sites");
	assert_string_equal(function("hot")->reason,
			    "libthrows.so can unwind or switch stacks (__cxa_throw)");
	assert_exits("plain", function("hot"));
	assert_int_equal(function("hot")->object, 0);
}

/* Told by its code, as its name says nothing; but for libraries of which we know better. */
static void libraries_that_switch_count_too(void **state)
{
	target_open("plain", "libaside.so");
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_SITES);
	assert_string_equal(
		function("hot")->reason,
		"libaside.so can unwind or switch stacks (a load of the stack pointer)");
	close_all(state);
	target_open("plain", "libffi.so");
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
}

/* Whatever is mapped as code may be run. */
static void what_cannot_be_read_may_unwind(void **state)
{
	target_open("plain", "not-elf");
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_SITES);
	assert_int_equal(function("leaf")->exit, EXIT_SITES);
	assert_non_null(strstr(function("hot")->reason, "not-elf may unwind"));
}

static void unknown_processes_may_throw(void **state)
{
	target_open("plain", NULL);
	target.processes_cnt = 0;
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_string_equal(exit_strategy__name(function("hot")->exit), "sites");
	assert_string_equal(function("hot")->reason,
			    "any process may map it, also one that unwinds");
}

static void what_is_no_function_is_skipped(void **state)
{
	target_open("plain", NULL);
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_string_equal(skip_reason("_start"), "is not called like a function");
	assert_string_equal(skip_reason("setjmp"), "saves or replaces its caller's context");
	assert_string_equal(skip_reason("sizeless"), "its size is unknown");
	/* the resolver has both names */
	assert_null(function("chosen"));
	assert_null(function("choose"));
	assert_string_equal(skip_reason("choose"), "is an IFUNC resolver");
	assert_int_equal(plan_with("s*", "sizeless"), 0);
	assert_string_equal(skip_reason("sizeless"), "not skipped");
	assert_string_equal(skip_reason("setjmp"), "saves or replaces its caller's context");
}

static void aliases_are_one_function(void **state)
{
	const struct plan_function *f;

	target_open("plain", NULL);
	assert_int_equal(plan_with("same", NULL), 0);
	assert_int_equal(plan->functions_cnt, 1);
	f = &plan->functions[0];
	assert_int_equal(f->aliases_cnt, 1);
	assert_true(!strcmp(f->symbol, "calls") || !strcmp(f->symbol, "same"));
	assert_string_not_equal(f->symbol, f->aliases[0]);
}

/* Symbols of a file are read once, for the plan and for stacks that its functions are met on; those
 * of a file without any planned function as it is met. */
static void stacks_have_the_plans_symbols(void **state)
{
	struct plan_callers callers = {0};
	const struct symtab *tab;
	const struct symbol *met = NULL;
	uint32_t number;

	target_open("plain", "libthrows.so");
	assert_int_equal(plan_with("leaf", NULL), 0);
	assert_int_equal(plan->functions_cnt, 1);
	tab = plan->objects[0].tab;
	assert_null(plan->objects[1].tab);
	for (size_t i = 0; i < symtab__count(tab); i++) {
		if (!strcmp(symtab__at(tab, i)->name, "hot"))
			met = symtab__at(tab, i);
	}
	assert_non_null(met);
	assert_int_equal(plan_callers__find(&callers, plan, &target, 0, met->vaddr + 1, &number),
			 0);
	assert_int_equal(number, 1);
	assert_ptr_equal(plan->functions[number].symbol, met->name);
	assert_int_equal(plan_callers__find(&callers, plan, &target, 0, met->vaddr, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(plan_callers__find(&callers, plan, &target, 1, 0, &number), 0);
	assert_string_equal(plan->functions[number].symbol, "[libthrows.so]");
	plan_callers__free(&callers);
}

static void names_are_demangled_when_asked_for(void **state)
{
	target_open("libthrows.so", NULL);
	assert_int_equal(plan_with("ns::twice", NULL), 0);
	assert_string_equal(plan->functions[0].symbol, "_ZN2ns5twiceEi");
	assert_string_equal(plan__name(plan, 0), "ns::twice(int)");
	assert_string_equal(plan__name(plan, 0), "ns::twice(int)");
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_true(plan->skipped_cnt > 0);
	assert_string_equal(plan__skip_name(plan, 0), plan->skipped[0].symbol);
}

/* Names grow as they are demangled: what all of them take together is bounded. */
static void names_are_bounded(void **state)
{
	/* A<A<...>, A<...>>, ten times over: 109 bytes for 34 kB */
	static const char symbol[] = "_Z1f1AIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_E"
				     "S_IS5_S5_ES_IS6_S6_ES_IS7_S7_ES_IS8_S8_ES_IS9_S9_E";
	enum { CNT = 12000 };
	struct plan_lookups lookups = {.places = NULL};
	struct plan many = {.functions = calloc(CNT, sizeof(*many.functions)),
			    .functions_cnt = CNT,
			    .lookups = &lookups};
	uint64_t bytes = 0;

	assert_non_null(many.functions);
	for (size_t i = 0; i < CNT; i++) {
		const char *name;

		many.functions[i].symbol = symbol;
		name = plan__name(&many, i);
		if (!i)
			assert_true(strlen(name) > 30000);
		bytes += name == symbol ? 0 : strlen(name);
	}
	assert_in_range(bytes, 1, 300 << 20);
	for (size_t i = 0; i < lookups.functions.cnt; i++)
		free(lookups.functions.items[i]);
	free(lookups.functions.items);
	free(many.functions);
}

/* 150,000 names that may begin a pair, and none that ends one: to look for that among all symbols,
 * for each, takes minutes. */
static void halves_of_pairs_are_bounded(void **state)
{
	const struct rlimit cpu = {20, 20};
	int status;
	pid_t pid;

	compile("libhalves.so", "halves.s",
		".text\n.macro half\n__start_\\@: ret\n.endm\n.rept 150000\n half\n.endr\n"
		".globl __start_pair, __stop_pair\n__start_pair: ret\n__stop_pair: ret\n"
		".section .note.GNU-stack,\"\"\n",
		"-shared -nostdlib");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct read_code read = {0};
		struct elf_image *img;
		struct symtab *tab;
		int fd;

		setrlimit(RLIMIT_CPU, &cpu);
		img = open_path("libhalves.so", &fd);
		if (symtab__load(img, "", &tab) || symtab__count(tab) < 150000)
			_exit(1);
		_exit(read_code__find(&read, tab) ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %#x", status);
}

static void entries_skip_endbr64(void **state)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const struct plan_function *f;
	uint8_t bytes[5];

	target_open("endbr", NULL);
	assert_int_equal(plan_with("main", NULL), 0);
	f = &plan->functions[0];
	assert_int_equal(pread(objects[0].fd, bytes, 5, f->offset), 5);
	assert_memory_equal(bytes, endbr, 4);
	assert_int_equal(bytes[4] & 0xf8, 0x50);
	assert_int_equal(f->entry.offset, 4);
	assert_string_equal(site_class__name(f->entry.site), "push");
}

static void nothing_matches(void **state)
{
	char text[1024];
	int saved;

	target_open("plain", "libthrows.so");
	assert_int_equal(plan_logged("lief", text, sizeof(text)), -ENOENT);
	assert_non_null(strstr(text, "no function matches 'lief'; the nearest: leaf"));
	assert_int_equal(plan_logged("zzzzzzzzzzzz", text, sizeof(text)), -ENOENT);
	assert_non_null(strstr(text, "no function matches 'zzzzzzzzzzzz'"));
	assert_int_equal(plan_logged("libnone.so:f", text, sizeof(text)), -ENOENT);
	assert_non_null(strstr(text, "no mapped file matches 'libnone.so'"));
	assert_int_equal(plan_logged("libthrows.so:ns::twise", text, sizeof(text)), -ENOENT);
	assert_non_null(strstr(text, "the nearest: ns::twice\n"));
	assert_int_equal(plan_logged("_start", text, sizeof(text)), -ENOENT);
	assert_non_null(strstr(text, "_start: is not called like a function"));
	/* matched, but taken out again */
	saved = hush();
	assert_int_equal(plan_with("leaf", "leaf"), -ENOENT);
	unhush(saved);
}

static void stripped_programs(void **state)
{
	char text[1024];

	target_open("stripped", NULL);
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_true(plan->functions_cnt > 0);
	for (size_t i = 0; i < plan->functions_cnt; i++) {
		assert_ptr_equal(strstr(plan->functions[i].symbol, "func_0x"),
				 plan->functions[i].symbol);
		/* By its code it is an ordinary one: see test_return_safety.c. */
		assert_int_equal(plan->functions[i].exit, EXIT_RETURN);
	}
}

static void programs_without_functions(void **state)
{
	char text[1024];

	target_open("data-alone", NULL);
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), -ENOENT);
	assert_non_null(strstr(text, "data-alone has no function symbols"));
}

static void main_programs_must_be_elf(void **state)
{
	int saved = hush();

	target_open("not-elf", NULL);
	assert_int_equal(plan_with(NULL, NULL), -ENOEXEC);
	unhush(saved);
}

#define MANY 2000

/* Function i has i % 5 + 1 returns and makes a call, so that it gets exit sites. */
static void make_many(void)
{
	FILE *f = fopen("many.s", "w");

	assert_non_null(f);
	fprintf(f, ".data\n.quad __cxa_throw\n.section .note.GNU-stack,\"\"\n.text\n");
	for (int i = 0; i < MANY; i++) {
		fprintf(f, ".type many%d,@function\nmany%d: push %%rbx\n call *%%rax\n", i, i);
		for (int k = 0; k < i % 5; k++)
			fprintf(f, " cmp $%d,%%edi\n jne 1f\n pop %%rbx\n ret\n1:\n", k);
		fprintf(f, " pop %%rbx\n ret\n9: ret\n.size many%d,.-many%d-1\n", i, i);
	}
	assert_int_equal(fclose(f), 0);
	sh("gcc -shared -o many many.s");
}

static void many_functions_come_in_order(void **state)
{
	size_t exits = 0;

	target_open("many", NULL);
	assert_int_equal(plan_with("many*", NULL), 0);
	assert_int_equal(plan->functions_cnt, MANY);
	for (size_t i = 0; i < MANY; i++) {
		const struct plan_function *f = &plan->functions[i];
		char name[16];

		snprintf(name, sizeof(name), "many%zu", i);
		assert_string_equal(f->symbol, name);
		assert_int_equal(f->exit, EXIT_SITES);
		assert_int_equal(f->exits, exits);
		assert_int_equal(f->exits_cnt, i % 5 + 1);
		for (size_t k = 0; k < f->exits_cnt; k++, exits++)
			assert_true(plan->exits[exits].offset - f->offset < f->size);
		assert_int_equal(plan->exits[exits - 1].offset, f->offset + f->size - 1);
	}
	assert_int_equal(plan->exits_cnt, exits);
}

static void plans_are_always_the_same(void **state)
{
	struct plan *first;

	target_open("many", NULL);
	assert_int_equal(plan_with("many*", NULL), 0);
	first = plan;
	plan = NULL;
	for (int round = 0; round < 5; round++) {
		assert_int_equal(plan_with("many*", NULL), 0);
		assert_int_equal(plan->exits_cnt, first->exits_cnt);
		for (size_t i = 0; i < first->exits_cnt; i++)
			assert_int_equal(plan->exits[i].offset, first->exits[i].offset);
		for (size_t i = 0; i < MANY; i++) {
			const struct plan_function *a = &first->functions[i];
			const struct plan_function *b = &plan->functions[i];

			assert_string_equal(a->symbol, b->symbol);
			assert_int_equal(a->offset, b->offset);
			assert_int_equal(a->entry.offset, b->entry.offset);
			assert_int_equal(a->exits, b->exits);
		}
	}
	plan__free(first);
}

static void forced_exits(void **state)
{
	char text[4096];

	target_open("throws", NULL);
	exits = "return";
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
	assert_string_equal(function("hot")->reason, "--exits=return");
	assert_non_null(strstr(text, "--exits=return may kill the target: throws can unwind"));
	assert_non_null(strstr(text, "(__cxa_throw)"));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	assert_int_equal(function("__cxa_throw")->exit, EXIT_SITES);
	exits = "none";
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_int_equal(function("hot")->exit, EXIT_NONE);
	assert_int_equal(plan->exits_cnt, 0);
	assert_string_equal(text, "");
	close_all(state);

	target_open("plain", NULL);
	exits = "sites";
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_SITES);
	assert_exits("plain", function("hot"));
	exits = "return";
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_string_equal(text, "");
}

/* A program that merely lists its callers hears less of them, and lives. The graver of two reasons
 * is given, wherever it is found. */
static void programs_that_list_their_callers(void **state)
{
	char text[4096];

	target_open("lists", NULL);
	exits = "return";
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_non_null(strstr(
		text, "--exits=return cuts short the lists of callers that the target prints"));
	assert_non_null(strstr(text, "lists lists its callers, perhaps in the log of a crash"));
	exits = NULL;
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(function("main")->exit, EXIT_SITES);
	close_all(state);
	target_open("lists", "libthrows.so");
	exits = "return";
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "may kill the target: libthrows.so can unwind"));
}

static void kernels_that_kill(void **state)
{
	char text[4096];

	target_open("plain", NULL);
	target.hazard = "this kernel kills";
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(function("leaf")->exit, EXIT_SITES);
	assert_string_equal(function("hot")->reason, "this kernel kills");
	exits = "return";
	assert_int_equal(plan_logged(NULL, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "may kill the target: this kernel kills\n"));
}

/* Another run, which has opened the file by itself, has claimed it. */
static void files_that_another_run_has_claimed(void **state)
{
	int other;
	char text[4096];

	target_open("plain", NULL);
	other = open("plain", O_RDONLY | O_CLOEXEC);
	assert_true(return_claim__take(other));
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
	target.lists_returns = true;
	assert_int_equal(plan_logged("hot", text, sizeof(text)), 0);
	assert_int_equal(function("hot")->exit, EXIT_SITES);
	assert_non_null(strstr(function("hot")->reason, "another run has return probes"));
	assert_exits("plain", function("hot"));
	assert_non_null(strstr(text, "plain has return probes of another run already"));
	exits = "return";
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_SITES);
	close(other);
	assert_int_equal(plan_logged("hot", text, sizeof(text)), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
	assert_string_equal(text, "");
}

/* Only who attaches claims, and only where there are return probes. */
static void files_that_are_claimed(void **state)
{
	int other;

	target_open("plain", NULL);
	target.lists_returns = true;
	other = open("plain", O_RDONLY | O_CLOEXEC);
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_true(return_claim__is_free(other));
	attaches = true;
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_false(return_claim__is_free(other));
	close_all(state);
	target_open("plain", NULL);
	target.lists_returns = true;
	exits = "sites";
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_true(return_claim__is_free(other));
	attaches = false;
	close(other);
}

/* Links that are bound to one process each: whoever may fork then has no return probes. */
static void bound_links(void **state)
{
	const struct plan_options opts = {.returns_stop = true, .early_exits = true};

	target_open("plain", NULL);
	assert_int_equal(plan_with("hot", NULL), 0);
	assert_int_equal(planner__bind(plan, &target, &opts, 0, false), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
	target.lists_returns = true;
	assert_int_equal(planner__bind(plan, &target, &opts, 0, false), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
	plan->may_fork = true;
	assert_int_equal(planner__bind(plan, &target, &opts, 0, false), 0);
	assert_int_equal(function("hot")->exit, EXIT_SITES);
	assert_non_null(strstr(function("hot")->reason, "bound to its process"));
	assert_true(function("hot")->exits_cnt > 0);
}

/* Another tool has return probes there: exits of all functions are seen otherwise from then on. */
static void returns_that_are_given_up(void **state)
{
	const struct plan_options opts = {.returns_stop = true, .early_exits = true};

	target_open("plain", NULL);
	assert_int_equal(plan_with(NULL, NULL), 0);
	assert_int_equal(function("hot")->exit, EXIT_RETURN);
	assert_int_equal(planner__give_up_returns(plan, &target, &opts), 0);
	assert_false(plan__uses_returns(plan));
	assert_true(plan->returns_replaced);
	assert_exits("plain", function("hot"));
}

/* Under shadow stacks its only site is none. */
static void calls_under_shadow_stacks(void **state)
{
	target_open("plain", NULL);
	assert_int_equal(plan_with("calling", NULL), 0);
	assert_int_equal(function("calling")->entry.site, SITE_CALL);
	target.shadow_stacks = true;
	assert_int_equal(plan_with(NULL, NULL), 0);
	target.shadow_stacks = false;
	assert_null(function("calling"));
	assert_non_null(function("hot"));
	for (size_t i = 0; i < plan->skipped_cnt; i++) {
		if (!strcmp(plan->skipped[i].symbol, "calling"))
			assert_non_null(strstr(plan->skipped[i].reason, "shadow stacks"));
	}
}

/* The function's first instruction moves the stack pointer and takes no probe. */
static void no_site_for_return_probes(void **state)
{
	target_open("moved", NULL);
	assert_int_equal(plan_with("moved", NULL), 0);
	assert_int_equal(function("moved")->exit, EXIT_SITES);
	assert_int_equal(function("moved")->entry.delta, 8);
	assert_non_null(strstr(function("moved")->reason, "the stack pointer has moved"));
	exits = "return";
	assert_int_equal(plan_with("moved", NULL), 0);
	assert_int_equal(function("moved")->exit, EXIT_SITES);
}

static int make_programs(void **state)
{
	if (fixture_make(state))
		return -1;
	write_text("not-elf", "#!/bin/sh\n");
	compile("plain", "program.c", program, "-O2 -fcf-protection=none");
	compile("lists", "program.c", program, "-O2 -fcf-protection=none -DLISTS");
	compile("stripped", "bare.c", "int main(void) { return 0; }\n", "-s");
	compile("data-alone", "data.c", "__asm__(\".globl _start\\n_start: hlt\");\n",
		"-nostdlib -static -s");
	sh("gcc -o throws program.c -O2 -fcf-protection=none -DTHROWS");
	sh("gcc -o endbr program.c -O2 -fcf-protection=branch");
	write_text("lib.cpp", "namespace ns { int twice(int x) { if (x) throw x; return x; } }\n");
	sh("g++ -shared -fPIC -O2 -o libthrows.so lib.cpp");
	sh("printf 'aside: mov %%%%rsp, (%%%%rdi)\\nmov %%%%rsi, %%%%rsp\\nret\\n' > aside.s");
	sh("gcc -shared -Wl,-z,noexecstack -o libaside.so aside.s");
	sh("gcc -shared -Wl,-z,noexecstack,-soname,libffi.so.8 -o libffi.so aside.s");
	make_many();
	compile("moved", "moved.c",
		"__asm__(\".globl moved\\n.type moved,@function\\nmoved: .byte 0x2e\\n push "
		"%rbx\\n jne 1f\\n1: \"\n"
		"	\"pop %rax\\n ret\\n.size moved,.-moved\\n\");\n"
		"int main(void) { return 0; }\n",
		"-O2");
	return 0;
}

#define TEST(f) cmocka_unit_test_teardown(f, close_all)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(plain_programs_get_return_probes),
		TEST(programs_that_throw_get_exit_sites),
		TEST(leaves_are_closed_at_entry),
		TEST(returns_that_are_emulated),
		TEST(entries_that_are_emulated),
		TEST(cold_pieces_are_no_functions),
		TEST(libraries_that_throw_count_too),
		TEST(libraries_that_switch_count_too),
		TEST(what_cannot_be_read_may_unwind),
		TEST(unknown_processes_may_throw),
		TEST(what_is_no_function_is_skipped),
		TEST(aliases_are_one_function),
		TEST(stacks_have_the_plans_symbols),
		TEST(names_are_demangled_when_asked_for),
		TEST(names_are_bounded),
		TEST(halves_of_pairs_are_bounded),
		TEST(entries_skip_endbr64),
		TEST(nothing_matches),
		TEST(stripped_programs),
		TEST(programs_without_functions),
		TEST(main_programs_must_be_elf),
		TEST(forced_exits),
		TEST(programs_that_list_their_callers),
		TEST(kernels_that_kill),
		TEST(files_that_another_run_has_claimed),
		TEST(files_that_are_claimed),
		TEST(bound_links),
		TEST(returns_that_are_given_up),
		TEST(calls_under_shadow_stacks),
		TEST(no_site_for_return_probes),
		TEST(many_functions_come_in_order),
		TEST(plans_are_always_the_same),
	};

	return cmocka_run_group_tests(tests, make_programs, fixture_clean);
}
