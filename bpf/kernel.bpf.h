/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where kernels differ. The sources are compiled twice: proftrace.bpf.c needs Linux 5.17, and
 * basic.bpf.c, which defines PROFTRACE_BASIC, Linux 5.10. What the older ones lack has a name here,
 * and is replaced:
 *
 *   bpf_loop() (5.17)               loops of a fixed bound, each of whose rounds the verifier walks
 *   atomics with a result (5.12)    the one kind that there is, an addition, as a lock
 *   bpf_get_current_task_btf()      reads of the task by bpf_probe_read_kernel()
 *     (5.11)
 *   bpf_find_vma() (5.17)           nothing: a thread has its own stack and its signal stack
 *   programs that sleep (6.0)       nothing: no thread waits for the plan
 *
 * Both have the same programs, maps and global variables, so user space has one skeleton for them.
 * A third object, asleep.bpf.c, has one program, which looks at other threads than the current one:
 * it defines PROFTRACE_ASLEEP.
 *
 * On kernels with basic.bpf.c programs are not preempted, and none is begun while another runs on
 * that CPU.
 */
#ifndef PROFTRACE_KERNEL_BPF_H
#define PROFTRACE_KERNEL_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "wire.h"

/*
 * Of a variable that programs write: it lies apart from those that each event reads, as a write on
 * one CPU takes their cache line from all others. What calls write at each event is no variable,
 * but an entry of a table that belongs to one stack, or to one CPU (scripts/bpf-writes checks it).
 */
#define WRITTEN __attribute__((section(".data.written")))

/* The lock of basic.bpf.c: how many threads are about to get it. Nobody waits with it in hand. */
u32 basic_lock WRITTEN = 0;

/* Of an argument of a global function: the compiler passes none that is not looked at, but the
 * verifier demands all. */
#define LOOK_AT(ARGUMENT) asm volatile("" : : "r"(ARGUMENT))

/*
 * Reads a field of one of the kernel's structures by a call, some 20 ns. For pointers that lead on
 * from a task, where events do not come by: each time that the verifier sees such a one read by an
 * instruction, it goes through all the names in the kernel's BTF, 1.5 ms. What this has read may
 * only be read on by this.
 */
#define FAR_FIELD(POINTER, NAME)                                           \
	({                                                                 \
		__typeof__(POINTER) from_ = (POINTER);                     \
		__typeof__(from_->NAME + 0) value_ = 0;                    \
		bpf_core_read(&value_, sizeof(from_->NAME), &from_->NAME); \
		value_;                                                    \
	})

#ifndef PROFTRACE_BASIC

#define CAN_SLEEP      true
#define HAS_REGISTERS  true /* of threads that do not run: bpf_task_pt_regs() (5.15) */
#define HAS_COOKIES    true /* bpf_get_attach_cookie() (5.15) */
#define SLEEPING_PROBE "uprobe.s"
#define COPY_FROM_USER bpf_copy_from_user
#define KNOWS_MAPPINGS true /* which one an address is in */

/* Calls fn(i, ctx) for i from 0 to n - 1, or until it returns something else than 0. */
#define LOOP(N, FN, CTX) bpf_loop(N, FN, CTX, 0)

/* Sets *place to `then` if it is `now`, and returns whether it was. */
#define SWAP_IF(PLACE, NOW, THEN) (__sync_val_compare_and_swap(PLACE, NOW, THEN) == (NOW))

/* Sets *place, unless it is set already. */
#define SET_ONCE(PLACE, VALUE) __sync_val_compare_and_swap(PLACE, 0, VALUE)

#ifdef PROFTRACE_ASLEEP

/* The thread that asleep.bpf.c looks at stands in for the current one, which is proftrace's. */
u64 sleeping_task WRITTEN = 0; /* its address */

#define FIELD FAR_FIELD

static __always_inline struct task_struct *current_task(void)
{
	return (struct task_struct *)sleeping_task;
}

#else

/* Reads a field of one of the kernel's structures. */
#define FIELD(POINTER, NAME) ((POINTER)->NAME)

static __always_inline struct task_struct *current_task(void)
{
	return bpf_get_current_task_btf();
}

