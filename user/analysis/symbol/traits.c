// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A return address that was exchanged for a trampoline's is deadly if somebody else reads it: an
 * unwinder, a stack switch, a stack walk. Only what can *start* one is evidence. C libraries built
 * with -fexceptions have .gcc_except_table, _Unwind_Resume and libgcc_s as well, but merely pass on
 * what another object throws, and that object is told by its own symbols.
 */
#include "symbol/traits.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "elf/elf_dynamic.h"
#include "elf/elf_image.h"
#include "elf/elf_inside.h"
#include "elf/sym_table.h"

/* A mere reference proves nothing: LLVM has a weak one in case that its JIT emits such code. */
#define IF_DEFINED (1 << 17)

/* A trait within this file alone: the object imports dlsym(), so its strings may be names. */
#define LOOKS_UP (1u << 31)
/* Likewise: it imports syscall(), so its code has the numbers of system calls. */
#define CALLS_BY_NUMBER (1u << 30)

struct evidence {
	const char *word;
	size_t len;
	unsigned traits;
};

#define WORD(w, t)                                           \
	{                                                    \
		.word = w, .len = sizeof(w) - 1, .traits = t \
	}

/* Defined or only referenced. */
static const struct evidence symbols[] = {
	WORD("_Unwind_RaiseException", TRAIT_UNWINDS),
	WORD("_Unwind_Resume_or_Rethrow", TRAIT_UNWINDS),
	WORD("_Unwind_ForcedUnwind", TRAIT_UNWINDS | TRAIT_CANCELS),
	WORD("_Unwind_SjLj_RaiseException", TRAIT_UNWINDS),
	WORD("__cxa_throw", TRAIT_UNWINDS),
	WORD("__cxa_rethrow", TRAIT_UNWINDS),
	WORD("__cxa_begin_catch", TRAIT_UNWINDS),
	WORD("__gxx_personality_v0", TRAIT_UNWINDS),
	WORD("rust_eh_personality", TRAIT_UNWINDS),
	WORD("rust_begin_unwind", TRAIT_UNWINDS),
	WORD("rust_panic", TRAIT_UNWINDS),
	WORD("__rust_start_panic", TRAIT_UNWINDS),
	WORD("objc_exception_throw", TRAIT_UNWINDS),
	WORD("__gnu_objc_personality_v0", TRAIT_UNWINDS),
	WORD("__gnat_personality_v0", TRAIT_UNWINDS),
	WORD("__gccgo_personality_v0", TRAIT_UNWINDS),
	WORD("__gdc_personality_v0", TRAIT_UNWINDS),
	WORD("_d_throwdwarf", TRAIT_UNWINDS),
	WORD("__crystal_raise", TRAIT_UNWINDS),
	WORD("swapcontext", TRAIT_UCONTEXT),
	WORD("makecontext", TRAIT_UCONTEXT),
	WORD("setcontext", TRAIT_UCONTEXT),
	WORD("make_fcontext", TRAIT_SWITCHES), /* boost.context, also in PHP */
	WORD("jump_fcontext", TRAIT_SWITCHES),
	WORD("ontop_fcontext", TRAIT_SWITCHES),
	WORD("zend_fiber_switch_context", TRAIT_SWITCHES),
	WORD("bthread_make_fcontext", TRAIT_SWITCHES), /* brpc */
	WORD("bthread_jump_fcontext", TRAIT_SWITCHES),
	WORD("coro_transfer", TRAIT_SWITCHES), /* libcoro */
	WORD("co_switch", TRAIT_SWITCHES),     /* byuu's libco */
	WORD("co_resume", TRAIT_SWITCHES),     /* Tencent's libco */
	WORD("coctx_swap", TRAIT_SWITCHES),
	WORD("aco_resume", TRAIT_SWITCHES),
	WORD("acosw", TRAIT_SWITCHES),
	WORD("mco_resume", TRAIT_SWITCHES), /* minicoro */
	WORD("_mco_switch", TRAIT_SWITCHES),
	WORD("pth_yield", TRAIT_SWITCHES),	 /* GNU Pth */
	WORD("taskyield", TRAIT_SWITCHES),	 /* libtask */
	WORD("st_thread_yield", TRAIT_SWITCHES), /* State Threads */
	WORD("st_thread_create", TRAIT_SWITCHES),
	WORD("dill_yield", TRAIT_SWITCHES),
	WORD("mill_yield_", TRAIT_SWITCHES),
	WORD("coroutine_transfer", TRAIT_SWITCHES), /* Ruby */
	WORD("rb_fiber_resume", TRAIT_SWITCHES),
	WORD("qemu_coroutine_switch", TRAIT_SWITCHES),
	WORD("fiber_switchContext", TRAIT_SWITCHES), /* D */
	WORD("PyInit__greenlet", TRAIT_SWITCHES),
	WORD("_photon_switch_context", TRAIT_SWITCHES),
	WORD("jl_switchto", TRAIT_SWITCHES),   /* Julia */
	WORD("caml_runstack", TRAIT_SWITCHES), /* OCaml 5 */
	WORD("__tsan_switch_to_fiber", TRAIT_SWITCHES),
	WORD("__sanitizer_start_switch_fiber", TRAIT_SWITCHES),
	WORD("__morestack", TRAIT_SWITCHES | IF_DEFINED), /* -fsplit-stack */
	WORD("__splitstack_makecontext", TRAIT_SWITCHES),
	WORD("backtrace", TRAIT_SHOWS),
	WORD("backtrace_full", TRAIT_SHOWS), /* libbacktrace */
	WORD("backtrace_simple", TRAIT_SHOWS),
	WORD("_Unwind_Backtrace", TRAIT_SHOWS),
	WORD("unw_step", TRAIT_INSPECTS),
	WORD("unw_backtrace", TRAIT_SHOWS),
	WORD("_ULx86_64_step", TRAIT_INSPECTS), /* what libunwind makes of unw_step */
	WORD("_Ux86_64_step", TRAIT_INSPECTS),
	WORD("__asan_init", TRAIT_INSPECTS),
	WORD("__hwasan_init", TRAIT_INSPECTS),
	WORD("__tsan_init", TRAIT_INSPECTS),
	WORD("__msan_init", TRAIT_INSPECTS),
	WORD("__lsan_init", TRAIT_INSPECTS),
	WORD("HeapProfilerStart", TRAIT_INSPECTS), /* gperftools */
	WORD("ProfilerStart", TRAIT_INSPECTS),
	/* Garbage collectors and runtimes that find their frames by return addresses. */
	WORD("caml_frametable", TRAIT_INSPECTS),
	WORD("JNI_CreateJavaVM", TRAIT_INSPECTS),
	WORD("mono_jit_init", TRAIT_INSPECTS),
	WORD("coreclr_initialize", TRAIT_INSPECTS),
	WORD("sigaction", TRAIT_SIGNALS),
	WORD("signal", TRAIT_SIGNALS),
	WORD("sigset", TRAIT_SIGNALS),
	WORD("sigvec", TRAIT_SIGNALS),
	WORD("__sysv_signal", TRAIT_SIGNALS),
	WORD("bsd_signal", TRAIT_SIGNALS),
	/* Threads that can be cancelled at any instruction: by a signal, in fact. */
	WORD("pthread_setcanceltype", TRAIT_SIGNALS),
	WORD("pthread_cancel", TRAIT_CANCELS),
	WORD("pthread_exit", TRAIT_CANCELS),
	WORD("thrd_exit", TRAIT_CANCELS),
	WORD("__gcc_personality_v0", TRAIT_CLEANS),
	WORD("sigaltstack", TRAIT_ALTSTACK),
	/* posix_spawn shares its memory with the child, which calls nothing of the program's. */
	WORD("fork", TRAIT_FORKS),
	WORD("__fork", TRAIT_FORKS),
	WORD("_Fork", TRAIT_FORKS),
	WORD("__libc_fork", TRAIT_FORKS),
	WORD("forkpty", TRAIT_FORKS),
	WORD("daemon", TRAIT_FORKS),
	WORD("clone", TRAIT_FORKS),
	WORD("vfork", TRAIT_FORKS), /* its memory is the same, but the child is another process */
	WORD("syscall", CALLS_BY_NUMBER),
	WORD("dlopen", TRAIT_LOADS),
	WORD("dlmopen", TRAIT_LOADS),
	WORD("setjmp", TRAIT_SETJMPS),
	WORD("_setjmp", TRAIT_SETJMPS),
	WORD("sigsetjmp", TRAIT_SETJMPS),
	WORD("__sigsetjmp", TRAIT_SETJMPS),
	WORD("longjmp", TRAIT_LONGJMPS),
	WORD("_longjmp", TRAIT_LONGJMPS),
	WORD("siglongjmp", TRAIT_LONGJMPS),
	WORD("__longjmp_chk", TRAIT_LONGJMPS),
	WORD("mcount", TRAIT_COUNTS),
	WORD("_mcount", TRAIT_COUNTS),
	WORD("__mcount", TRAIT_COUNTS),
	WORD("dlsym", LOOKS_UP),
	WORD("dlvsym", LOOKS_UP),
	/* Moved to huge pages. */
	WORD("MapStaticCodeToLargePages", TRAIT_MOVES),		    /* Intel's example (iodlr) */
	WORD("_ZN4node25MapStaticCodeToLargePagesEv", TRAIT_MOVES), /* Node.js */
	WORD("_ZN2DB15remapExecutableEv", TRAIT_MOVES),		    /* ClickHouse */
	WORD("accel_move_code_to_huge_pages", TRAIT_MOVES),	    /* PHP's opcache */
	WORD("dl_iterate_phdr", TRAIT_TABLES),
	WORD("_dl_find_object", TRAIT_TABLES),
};

