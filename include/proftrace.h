/* SPDX-License-Identifier: CC0-1.0 */
/*
 * proftrace.h: names for stretches of code, for proftrace and whatever else reads static probes
 * (gdb, perf, bpftrace, SystemTap). To the extent possible under law, the authors have waived all
 * rights to this file: copy it into your program, whatever that program's licence is.
 *
 *	int parse(const char *text)
 *	{
 *		PROFTRACE_REGION("parse");		the rest of the scope
 *		...
 *		PROFTRACE_BEGIN("parse: names");	until the end that is named alike
 *		...
 *		PROFTRACE_END("parse: names");
 *		PROFTRACE_MARK_VALUES("parsed", bytes, text);
 *
 * While nobody traces each of these is two nops. Nothing needs to be linked, nothing to be set up,
 * no other header is included. C99 and C++11 and later, GCC and clang, x86-64 Linux; anywhere else,
 * or with PROFTRACE_DISABLE defined, it all compiles to nothing and no value is evaluated.
 *
 * Names are string literals, without % { | and }, which mean something to the compiler's assembler.
 * Values are integers or pointers, at most six. They are computed even if nobody traces, and what a
 * pointer points to is in memory when the probe is met.
 *
 * A probe is a note in the section .note.stapsdt (provider "proftrace"; a region's are called
 * NAME__begin and NAME__end) and at its place a nop of one byte and one of five: of the latter
 * Linux 6.18 can make a call, which costs less than a trap. Other kernels trap at the former.
 */
#ifndef PROFTRACE_H
#define PROFTRACE_H

#if !defined(PROFTRACE_DISABLE) && defined(__GNUC__) && defined(__x86_64__) &&                \
	defined(__LP64__) && defined(__linux__) && defined(__ELF__) && !defined(__TINYC__) && \
	!defined(__CUDA_ARCH__)

/* --- The notes --- */

/* How many lines of assembly there are shall not keep a function from being inlined. */
#if defined(__clang__) ? __clang_major__ >= 11 : __GNUC__ >= 9
#define PROFTRACE__ASM __asm__ __volatile__ __inline__
#else
#define PROFTRACE__ASM __asm__ __volatile__
#endif

/* The call that the kernel makes of the nop writes below the stack pointer. */
#if !defined(__clang__) && __GNUC__ >= 15
#define PROFTRACE__NO_RED_ZONE	   : "redzone"
#define PROFTRACE__MEMORY_CLOBBERS "memory", "redzone"
#else
#define PROFTRACE__NO_RED_ZONE
#define PROFTRACE__MEMORY_CLOBBERS "memory"
#endif

/*
 * A note belongs to its function: in that one's group ("?": of several copies of an inline function
 * the linker keeps one) and linked to its section ("o": it goes when an unused function does,
 * instead of keeping it). Older assemblers and linkers do not know "o".
 */
#if defined(__clang__) ? __clang_major__ >= 13 : __GNUC__ >= 12
#define PROFTRACE__NOTES "\t.pushsection .note.stapsdt,\"?o\",\"note\",.Lproftrace%=\n"
#else
#define PROFTRACE__NOTES "\t.pushsection .note.stapsdt,\"?\",\"note\"\n"
#endif

#define PROFTRACE__NOPS "990:\tnop\n\t.byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"

/* Where readers tell from whether the file was moved after it was linked (prelink). */
#define PROFTRACE__BASE                                                           \
	"\t.ifndef _.stapsdt.base\n"                                              \
	"\t.pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	"\t.weak _.stapsdt.base\n\t.hidden _.stapsdt.base\n"                      \
	"_.stapsdt.base:\n\t.space 1\n\t.size _.stapsdt.base, 1\n\t.popsection\n\t.endif\n"

/*
 * The compiler looks for % { | } in assembly, and would make something else of such a name. GCC
 * cannot tell while it compiles, but its assembler can count what has arrived.
 */