#endif

/* Takes the next number. */
static __always_inline u32 next_number(u32 *next)
{
	return __sync_fetch_and_add(next, 1);
}

/* Counts, and returns how many there were before. */
static __always_inline u64 count_up(u64 *counter)
{
	return __sync_fetch_and_add(counter, 1);
}

/* A lock is as struct wire_callstack::busy. */
static __always_inline bool lock_try(u64 *lock)
{
	u64 busy = *(volatile u64 *)lock;

	return WIRE_BUSY_FREE(busy) && SWAP_IF(lock, busy, busy + 1);
}

static __always_inline void lock_release(u64 *lock)
{
	*(volatile u64 *)lock += WIRE_BUSY_RELEASED - 1;
}

#else

#define CAN_SLEEP      false
#define HAS_REGISTERS  false
#define HAS_COOKIES    false
#define SLEEPING_PROBE "uprobe"
#define COPY_FROM_USER bpf_probe_read_user
#define KNOWS_MAPPINGS false

/* The verifier walks each round. Those of more than a few instructions are to be calls of a global
 * function, which it looks at once. */
#define LOOP(N, FN, CTX)                         \
	do {                                     \
		for (u32 i_ = 0; i_ < (N); i_++) \
			if (FN(i_, CTX))         \
				break;           \
	} while (0)

#define FIELD	   FAR_FIELD

static __always_inline struct task_struct *current_task(void)
{
	return (struct task_struct *)bpf_get_current_task();
}

/* Some 50 us. In virtual machines whoever has the lock may wait for its processor. The verifier
 * walks each try, 8,192 at most. */
#define LOCK_TRIES 2048

/* Programs are not preempted, so whoever has the lock is done soon. False: still not got. */
__noinline u32 basic_lock_take(void)
{
	for (u32 i = 0; i < LOCK_TRIES; i++) {
		__sync_fetch_and_add(&basic_lock, 1);
		if (*(volatile u32 *)&basic_lock == 1)
			return true;
		__sync_fetch_and_add(&basic_lock, -1);
	}
	return false;
}

static __always_inline void basic_lock_release(void)
{
	__sync_fetch_and_add(&basic_lock, -1);
}

/* False, too, if it could not be found out. */
#define SWAP_IF(PLACE, NOW, THEN)                                                   \
	({                                                                          \
		bool swapped_ = false;                                              \
		if (basic_lock_take()) {                                            \
			if (*(volatile __typeof__(*(PLACE)) *)(PLACE) == (NOW)) {   \
				*(volatile __typeof__(*(PLACE)) *)(PLACE) = (THEN); \
				swapped_ = true;                                    \
			}                                                           \
			basic_lock_release();                                       \
		}                                                                   \
		swapped_;                                                           \
	})

/* Of two that try at once, the last one sets it. */
#define SET_ONCE(PLACE, VALUE)                                               \
	do {                                                                 \
		if (!*(PLACE))                                               \
			*(volatile __typeof__(*(PLACE)) *)(PLACE) = (VALUE); \
	} while (0)

/* ~0: it could not be taken. */
static __always_inline u32 next_number(u32 *next)
{
	u32 number = ~0u;

	if (basic_lock_take()) {
		number = *(volatile u32 *)next;
		*(volatile u32 *)next = number + 1;
		basic_lock_release();
	}
	return number;
}

/* Two CPUs that count at once may get the same number. */
static __always_inline u64 count_up(u64 *counter)
{
	u64 before = *(volatile u64 *)counter;

	__sync_fetch_and_add(counter, 1);
	return before;
}

/* Of two that try at once, both may fail. */
static __always_inline bool lock_try(u64 *lock)
{
	__sync_fetch_and_add(lock, 1);
	if ((*(volatile u64 *)lock & (WIRE_BUSY_TAKEN | WIRE_BUSY_ENDED)) == 1)
		return true;
	__sync_fetch_and_add(lock, -1);
	return false;
}

static __always_inline void lock_release(u64 *lock)
{
	__sync_fetch_and_add(lock, WIRE_BUSY_RELEASED - 1);
}

#endif
#endif
