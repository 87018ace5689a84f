/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64: registers, conditions and calls of the System V ABI. */
#ifndef PROFTRACE_ARCH_X86_BPF_H
#define PROFTRACE_ARCH_X86_BPF_H

#include "kernel.bpf.h"

#define REGISTERS	WIRE_NO_REGISTER
#define ARGUMENTS	6 /* in registers: rdi, rsi, rdx, rcx, r8, r9 */
#define RETURN_MOVES	8 /* a return pops the return address */
#define STACK_ARGUMENTS 8

static __always_inline u64 stack_pointer(const struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline u64 frame_pointer(const struct pt_regs *ctx)
{
	return ctx->bp;
}

/* rbx, by which some frames are found. */
static __always_inline u64 saved_register(const struct pt_regs *ctx)
{
	return ctx->bx;
}

static __always_inline u64 instruction_pointer(const struct pt_regs *ctx)
{
	return ctx->ip;
}

static __always_inline u64 result_register(const struct pt_regs *ctx)
{
	return ctx->ax;
}

static __always_inline u64 first_argument(const struct pt_regs *ctx)
{
	return ctx->di;
}

static __always_inline u64 second_argument(const struct pt_regs *ctx)
{
	return ctx->si;
}

static __always_inline u64 third_argument(const struct pt_regs *ctx)
{
	return ctx->dx;
}

/* The number of the register that argument `number`, from 1 to ARGUMENTS, is in. */
static __always_inline u32 argument_register(u32 number)
{
	return 0x981267 >> 4 * (number - 1) & 15;
}

/* Registers by the numbers that instructions have for them: X(NUMBER, FIELD of struct pt_regs). */
#define NUMBERED_REGISTERS(X) \
	X(0, ax)              \
	X(1, cx)              \
	X(2, dx)              \
	X(3, bx)              \
	X(4, sp)              \
	X(5, bp)              \
	X(6, si)              \
	X(7, di)              \
	X(8, r8)              \
	X(9, r9)              \
	X(10, r10)            \
	X(11, r11)            \
	X(12, r12)            \
	X(13, r13)            \
	X(14, r14)            \
	X(15, r15)

#define COPY_REGISTER(NUMBER, FIELD) registers[NUMBER] = ctx->FIELD;

static __always_inline void registers_read(const struct pt_regs *ctx, u64 registers[REGISTERS])
{
	NUMBERED_REGISTERS(COPY_REGISTER)
}

/* The number of the system call that the kernel works at for a thread with these registers; below
 * 0: at none. */
static __always_inline s64 system_call_number(const struct pt_regs *regs)
{
	return (s64)regs->orig_ax;
}

/* System calls of the kernel's own at probes: uretprobe (6.11) and uprobe (6.18). */
static __always_inline bool is_call_of_probe(u64 number)
{
	return number == 335 || number == 336;
}

/* rt_sigreturn: what looks like its result is that of what the handler has interrupted. */
#define NR_SIGRETURN 15

#define THREAD_POINTER thread.fsbase

/* Addresses from here on are programs' only on machines with five levels of page tables, and only
 * of those that ask for them. */
#define PROGRAMS_END	0x7ffffffff000ull
#define HAS_SHADOWSTACK 1 /* ARCH_SHSTK_SHSTK */
#define BREAKPOINT	0xcc

static __always_inline bool has_shadow_stack(const struct task_struct *task)
{
	return bpf_core_field_exists(task->thread.features) &&
	       (FIELD(task, thread.features) & HAS_SHADOWSTACK);
}

/* A `ret` that was hit. */
struct return_hit {
	u64 slot;
	u64 to; /* 0: it is not to be emulated */
};

/* The byte at `ip`; 0: it could not be read. */
static __always_inline u8 byte_at(u64 ip)
{
	u8 byte = 0;

	return bpf_probe_read_user(&byte, sizeof(byte), (void *)ip) ? 0 : byte;
}

/* Whether a breakpoint is at `ip`. */
static __always_inline bool breaks_at(u64 ip)
{
	return byte_at(ip) == BREAKPOINT;
}

/* Whether the kernel works for a thread, with these registers, at a breakpoint: before it has set
 * the instruction pointer back to it, or behind. */
static __always_inline bool is_at_breakpoint(const struct pt_regs *regs)
{
	u64 ip = regs->ip;

	/* A system call has its number there. */
	return (s64)regs->orig_ax == -1 && (breaks_at(ip) || breaks_at(ip - 1));
}

#define NR_URETPROBE 335
#define NR_UPROBE    336
#define CALL	     0xe8

/* Whether it works at a probe without a breakpoint: at a nop that has become a call, whose number
 * it soon forgets, or at a return. Not for sure: a page may be missing for a call, too. */
static __always_inline bool is_at_call_of_probe(const struct pt_regs *regs)
{
	if ((s64)regs->orig_ax != -1)
		return regs->orig_ax == NR_UPROBE || regs->orig_ax == NR_URETPROBE;
	return byte_at(regs->ip) == CALL;
}

/*
 * Decides whether a `ret` that was hit is emulated, and finds the slot of the call that it ends.
 * `offset`: where the `ret` is within its page, say 0x7c3 of 0x5581407c3.
 *
 * Several programs may be called at one hit, of this profiler and of others, one after the other.
 * One that was called before may have emulated the `ret`: then the registers are those behind it,
 * and to emulate it once more would take the caller's return address off the stack too. It shows by
 * two things: the instruction pointer is not at the `ret`, and the word below the stack pointer is
 * the instruction pointer. Without both of their opposites nothing is emulated; then the kernel
 * steps the `ret`, if that has not been done yet.
 *
 * The second alone is also true of a `ret` right behind a call, whose return address is still below
 * the stack pointer; the first may fail if the address that is returned to ends as the `ret`'s
 * does. Where the two disagree so, there is a breakpoint at the `ret`, and hardly at the other.
 *
 * A `ret` that returns to itself is left to the kernel, which would not see that it is done.
 */
static __always_inline void return_look(const struct pt_regs *ctx, u32 offset, bool emulate,
					struct return_hit *hit)
{
	u64 sp = ctx->sp, ip = ctx->ip, words[2]; /* below the stack pointer, and at it */
	bool here = (ip & WIRE_PAGE_MASK) == offset;

	hit->slot = sp;
	hit->to = 0;
	if (bpf_probe_read_user(words, sizeof(words), (void *)(sp - RETURN_MOVES)))
		return;
	if (words[0] == ip && !(here && breaks_at(ip)))
		hit->slot = sp - RETURN_MOVES;
	else if (emulate && words[0] != ip && here && words[1] != ip && words[1] < PROGRAMS_END &&
		 !has_shadow_stack(current_task()))
		hit->to = words[1];
}

/* Does what the `ret` would do. The kernel does not step an instruction that the instruction
 * pointer has left. */
static __always_inline void return_emulate(struct pt_regs *ctx, const struct return_hit *hit)
{
	if (!hit->to)
		return;
	ctx->sp = hit->slot + RETURN_MOVES;
	ctx->ip = hit->to;
}

#define FLAG_CF 0x001
#define FLAG_PF 0x004
#define FLAG_AF 0x010
#define FLAG_ZF 0x040
#define FLAG_SF 0x080
#define FLAG_OF 0x800

/* Whether condition `cond`, the low four bits of a jcc's opcode, holds. */
static __always_inline bool condition_holds(const struct pt_regs *ctx, u32 cond)
{
	u64 flags = ctx->flags;
	bool holds, less = !(flags & FLAG_SF) != !(flags & FLAG_OF);

	switch (cond >> 1) {
	case 0:
		holds = flags & FLAG_OF;
		break;
	case 1:
		holds = flags & FLAG_CF;
		break;
	case 2:
		holds = flags & FLAG_ZF;
		break;
	case 3:
		holds = flags & (FLAG_CF | FLAG_ZF);
		break;
	case 4:
		holds = flags & FLAG_SF;
		break;
	case 5:
		holds = flags & FLAG_PF;
		break;
	case 6:
		holds = less;
		break;
	default:
		holds = less || (flags & FLAG_ZF);
		break;
	}
	return holds != (cond & 1);
}

/* The verifier wants to know which one is meant: the compiler must not make one access, at an
 * offset that it computes, of several. */
#define READ_REGISTER(NUMBER, FIELD)            \
	case NUMBER:                            \
		value = ctx->FIELD;             \
		asm volatile("" : "+r"(value)); \
		break;
#define WRITE_REGISTER(NUMBER, FIELD)            \
	case NUMBER:                             \
		ctx->FIELD = value;              \
		asm volatile("" : : : "memory"); \
		break;

/* 0: there is no such register. */
static __always_inline u64 register_read(const struct pt_regs *ctx, u32 number)
{
	u64 value = 0;

	switch (number) {
		NUMBERED_REGISTERS(READ_REGISTER)
	}
	return value;
}

static __always_inline void register_write(struct pt_regs *ctx, u32 number, u64 value)
{
	switch (number) {
		NUMBERED_REGISTERS(WRITE_REGISTER)
	}
}

#define FLAGS_OF_RESULTS (FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF)
#define FLAGS_OF_ZERO	 (FLAG_ZF | FLAG_PF)

/*
 * Does what the instruction does that was hit, unless somebody has done it: the instruction pointer
 * is at that instruction no longer then, so it has another place in its page, or no breakpoint. The
 * kernel does not step an instruction that the instruction pointer has left; if nothing is emulated
 * here it does, if that has not been done yet.
 */
static __always_inline void instruction_emulate(struct pt_regs *ctx, const struct wire_emulation *e)
{
	u64 ip = ctx->ip, value;

	if (!e->length || (ip & WIRE_PAGE_MASK) != e->page_offset || !breaks_at(ip))
		return;
	value = register_read(ctx, e->base) + (register_read(ctx, e->index) << (e->shift & 3)) +
		e->constant;
	if (e->flags & WIRE_EMULATE_BY_IP)
		value += ip + e->length;
	if (e->flags & WIRE_EMULATE_32)
		value = (u32)value;
	if (e->flags & WIRE_EMULATE_SIGNED)
		value = (s64)(s32)value;
	register_write(ctx, e->to, value);
	if (e->flags & WIRE_EMULATE_ZERO)
		ctx->flags = (ctx->flags & ~(u64)FLAGS_OF_RESULTS) | FLAGS_OF_ZERO;
	ctx->ip = ip + e->length;
}

#endif