#define PROFTRACE__BAD_NAME \
	"proftrace.h: a name is one string literal without percent signs, braces and bars"
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgcc-compat"
int proftrace_name(const char *name)
	__attribute__((diagnose_if(__builtin_strchr(name, '%') || __builtin_strchr(name, '{') ||
					   __builtin_strchr(name, '|') ||
					   __builtin_strchr(name, '}'),
				   PROFTRACE__BAD_NAME, "error")));
#pragma clang diagnostic pop
#define PROFTRACE__CHECK(name) (void)sizeof(proftrace_name("" name))
#define PROFTRACE__COUNT_NAME
#else
#define PROFTRACE__CHECK(name) (void)0
#define PROFTRACE__COUNT_NAME                                \
	"\t.ifne (996b - 995b) - (%c[proftrace_size] - 1)\n" \
	"\t.error \"" PROFTRACE__BAD_NAME "\"\n\t.endif\n"
#endif

/* `literal` is the name as it is written in the source, quotes and all. */
#define PROFTRACE__NOTE(literal, suffix, arguments)                                              \
	".Lproftrace%=:\n" PROFTRACE__NOTES "\t.balign 4\n\t.long 992f - 991f, 994f - 993f, 3\n" \
	"991:\t.asciz \"stapsdt\"\n992:\t.balign 4\n"                                            \
	"993:\t.quad 990b, _.stapsdt.base, 0\n\t.asciz \"proftrace\"\n"                          \
	"995:\t.ascii " literal "\n996:\n" PROFTRACE__COUNT_NAME "\t.asciz \"" suffix            \
	"\"\n\t.asciz \"" arguments "\"\n994:\t.balign 4\n"                                      \
	"\t.popsection\n" PROFTRACE__BASE

#define PROFTRACE__LITERAL(name)  PROFTRACE__LITERAL_(name)
#define PROFTRACE__LITERAL_(name) #name

#define PROFTRACE__SIZE(name) [proftrace_size] "i"(sizeof("" name))

#define PROFTRACE__PROBE(name, suffix)                                                        \
	do {                                                                                  \
		PROFTRACE__CHECK(name);                                                       \
		PROFTRACE__ASM(                                                               \
			PROFTRACE__NOPS PROFTRACE__NOTE(PROFTRACE__LITERAL(name), suffix, "") \
			:                                                                     \
			: PROFTRACE__SIZE(name) PROFTRACE__NO_RED_ZONE);                      \
	} while (0)

/* --- Values, in the registers of a function's arguments --- */

#define PROFTRACE__AT1 "-8@%%rdi"
#define PROFTRACE__AT2 PROFTRACE__AT1 " -8@%%rsi"
#define PROFTRACE__AT3 PROFTRACE__AT2 " -8@%%rdx"
#define PROFTRACE__AT4 PROFTRACE__AT3 " -8@%%rcx"
#define PROFTRACE__AT5 PROFTRACE__AT4 " -8@%%r8"
#define PROFTRACE__AT6 PROFTRACE__AT5 " -8@%%r9"

#ifdef __cplusplus
namespace proftrace_detail
{
template <typename T> inline __attribute__((__always_inline__)) long value(T v)
{
	return static_cast<long>(v);
}
template <typename T> inline __attribute__((__always_inline__)) long value(T *v)
{
	return reinterpret_cast<long>(v);
}
long value(float) = delete; /* neither integers nor pointers */
long value(double) = delete;
long value(long double) = delete;
} // namespace proftrace_detail
#define PROFTRACE__LET(i, v) const long proftrace_value_##i = proftrace_detail::value(v)
#else
#define PROFTRACE__LET(i, v)                                                                  \
	__extension__ _Static_assert(__builtin_classify_type(v) != 8 /* real_type_class */,   \
				     "proftrace.h: a value must be an integer or a pointer"); \
	const long proftrace_value_##i = (long)(v)
#endif

/* All are computed before the first register is taken: that may call functions. */
#define PROFTRACE__LET1(a) PROFTRACE__LET(1, a)
#define PROFTRACE__LET2(a, b) \
	PROFTRACE__LET1(a);   \
	PROFTRACE__LET(2, b)
