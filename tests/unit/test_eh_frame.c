// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind ranges, exception tables and imports of files that are compiled here, whole and damaged.
 */
#include "elf_fixture.h"

#include <elf.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "elf/linkage.h"
#include "symbol/symtab.h"
#include "unwind/eh_frame.h"

/* In assembly, for then the exception table is known to the byte. */
static const char tables[] =
	".text\n"
	".globl plain, guarded\n"
	".type plain,@function\nplain: .cfi_startproc\n ret\n.cfi_endproc\n.size plain,.-plain\n"
	".type guarded,@function\n"
	"guarded: .cfi_startproc\n"
	".cfi_personality 0x9b, DW.ref.__gxx_personality_v0\n.cfi_lsda 0x1b, .Ltable\n"
	"push %rbx\n"
	".L0: call plain@plt\n.L1: call plain@plt\n.L2: call plain@plt\n.L3: call plain@plt\n.L4:\n"
	"call plain@plt\n.L5: pop %rbx\nret\n.Lpad: ud2\n"
	".cfi_endproc\n.size guarded,.-guarded\n"
	".section .gcc_except_table,\"a\",@progbits\n"
	".Ltable: .byte 0xff, 0x9b\n .uleb128 .Ltypes-.Lt0\n.Lt0: .byte 1\n"
	" .uleb128 .Lc1-.Lc0\n"
	/* to the caller; a cleanup; int; everything; the last one is not listed */
	".Lc0: .uleb128 .L0-guarded, .L1-.L0, 0, 0\n"
	" .uleb128 .L1-guarded, .L2-.L1, .Lpad-guarded, 0\n"
	" .uleb128 .L2-guarded, .L3-.L2, .Lpad-guarded, 1\n"
	" .uleb128 .L3-guarded, .L4-.L3, .Lpad-guarded, 3\n.Lc1:\n"
	/* 1: filter 2 (int), the end; 3: filter 2, then 5: filter 1 (null) */
	" .byte 2, 0, 2, 1, 1, 0\n .balign 4\n"
	" .long DW.ref._ZTIi-.\n .long 0\n.Ltypes:\n"
	".data\n"
	"DW.ref.__gxx_personality_v0: .quad __gxx_personality_v0\nDW.ref._ZTIi: .quad _ZTIi\n"
	".section .note.GNU-stack,\"\"\n";

/* Functions whose frames move: labels stand where they are asked for. */
static const char frames[] =
	".text\n"
	".globl moves, fixed, computed\n"
	".type moves,@function\nmoves: .cfi_startproc\nm0: push %rbx\n.cfi_adjust_cfa_offset 8\n"
	".cfi_offset rbx, -16\nm1: sub $0x1000,%rsp\n.cfi_adjust_cfa_offset 0x1000\n"
	"m2: .fill 300, 1, 0x90\n.cfi_remember_state\nadd $0x1000,%rsp\n"
	".cfi_adjust_cfa_offset -0x1000\n.cfi_restore rbx\nm3: pop %rbx\n.cfi_def_cfa_offset 8\n"
	"ret\n.cfi_restore_state\nm4: .fill 70000, 1, 0x90\n.cfi_escape 0x2e, 0x10\n"
	".cfi_undefined r12\n.cfi_register r13, r14\n.cfi_escape 0x10, 3, 2, 0x91, 0\n"
	"m5: ud2\n.cfi_endproc\n.size moves,.-moves\n"
	".type fixed,@function\nfixed: .cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n"
	"mov %rsp,%rbp\n.cfi_def_cfa_register rbp\nf0: leave\n.cfi_def_cfa rsp, 8\nf1: ret\n"
	".cfi_endproc\n.size fixed,.-fixed\n"
	".type computed,@function\ncomputed: .cfi_startproc\nnop\n"
	".cfi_escape 0x0f, 3, 0x76, 0x78, 6\nc0: nop\n.cfi_def_cfa rsp, 8\nc1: ret\n"
	".cfi_endproc\n.size computed,.-computed\n"
	".type bare,@function\nbare: ret\n.size bare,.-bare\n"
	".section .note.GNU-stack,\"\"\n";

static const struct symbol *symbol(const struct symtab *tab, const char *name)
{
	for (size_t i = 0; i < symtab__count(tab); i++) {
		if (!strcmp(symtab__at(tab, i)->name, name))
			return symtab__at(tab, i);
	}
	fail_msg("no %s", name);
	return NULL;
}

