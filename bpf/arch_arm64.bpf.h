/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * arm64: registers, conditions and calls of AAPCS64. A call leaves the return address in x30; the
 * slot of a frame is where the stack pointer is at the function's entry. Nobody keeps anything
 * else there that is a frame: a function that calls another has put x30 on the stack before.
 */
#ifndef PROFTRACE_ARCH_ARM64_BPF_H
#define PROFTRACE_ARCH_ARM64_BPF_H

#include "kernel.bpf.h"

#define REGISTERS	WIRE_NO_REGISTER /* x0 to x15: those that values may be in */
#define ARGUMENTS	8		 /* in registers: x0 to x7 */
#define RETURN_MOVES	0
#define STACK_ARGUMENTS 0

static __always_inline u64 stack_pointer(const struct pt_regs *ctx)
{
	return ctx->sp;
}

/* No frames are found by another register than these two here. */
static __always_inline u64 saved_register(__attribute__((unused)) const struct pt_regs *ctx)
{
	return 0;
}

static __always_inline u64 frame_pointer(const struct pt_regs *ctx)
{
	return ctx->regs[29];
}

static __always_inline u64 instruction_pointer(const struct pt_regs *ctx)
{
	return ctx->pc;
}

static __always_inline u64 result_register(const struct pt_regs *ctx)
{
	return ctx->regs[0];
}

static __always_inline u64 first_argument(const struct pt_regs *ctx)
{
	return ctx->regs[0];
}

static __always_inline u64 second_argument(const struct pt_regs *ctx)
{
	return ctx->regs[1];
}

static __always_inline u64 third_argument(const struct pt_regs *ctx)
{
	return ctx->regs[2];
}

/* The number of the register that argument `number`, from 1 to ARGUMENTS, is in. */
static __always_inline u32 argument_register(u32 number)
{
	return number - 1;
}

static __always_inline void registers_read(const struct pt_regs *ctx, u64 registers[REGISTERS])
{
	registers[0] = ctx->regs[0];
	registers[1] = ctx->regs[1];
	registers[2] = ctx->regs[2];
	registers[3] = ctx->regs[3];
	registers[4] = ctx->regs[4];
	registers[5] = ctx->regs[5];
	registers[6] = ctx->regs[6];
	registers[7] = ctx->regs[7];
	registers[8] = ctx->regs[8];
	registers[9] = ctx->regs[9];
	registers[10] = ctx->regs[10];
	registers[11] = ctx->regs[11];
	registers[12] = ctx->regs[12];
	registers[13] = ctx->regs[13];
	registers[14] = ctx->regs[14];
	registers[15] = ctx->regs[15];
}

/* As it was when the thread left the CPU last: it is set once, as the thread begins. */
static __always_inline bool is_call_of_probe(__attribute__((unused)) u64 number)
{
	return false; /* its probes trap */
}

/* rt_sigreturn: what looks like its result is that of what the handler has interrupted. */
#define NR_SIGRETURN 139

#define THREAD_POINTER thread.uw.tp_value

/* Samples are taken on x86-64 alone. */
static __always_inline bool breaks_at(__attribute__((unused)) u64 ip)
{
	return false;
}

static __always_inline bool is_at_call_of_probe(__attribute__((unused)) const struct pt_regs *regs)
{
	return false;
}

static __always_inline bool is_at_breakpoint(__attribute__((unused)) const struct pt_regs *regs)
{
	return false;
}

static __always_inline s64 system_call_number(__attribute__((unused)) const struct pt_regs *regs)
{
	return -1;
}

/* The kernel simulates `ret`: there is nothing to emulate. */
struct return_hit {
	u64 slot;
};

static __always_inline void return_look(const struct pt_regs *ctx,
					__attribute__((unused)) u32 offset,
					__attribute__((unused)) bool emulate,
					struct return_hit *hit)
{
	hit->slot = ctx->sp;
}

static __always_inline void return_emulate(__attribute__((unused)) struct pt_regs *ctx,
					   __attribute__((unused)) const struct return_hit *hit)
{
}

/* Nothing at entries is emulated either. */
static __always_inline void instruction_emulate(__attribute__((unused)) struct pt_regs *ctx,
						__attribute__((unused))
						const struct wire_emulation *e)
{
}

#define FLAG_N (1u << 31)
#define FLAG_Z (1u << 30)
#define FLAG_C (1u << 29)
#define FLAG_V (1u << 28)

/* Whether condition `cond`, the low four bits of a b.cond, holds. */
static __always_inline bool condition_holds(const struct pt_regs *ctx, u32 cond)
{
	u64 flags = ctx->pstate;
	bool holds, less = !(flags & FLAG_N) != !(flags & FLAG_V);

	switch (cond >> 1) {
	case 0: /* eq */
		holds = flags & FLAG_Z;
		break;
	case 1: /* cs */
		holds = flags & FLAG_C;
		break;
	case 2: /* mi */
		holds = flags & FLAG_N;
		break;
	case 3: /* vs */
		holds = flags & FLAG_V;
		break;
	case 4: /* hi */
		holds = (flags & FLAG_C) && !(flags & FLAG_Z);
		break;
	case 5: /* ge */
		holds = !less;
		break;
	case 6: /* gt */
		holds = !less && !(flags & FLAG_Z);
		break;
	default: /* al, and nv, which is the same */
		return true;
	}
	return holds != (cond & 1);
}

#endif