static const struct evidence symbol_prefixes[] = {
	WORD("__sanitizer_", TRAIT_INSPECTS),
};

static const struct evidence sections[] = {
	WORD(".note.go.buildid", TRAIT_GO),
	WORD(".go.buildinfo", TRAIT_GO),
	WORD(".gopclntab", TRAIT_GO),
};

/* Prefixes of DT_NEEDED and DT_SONAME. */
static const struct evidence libraries[] = {
	WORD("libstdc++.so", TRAIT_UNWINDS), WORD("libc++.so", TRAIT_UNWINDS),
	WORD("libc++abi.so", TRAIT_UNWINDS), WORD("libunwind.so", TRAIT_UNWINDS),
	WORD("libunwind-", TRAIT_UNWINDS),   WORD("libgnat-", TRAIT_UNWINDS),
};

/*
 * libgcc_s belongs here: it is the unwinder, but others call it, and they are told by their
 * references. libc loads it by itself for pthread_exit().
 */
static const char *const libc_sonames[] = {
	"libc.so.6",
	"ld-linux-x86-64.so.2",
	"libpthread.so.0",
	"libdl.so.2",
	"librt.so.1",
	"libm.so.6",
	"libmvec.so.1",
	"libresolv.so.2",
	"libutil.so.1",
	"libanl.so.1",
	"libnsl.so.1",
	"libthread_db.so.1",
	"libgcc_s.so.1",
	"libc.so",
	"libc.musl-x86_64.so.1",
	"ld-musl-x86_64.so.1",
};