static void tables_are_read(void **state)
{
	static const enum lsda_fate fates[] = {LSDA_PASSES, LSDA_PASSES, LSDA_PASSES, LSDA_CAUGHT,
					       LSDA_ENDS};
	uint64_t budget = 1 << 20, start, none;
	const struct eh_range *range;
	const struct symbol *plain;
	struct eh_frame *eh;
	struct linkage *linkage;
	struct symtab *tab;
	struct lsda lsda = {0};
	struct elf_image *img;
	int fd;

	img = open_path("libtables.so", &fd);
	assert_int_equal(eh_frame__load(img, &eh), 0);
	assert_int_equal(linkage__load(img, &linkage), 0);
	assert_int_equal(symtab__load(img, "", &tab), 0);
	plain = symbol(tab, "plain");
	range = eh_frame__at(eh, plain->vaddr);
	assert_non_null(range);
	assert_int_equal(range->start, plain->vaddr);
	assert_int_equal(range->end, plain->vaddr + 1);
	assert_int_equal(lsda__read(img, range, &budget, &lsda), -ENOENT);
	assert_null(eh_frame__at(eh, 0));

	start = symbol(tab, "guarded")->vaddr;
	range = eh_frame__at(eh, start + 3);
	assert_non_null(range);
	assert_int_equal(range->start, start);
	assert_string_equal(linkage__initial(linkage, range->personality), "__gxx_personality_v0");
	/* a variable's first value is no promise */
	assert_null(linkage__import(linkage, range->personality));
	assert_int_equal(lsda__read(img, range, &budget, &lsda), 0);
	assert_true(budget < 1 << 20);
	assert_int_equal(lsda.cnt, 4);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(lsda__fate(&lsda, start + 1 + 5 * i + 4), fates[i]);
	assert_int_equal(lsda.sites[0].pad, 0);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(lsda.sites[i].pad, start + 28);
	none = 4;
	assert_int_equal(lsda__read(img, range, &none, &lsda), -ENOEXEC);
	assert_int_equal(lsda.cnt, 0);
	free(lsda.sites);
	symtab__free(tab);
	linkage__free(linkage);
	eh_frame__free(eh);
	close_image(img, fd);
}

/* Reads all that an image has, as far as it lets us. */
static void read_all(struct elf_image *img)
{
	uint64_t budget = 1 << 20;
	struct eh_cfa cfas[64];
	const struct linkage_definition *defs;
	struct linkage *linkage;
	struct lsda lsda = {0};
	struct eh_frame *eh;
	size_t cnt;

	for (size_t i = 0; i < 64; i++)
		cfas[i] = (struct eh_cfa){.vaddr = 0x1000 + i};
	eh_frame__find_cfas(img, cfas, 64);
	assert_int_equal(linkage__load(img, &linkage), 0);
	defs = linkage__definitions(linkage, &cnt);
	if (eh_frame__load(img, &eh)) {
		linkage__free(linkage);
		return;
	}
	for (size_t i = 0; i < cnt; i++) {
		const struct eh_range *range = eh_frame__at(eh, defs[i].vaddr);

		assert_true(strlen(defs[i].name) > 0);
		if (!range || lsda__read(img, range, &budget, &lsda))
			continue;
		assert_true(range->start <= defs[i].vaddr && defs[i].vaddr < range->end);
		for (size_t k = 0; k < lsda.cnt; k++) {
			assert_true(lsda.sites[k].start >= range->start);
			assert_true(lsda.sites[k].end <= range->end);
			lsda__fate(&lsda, lsda.sites[k].start);
		}
	}
	free(lsda.sites);
	eh_frame__free(eh);
	linkage__free(linkage);
}

static void damaged_files(void **state)
{
	for_each_mutant("libtables.so", 3000, read_all);
}

static void damaged_tables(void **state)
{
	const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".gcc_except_table", ".rela.dyn",
				     ".dynsym"};
	size_t len;
	uint8_t *good = read_bytes("libtables.so", &len), *bad = malloc(len);
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)good;
	const Elf64_Shdr *sh = (const Elf64_Shdr *)(good + eh->e_shoff);
	const char *strings = (const char *)good + sh[eh->e_shstrndx].sh_offset;
	uint32_t seed = 7;
	int saved = hush(), hits = 0;

	for (int i = 0; i < eh->e_shnum; i++) {
		for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
			if (strcmp(strings + sh[i].sh_name, names[k]))
				continue;
			for (int round = 0; round < 1000; round++, hits++) {
				struct elf_image *img;
				int fd;

				memcpy(bad, good, len);
				for (uint32_t n = 1 + next_random(&seed) % 3; n; n--)
					bad[sh[i].sh_offset + next_random(&seed) % sh[i].sh_size] =
						next_random(&seed) >> 8;
				fd = memfd_with(bad, len);
				if (!elf_image__try(fd, "bad", &img)) {
					read_all(img);
					elf_image__free(img);
				}
				close(fd);
			}
		}
	}
	unhush(saved);
	free(good);
	free(bad);
	assert_int_equal(hits, 5000);
}