#define PROFTRACE__LET3(a, b, c) \
	PROFTRACE__LET2(a, b);   \
	PROFTRACE__LET(3, c)
#define PROFTRACE__LET4(a, b, c, d) \
	PROFTRACE__LET3(a, b, c);   \
	PROFTRACE__LET(4, d)
#define PROFTRACE__LET5(a, b, c, d, e) \
	PROFTRACE__LET4(a, b, c, d);   \
	PROFTRACE__LET(5, e)
#define PROFTRACE__LET6(a, b, c, d, e, f) \
	PROFTRACE__LET5(a, b, c, d, e);   \
	PROFTRACE__LET(6, f)

#define PROFTRACE__IN(i, name) \
	register long proftrace_register_##i __asm__(name) = proftrace_value_##i
#define PROFTRACE__IN1 (void)0 /* the first four have letters */
#define PROFTRACE__IN2 (void)0
#define PROFTRACE__IN3 (void)0
#define PROFTRACE__IN4 (void)0
#define PROFTRACE__IN5 PROFTRACE__IN(5, "r8")
#define PROFTRACE__IN6  \
	PROFTRACE__IN5; \
	PROFTRACE__IN(6, "r9")

#define PROFTRACE__OPERANDS1 "D"(proftrace_value_1)
#define PROFTRACE__OPERANDS2 PROFTRACE__OPERANDS1, "S"(proftrace_value_2)
#define PROFTRACE__OPERANDS3 PROFTRACE__OPERANDS2, "d"(proftrace_value_3)
#define PROFTRACE__OPERANDS4 PROFTRACE__OPERANDS3, "c"(proftrace_value_4)
#define PROFTRACE__OPERANDS5 PROFTRACE__OPERANDS4, "r"(proftrace_register_5)
#define PROFTRACE__OPERANDS6 PROFTRACE__OPERANDS5, "r"(proftrace_register_6)

/* Up to six; of up to twelve the compiler then misses what says that they are too many. */
#define PROFTRACE__COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, cnt, ...) cnt
#define PROFTRACE__COUNT(...)                                                            \
	PROFTRACE__COUNT_(__VA_ARGS__, _AT_MOST_SIX_VALUES, _AT_MOST_SIX_VALUES,         \
			  _AT_MOST_SIX_VALUES, _AT_MOST_SIX_VALUES, _AT_MOST_SIX_VALUES, \
			  _AT_MOST_SIX_VALUES, 6, 5, 4, 3, 2, 1, 0)
#define PROFTRACE__PASTE_(a, b) a##b
#define PROFTRACE__PASTE(a, b)	PROFTRACE__PASTE_(a, b)

#define PROFTRACE__PROBE_VALUES(name, suffix, cnt, ...)                                       \
	do {                                                                                  \
		PROFTRACE__CHECK(name);                                                       \
		PROFTRACE__PASTE(PROFTRACE__LET, cnt)(__VA_ARGS__);                           \
		PROFTRACE__PASTE(PROFTRACE__IN, cnt);                                         \
		PROFTRACE__ASM(                                                               \
			PROFTRACE__NOPS PROFTRACE__NOTE(PROFTRACE__LITERAL(name), suffix,     \
							PROFTRACE__PASTE(PROFTRACE__AT, cnt)) \
			:                                                                     \
			: PROFTRACE__SIZE(name), PROFTRACE__PASTE(PROFTRACE__OPERANDS, cnt)   \
			: PROFTRACE__MEMORY_CLOBBERS);                                        \
	} while (0)

/* --- The end of a scope --- */

#ifdef __cplusplus
#define PROFTRACE__AT_EXIT(name, number)                                                         \
	const struct PROFTRACE__PASTE(proftrace_scope_, number) {                                \
		/* Not an aggregate, so that nobody misses initial values. */                    \
		__attribute__((__always_inline__)) PROFTRACE__PASTE(proftrace_scope_, number)()  \
		{                                                                                \
		}                                                                                \
		__attribute__((__always_inline__)) ~PROFTRACE__PASTE(proftrace_scope_, number)() \
		{                                                                                \
			PROFTRACE__PROBE(name, "__end");                                         \
		}                                                                                \
	} PROFTRACE__PASTE(proftrace_at_exit_, number)