/*
 * Libraries whose contexts are known to stay in their thread, which goes back to its own stack in
 * time. Of others a thread's own stack may go on in another thread, and return there.
 */
static const char *const pinned_sonames[] = {
	"libcrypto.so", /* OpenSSL's asynchronous jobs, which hardly anybody starts */
};

/* Evidence that is no reason by itself. */
#define MINOR                                                                           \
	(TRAIT_TABLES | TRAIT_SIGNALS | TRAIT_CANCELS | TRAIT_CLEANS | TRAIT_LOADS |    \
	 TRAIT_ALTSTACK | TRAIT_FORKS | TRAIT_SETJMPS | TRAIT_LONGJMPS | TRAIT_COUNTS | \
	 TRAIT_MOVES | LOOKS_UP | CALLS_BY_NUMBER)

#define MAX_STRINGS (32u << 20) /* bytes of sections with strings */
#define MAX_CODE    (64u << 20) /* bytes of sections with code */

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

struct finding {
	unsigned traits;
	const struct evidence *why; /* of the gravest trait so far */
};

/* The trait that leaves least choice of exits is named first: the highest number. */
static int gravity(unsigned traits)
{
	if (traits & TRAIT_GO)
		return 4;
	if (traits & (TRAIT_SWITCHES | TRAIT_UCONTEXT))
		return 3;
	if (traits & TRAIT_UNWINDS)
		return 2;
	return traits & TRAIT_SHOWS ? 0 : 1;
}