/* Where a label of libframes.so is. */
static uint64_t label(const char *name)
{
	unsigned long long vaddr = 0;
	FILE *f;

	sh("nm libframes.so | grep ' %s$' >label", name);
	f = fopen("label", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%llx", &vaddr), 1);
	fclose(f);
	return vaddr;
}

/* Each is known at the instruction it is asked for, whatever is asked beside it. */
static void frames_are_found(void **state)
{
	static const struct {
		const char *at;
		enum eh_cfa_base base;
		uint64_t offset;
	} expected[] = {
		{"m0", EH_CFA_STACK_POINTER, 8},
		{"m1", EH_CFA_STACK_POINTER, 16},
		{"m2", EH_CFA_STACK_POINTER, 0x1010},
		{"m3", EH_CFA_STACK_POINTER, 16},
		{"m4", EH_CFA_STACK_POINTER, 0x1010},
		{"m5", EH_CFA_STACK_POINTER, 0x1010},
		{"f0", EH_CFA_FRAME_POINTER, 16},
		{"f1", EH_CFA_STACK_POINTER, 8},
		{"c0", EH_CFA_UNKNOWN, 0},
		{"c1", EH_CFA_STACK_POINTER, 8},
		{"bare", EH_CFA_UNKNOWN, 0},
	};
	enum { CNT = sizeof(expected) / sizeof(*expected) };
	struct eh_cfa all[CNT] = {0};
	struct elf_image *img;
	int fd;

	img = open_path("libframes.so", &fd);
	for (size_t i = 0; i < CNT; i++) {
		struct eh_cfa one = {.vaddr = label(expected[i].at)};

		all[i] = one;
		assert_int_equal(eh_frame__find_cfas(img, &one, 1), 0);
		assert_int_equal(one.base, expected[i].base);
		if (one.base)
			assert_int_equal(one.offset, expected[i].offset);
	}
	assert_int_equal(eh_frame__find_cfas(img, all, CNT), 0);
	for (size_t i = 0; i < CNT; i++)
		assert_int_equal(all[i].base, expected[i].base);
	assert_int_equal(eh_frame__find_cfas(img, NULL, 0), 0);
	close_image(img, fd);
}

/* FDEs of one byte of code each, by turns of two CIEs; what is put into these: their letters, and
 * their rules. */
#define LONG_CIE(letters, rules)                                      \
	".long 9f - 8f\n8: .long 0\n.byte 1\n.ascii \"zR\"\n" letters \
	".byte 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1\n" rules ".balign 4\n9:\n"
#define LONG_FDES(letters, rules)                                                              \
	".text\nwork: ret\n.section .eh_frame,\"a\",@progbits\n"                               \
	"c0: " LONG_CIE(letters, rules) "c1: " LONG_CIE(                                       \
		letters, rules) ".rept 100000\n.long 16, . - c0, work - ., 1, 0, 16, . - c1, " \
				"work - ., 1, 0\n.endr\n"                                      \
				".long 0\n.section .note.GNU-stack,\"\"\n"

/* Reads it in a child that may have so many seconds of CPU time: it must not come to an end by
 * that. */
static void is_read_within(unsigned int seconds, const char *text)
{
	const struct rlimit cpu = {seconds, seconds};
	int status;
	pid_t pid;

	compile("liblong.so", "long.s", text, "-shared -nostdlib -Wl,--no-eh-frame-hdr");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct eh_cfa cfa = {.vaddr = 0x1000};
		struct elf_image *img;
		struct eh_frame *eh;
		int fd, err;

		setrlimit(RLIMIT_CPU, &cpu);
		img = open_path("liblong.so", &fd);
		err = eh_frame__load_any(img, &eh);
		eh_frame__find_cfas(img, &cfa, 1);
		_exit(err == -E2BIG ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("status %#x", status);
}

/* 200,000 FDEs that share four megabytes of rules: to follow these anew for each takes an hour. */
static void shared_rules_are_bounded(void **state)
{
	is_read_within(20, LONG_FDES("", ".fill 4 << 20, 1, 0xc3\n"));
	is_read_within(20, LONG_FDES(".fill 4 << 20, 1, 'B'\n", ""));
}

static int make_files(void **state)
{
	if (fixture_make(state))
		return -1;
	compile("libtables.so", "tables.s", tables, "-shared -nostdlib");
	compile("libframes.so", "frames.s", frames, "-shared -nostdlib");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_read),
		cmocka_unit_test(frames_are_found),
		cmocka_unit_test(damaged_files),
		cmocka_unit_test(damaged_tables),
		cmocka_unit_test(shared_rules_are_bounded),
	};

	return cmocka_run_group_tests(tests, make_files, fixture_clean);
}
