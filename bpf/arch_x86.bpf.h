/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64: registers, conditions and calls of the System V ABI. */
#ifndef PROFTRACE_ARCH_X86_BPF_H
#define PROFTRACE_ARCH_X86_BPF_H

#include "kernel.bpf.h"

#define REGISTERS    WIRE_NO_REGISTER
#define ARGUMENTS    6 /* in registers: rdi, rsi, rdx, rcx, r8, r9 */
#define RETURN_MOVES 8 /* a return pops the return address */

static __always_inline u64 stack_pointer(const struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline u64 frame_pointer(const struct pt_regs *ctx)
{
	return ctx->bp;
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

/* The number of the register that argument `number`, from 1 to ARGUMENTS, is in. */
static __always_inline u32 argument_register(u32 number)
{
	return 0x981267 >> 4 * (number - 1) & 15;
}

static __always_inline void registers_read(const struct pt_regs *ctx, u64 registers[REGISTERS])
{
	registers[0] = ctx->ax;
	registers[1] = ctx->cx;
	registers[2] = ctx->dx;
	registers[3] = ctx->bx;
	registers[4] = ctx->sp;
	registers[5] = ctx->bp;
	registers[6] = ctx->si;
	registers[7] = ctx->di;
	registers[8] = ctx->r8;
	registers[9] = ctx->r9;
	registers[10] = ctx->r10;
	registers[11] = ctx->r11;
	registers[12] = ctx->r12;
	registers[13] = ctx->r13;
	registers[14] = ctx->r14;
	registers[15] = ctx->r15;
}

static __always_inline u64 thread_pointer(const struct task_struct *task)
{
	return FIELD(task, thread.fsbase);
}

#define FLAG_CF 0x001
#define FLAG_PF 0x004
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

#endif