static void add(struct finding *f, const struct evidence *e)
{
	f->traits |= e->traits;
	if (!(e->traits & MINOR) && (!f->why || gravity(e->traits) > gravity(f->why->traits)))
		f->why = e;
}

static void look_at_name(struct finding *f, const char *name, size_t len, bool defined)
{
	size_t i;

	for (i = 0; i < COUNT(symbols); i++) {
		if (symbols[i].len == len && !memcmp(name, symbols[i].word, len) &&
		    (defined || !(symbols[i].traits & IF_DEFINED)))
			add(f, &symbols[i]);
	}
	for (i = 0; i < COUNT(symbol_prefixes); i++) {
		if (symbol_prefixes[i].len <= len &&
		    !memcmp(name, symbol_prefixes[i].word, symbol_prefixes[i].len))
			add(f, &symbol_prefixes[i]);
	}
}

static void look_at_symbols(struct finding *f, const struct elf_image *img, uint32_t type)
{
	struct sym_table tab;
	const char *name;
	Elf64_Sym sym;
	size_t len;

	if (sym_table__open(img, type, &tab))
		return;
	while (sym_table__next(&tab, &sym)) {
		name = sym_table__name(&tab, &sym, &len);
		if (name)
			look_at_name(f, name, len, sym.st_shndx != SHN_UNDEF);
	}
	sym_table__close(&tab);
}

static void look_at_sections(struct finding *f, const struct elf_image *img)
{
	static const struct evidence tables = WORD(".gcc_except_table", TRAIT_UNWINDS);
	size_t i;

	for (i = 0; i < COUNT(sections); i++) {
		if (elf_section__by_name(img, sections[i].word))
			add(f, &sections[i]);
	}
	/* Whom it could throw by is known from its symbols, unless that is linked in and stripped.
	 */
	if (((f->traits & TRAIT_TABLES) || elf_image__is_static(img)) &&
	    elf_section__by_name(img, tables.word))
		add(f, &tables);
}

/* A string counts as a reference if it names what looks at stacks: dlsym(handle, "backtrace"). */
static void look_at_string(struct finding *f, const char *text, size_t len)
{
	for (size_t i = 0; i < COUNT(symbols); i++) {
		if (symbols[i].len == len && symbols[i].traits & (TRAIT_SHOWS | TRAIT_INSPECTS) &&
		    !memcmp(text, symbols[i].word, len))
			add(f, &symbols[i]);
	}
}

/* Looks at the strings of a part that begin as such names do. */
static bool look_at_strings(void *ctx, const struct elf_part *part)
{
	const char *text = part->bytes;
	bool begins[256] = {false};

	for (size_t i = 0; i < COUNT(symbols); i++)
		begins[(uint8_t)symbols[i].word[0]] |=
			symbols[i].traits & (TRAIT_SHOWS | TRAIT_INSPECTS);
	/* Of later parts the first byte only tells whether a string begins at the second. */
	for (size_t at = !part->first; at < part->size; at++) {
		size_t len;

		if (!begins[(uint8_t)text[at]] || (at && text[at - 1]))
			continue;
		len = strnlen(text + at, part->size - at);
		if (at + len < part->size)
			look_at_string(ctx, text + at, len);
	}
	return false;
}

#define MOVE_SIZE 5 /* mov $NUMBER,%edi: 0xbf, and the number */

/* Whether code has the number of a system call that makes processes as the first argument of a
 * function, syscall() maybe. What looks so by chance does no harm. Of x86-64 alone. */