#elif !defined(__clang__)
/* A function in the function is the only one that can know the name. */
#define PROFTRACE__AT_EXIT(name, number)                                                          \
	__extension__ __inline__ __attribute__((__always_inline__)) void PROFTRACE__PASTE(        \
		proftrace_end_, number)(const char *proftrace_unused __attribute__((__unused__))) \
	{                                                                                         \
		PROFTRACE__PROBE(name, "__end");                                                  \
	}                                                                                         \
	const char PROFTRACE__PASTE(proftrace_at_exit_, number) __attribute__((                   \
		__unused__, __cleanup__(PROFTRACE__PASTE(proftrace_end_, number)))) = 0
#else
/*
 * In C clang has no such functions. So the probe stands behind the function, in code of its own,
 * whose address is kept until it is called; that code changes no register.
 */
typedef void (*proftrace_end)(void) __attribute__((__preserve_all__));

static __inline__ __attribute__((__always_inline__, __unused__)) void
proftrace_call_end(const proftrace_end *end)
{
	(*end)();
	__asm__ __volatile__(""); /* no tail call: the scope's stack is still there */
}
#define PROFTRACE__AT_EXIT(name, number)                                                       \
	const proftrace_end PROFTRACE__PASTE(proftrace_at_exit_, number)                       \
		__attribute__((__unused__, __cleanup__(proftrace_call_end))) = __extension__({ \
			proftrace_end proftrace_address;                                       \
			PROFTRACE__ASM("\tlea{q 997f(%%rip), %0| %0, [rip + 997f]}\n"          \
				       "\t.subsection 1\n997:\tendbr64\n" PROFTRACE__NOPS      \
				       "\tret\n" PROFTRACE__NOTE(PROFTRACE__LITERAL(name),     \
								 "__end", "") "\t.previous\n"  \
				       : [proftrace_address] "=r"(proftrace_address)           \
				       : PROFTRACE__SIZE(name));                               \
			proftrace_address;                                                     \
		})
#endif

/* --- What programs use --- */

#define PROFTRACE_MARK(name)  PROFTRACE__PROBE(name, "")
#define PROFTRACE_BEGIN(name) PROFTRACE__PROBE(name, "__begin")
#define PROFTRACE_END(name)   PROFTRACE__PROBE(name, "__end")
#define PROFTRACE_MARK_VALUES(name, ...) \
	PROFTRACE__PROBE_VALUES(name, "", PROFTRACE__COUNT(__VA_ARGS__), __VA_ARGS__)
#define PROFTRACE_BEGIN_VALUES(name, ...) \
	PROFTRACE__PROBE_VALUES(name, "__begin", PROFTRACE__COUNT(__VA_ARGS__), __VA_ARGS__)
#define PROFTRACE_REGION(name) \
	PROFTRACE_BEGIN(name); \
	PROFTRACE__AT_EXIT(name, __COUNTER__)
#define PROFTRACE_REGION_VALUES(name, ...)         \
	PROFTRACE_BEGIN_VALUES(name, __VA_ARGS__); \
	PROFTRACE__AT_EXIT(name, __COUNTER__)

#else

/* Declared, so that what is only used as a value counts as used; never called. */
int proftrace_ignore(int, ...);

#define PROFTRACE_MARK(name)		   ((void)0)
#define PROFTRACE_BEGIN(name)		   ((void)0)
#define PROFTRACE_END(name)		   ((void)0)
#define PROFTRACE_REGION(name)		   ((void)0)
#define PROFTRACE_MARK_VALUES(name, ...)   ((void)sizeof(proftrace_ignore(0, __VA_ARGS__)))
#define PROFTRACE_BEGIN_VALUES(name, ...)  ((void)sizeof(proftrace_ignore(0, __VA_ARGS__)))
#define PROFTRACE_REGION_VALUES(name, ...) ((void)sizeof(proftrace_ignore(0, __VA_ARGS__)))

#endif
#endif