static bool passes_fork(const uint8_t *code, size_t size)
{
	for (size_t at = 0; size - at >= MOVE_SIZE; at++) {
		const uint8_t *move = memchr(code + at, 0xbf, size - at - (MOVE_SIZE - 1));
		uint32_t number;

		if (!move)
			return false;
		at = move - code;
		memcpy(&number, move + 1, sizeof(number));
		if (number == 56 || number == 57 || number == 435) /* clone, fork, clone3 */
			return true;
	}
	return false;
}

static bool look_at_code(void *ctx, const struct elf_part *part)
{
	static const struct evidence number = WORD("syscall", TRAIT_FORKS);
	bool found = passes_fork((const uint8_t *)part->bytes, part->size);

	if (found)
		add(ctx, &number);
	return found;
}

/* Looks at all sections with code, or at all others that are in memory. */
static void look_into_sections(struct finding *f, const struct elf_image *img, bool code)
{
	size_t cnt;
	const struct elf_section *sections = elf_image__sections(img, &cnt);
	uint64_t left = code ? MAX_CODE : MAX_STRINGS;
	bool found = false;

	for (size_t i = 0; i < cnt && !found; i++) {
		uint64_t flags = sections[i].flags;

		if (sections[i].type == SHT_PROGBITS && !!(flags & SHF_EXECINSTR) == code &&
		    (code || flags & SHF_ALLOC))
			found = elf_section__look(img, &sections[i], &left,
						  code ? look_at_code : look_at_strings, f);
	}
}

static void look_at_library(struct finding *f, const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(libraries); i++) {
		if (!strncmp(name, libraries[i].word, libraries[i].len))
			add(f, &libraries[i]);
	}
}

/* Returns the soname if the object is of the C library. */
static const char *look_at_dynamic(struct finding *f, const struct elf_image *img)
{
	const char *libc = NULL;
	struct elf_dynamic dyn;
	char name[128];
	size_t i, j;

	elf_dynamic__load(img, &dyn);
	for (i = 0; i < dyn.cnt; i++) {
		int64_t tag = dyn.entries[i].d_tag;

		if (tag != DT_NEEDED && tag != DT_SONAME)
			continue;
		elf_dynamic__string(&dyn, img, dyn.entries[i].d_un.d_val, name, sizeof(name));
		look_at_library(f, name);
		for (j = 0; j < COUNT(libc_sonames) && tag == DT_SONAME; j++) {
			if (!strcmp(name, libc_sonames[j]))
				libc = libc_sonames[j];
		}
	}
	elf_dynamic__free(&dyn);
	return libc;
}

static bool is_pinned(const struct elf_image *img)
{
	char soname[128];

	elf_image__soname(img, soname, sizeof(soname));
	for (size_t i = 0; i < COUNT(pinned_sonames); i++) {
		if (!strncmp(soname, pinned_sonames[i], strlen(pinned_sonames[i])))
			return true;
	}
	return false;
}

unsigned traits__of(const struct elf_image *img, const char **why)
{
	struct finding f = {0};
	const char *libc;

	look_at_symbols(&f, img, SHT_SYMTAB);
	look_at_symbols(&f, img, SHT_DYNSYM);
	if (~f.traits & (TRAIT_SHOWS | TRAIT_INSPECTS) && f.traits & LOOKS_UP)
		look_into_sections(&f, img, false);
	if (~f.traits & TRAIT_FORKS && f.traits & CALLS_BY_NUMBER)
		look_into_sections(&f, img, true);
	f.traits &= ~(LOOKS_UP | CALLS_BY_NUMBER);
	libc = look_at_dynamic(&f, img);
	look_at_sections(&f, img);
	if ((f.traits & TRAIT_UCONTEXT) && !is_pinned(img))
		f.traits = (f.traits & ~TRAIT_UCONTEXT) | TRAIT_SWITCHES;
	if (why)
		*why = f.why ? f.why->word : libc;
	return (f.traits & ~IF_DEFINED) | (libc ? TRAIT_LIBC : 0);
}
