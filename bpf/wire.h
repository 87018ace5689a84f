/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of BPF and user space: map layouts and the probe cookie. This header and
 * wire_tables.h are all that both sides include (after <stdint.h> there, vmlinux.h here). Fixed
 * widths, explicit padding.
 *
 * Indexes into the tables below are u32; index 0 of each table is never used and means "none".
 */
#ifndef PROFTRACE_WIRE_H
#define PROFTRACE_WIRE_H

#ifdef __bpf__
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __s64 s64;
typedef __u64 u64;
#else
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
typedef int64_t s64;
typedef uint64_t u64;
#endif

/*
 * The cookie of a probe:
 *   bits  0..23  index of the function in the plan
 *   bits 24..39  entry sites: bytes the stack pointer has moved down since the function's entry;
 *                the return address is at sp + that; exit sites: the same, or above the frame
 *                pointer, with WIRE_EXIT_BY_FP; where programs may write registers, of a `ret`:
 *                its address within its page
 *   bits 40..47  entry sites without WIRE_ENTRY_UNLESS: the number of the list of values that are
 *                read of its calls; 0: none. With WIRE_ENTRY_CLOSES: how many instructions it
 *                runs at most
 *   bits 40..43  exit sites: enum wire_exit
 *   bits 44..47  exit sites of kind WIRE_EXIT_JCC, entry sites with WIRE_ENTRY_UNLESS: the
 *                condition, as in the opcode's low four bits
 *   bits 48..51  entry sites: WIRE_ENTRY_* flags; exit sites: WIRE_EXIT_* flags
 *   bits 52..56  what the probe costs: enum wire_cost_class
 *   bits 57..63  entry sites: generation of the function's probe, see hit_is_claimed()
 *
 * Of a region's begin and end sites (see regions.bpf.h):
 *   bits  0..23  as above
 *   bits 24..33  from the stack or frame pointer up to where the region's frame is, in words
 *   bits 34..39  begin sites: the low bits of the site's number in its region
 *   bits 40..47  begin sites: the number of the list of values
 *   bits 48..51  WIRE_REGION_* flags
 *   bits 52..63  as above, of both
 *
 * Line sites have others: bits 0..23 the number of the site, 52..56 what the probe costs, and
 * 57..63 the generation of all line probes: those of another one are on their way out.
 */
#define WIRE_MAX_FUNCTIONS   (1u << 24)
#define WIRE_COOKIE_FUNCTION 0xffffffull
#define WIRE_COOKIE_DELTA    24
#define WIRE_COOKIE_VALUES   40
#define WIRE_COOKIE_EXIT     40
#define WIRE_COOKIE_COND     44
#define WIRE_COOKIE_FLAGS    48
#define WIRE_COOKIE_COST     52

#define WIRE_COOKIE_SITE       34
#define WIRE_MAX_SITES	       64     /* that are told apart */
#define WIRE_REGION_MAX_UP     0x3ffu /* in words */
#define WIRE_COOKIE_GENERATION 57
#define WIRE_GENERATIONS       128 /* after the last one comes 0 again */

enum wire_exit {
	WIRE_EXIT_RET = 1, /* leaves the function whenever it runs */
	WIRE_EXIT_JCC = 2, /* leaves if the condition holds */
	/* leaves for another function, or will return at once: there is no result yet */
	WIRE_EXIT_JMP = 3,
};

/* The slot is told from the frame pointer. */
#define WIRE_EXIT_BY_FP 1u
/* A `ret`: the program does what it does, so that the kernel need not step it. */
#define WIRE_EXIT_EMULATED 2u
/* A jump to a function whose calls are recorded: a call of a whole one (WIRE_ROLE_WHOLE) goes on
 * there. */
#define WIRE_EXIT_GOES_ON 4u
#define WIRE_PAGE_MASK	  0xfffu

/* The function may be left by a jump to another one, which then owns its stack slot. */
#define WIRE_ENTRY_TAIL 1u
/* The entry site lies in a loop: hitting it again with the same stack slot is no new call. */
#define WIRE_ENTRY_LOOP 2u
/* The entry site is a branch: the function is entered unless the condition holds. */
#define WIRE_ENTRY_UNLESS 4u
/* The leave is seen by a return probe, of which the kernel arms WIRE_MAX_RETURNS a thread. */
#define WIRE_ENTRY_RETURN 8u
#define WIRE_MAX_RETURNS  64 /* MAX_URETPROBE_DEPTH */
/* Both: the call is over as soon as its few instructions have run, so the entry ends it. What has
 * one of the two has no other use for both: goroutines' functions have no return probes. */
#define WIRE_ENTRY_CLOSES (WIRE_ENTRY_UNLESS | WIRE_ENTRY_RETURN)
/* How long an instruction of a call that its entry ends is taken to last, in ps: an instruction
 * in 1.2 cycles at 3 GHz. A guess; caches that miss are not in it. */
#define WIRE_INSN_PS 400

/* The whole cookie of a hook on libc's makecontext(); those of other makers of stacks have 0. */
#define WIRE_MAKECONTEXT 1u

/* Of sites of regions. */
#define WIRE_REGION_MARK   1u /* nothing ends it: its call has returned at once */
#define WIRE_REGION_BY_FP  2u /* its frame's place is told from the frame pointer */
#define WIRE_REGION_CALLED 4u /* it is in code of its own, which the region's code calls */
/* It has no place on the stack: its begins and ends are told apart by their order. */
#define WIRE_REGION_ORDERED 8u

/*
 * The instruction at a function's entry that our program emulates, where programs may write
 * registers (7.0), by function: register `to` becomes
 *
 *	register `base` + (register `index` << shift) + constant
 *
 * For `lea 0x20(%rdi,%rsi,8), %rax`: to 0, base 7, index 6, shift 3, constant 0x20. The kernel
 * would single-step it.
 */
struct wire_emulation {
	u16 page_offset;    /* its address within its page */
	u8 length;	    /* bytes; 0: nothing is emulated */
	u8 to, base, index; /* as instructions number them, or WIRE_NO_REGISTER */
	u8 shift;
	u8 flags; /* WIRE_EMULATE_* */
	s64 constant;
};

_Static_assert(sizeof(struct wire_emulation) == 16, "entries do not cross cache lines");

#define WIRE_EMULATE_32	    1u /* the register gets 32 bits, and zeros above them */
#define WIRE_EMULATE_SIGNED 2u /* the result's low 32 bits are extended by their sign */
#define WIRE_EMULATE_BY_IP  4u /* the address behind the instruction is added */
#define WIRE_EMULATE_ZERO   8u /* flags are set as by a result of 0 */

/*
 * Cost of a traced call to the target, by the kind of probes that see it: the part that lies in the
 * function's own measured interval, and the part outside, which only its caller sees. A call's cost
 * is that of its entry plus that of its exit. All zero until they have been measured.
 */
enum wire_cost_class {
	WIRE_COST_NONE,	 /* a leave that no probe saw */
	WIRE_COST_ENTRY, /* + site class, in the order of the plan's, but for ..._ENTRY_EMUL */
	WIRE_COST_ENTRY_PUSH = WIRE_COST_ENTRY + 3,
	WIRE_COST_ENTRY_LAST = WIRE_COST_ENTRY + 7,
	WIRE_COST_RETURN,    /* a return probe: armed, and hit */
	WIRE_COST_TAIL,	     /* the same, of a function that leaves by a tail call */
	WIRE_COST_EXIT_STEP, /* exit sites: a single-stepped one, as a `ret` is on most kernels */
	WIRE_COST_EXIT_JMP,  /* an emulated jump; or the nop where a region ends */
	WIRE_COST_EXIT_JCC,
	WIRE_COST_EXIT_RET,    /* a `ret` that our program emulates */
	WIRE_COST_NEW_CALLEE,  /* another callee than the one before: a look-up (outside) */
	WIRE_COST_NESTED,      /* more, if both caller and callee have return probes pending */
	WIRE_COST_SPARED,      /* by an entry that is passed over, of its cost (outside) */
	WIRE_COST_TIMED,       /* no cost: what a timed part takes; outside: with a look-up */
	WIRE_COST_EXIT_NOP5,   /* a region's end at a nop that becomes a call, of 5 or 10 bytes */
	WIRE_COST_CLOSED,      /* spared by an entry that ends its call, of its cost (outside) */
	WIRE_COST_ENTRY_EMUL,  /* an entry at an instruction that our program emulates */
	WIRE_COST_SYSTEM_CALL, /* a system call: its begin and its end */
	WIRE_COST_CLASSES,
	WIRE_COST_MASK = 31,
};

struct wire_cost {
	s32 inside_ns;
	s32 outside_ns; /* below 0 if it lies inside another function's interval and is charged
			   twice */
};

/*
 * One open call. Frames form a chain for each call stack, from a sentinel at the bottom upwards;
 * popped frames stay linked through `down` for the next call. In redis, while GET looks a key up:
 *
 *   number  slot            function              node  up  down
 *    1      ~0 (sentinel)   -                     23    0   2       its node is the root
 *    2      0x7ffee7f4bbe8  getGenericCommand     21    1   3
 *    3      0x7ffee7f4bbc8  lookupKeyReadOrReply  20    2   4
 *    4      0x7ffee7f4bb98  lookupKey             19    3   0       innermost: `top`
 *
 * A leave at slot 0x7ffee7f4bbc8 pops frame 3, and closes frame 4 as unwound before.
 */
struct wire_frame {
	/* Address of the return address: identifies the call on its stack. Of a span: as
	 * wire_callstack::passed, below it. */
	u64 slot;
	u64 entered_ns;
	u64 child_ns; /* time of finished traced callees */
	u64 probe_ns; /* of the time since the entry: what the callees' probes have cost */
	u32 node;
	u32 function;
	u32 up;		  /* the caller's frame */
	u32 down;	  /* the frame for the next callee, 0: not allocated yet */
	u32 level;	  /* sentinel 0, outermost call 1 */
	u32 entry;	  /* the entry's cookie from bit WIRE_COOKIE_FLAGS on; and WIRE_FRAME_* */
	u32 weight;	  /* it stands for so many calls */
	u32 own_probe_ns; /* of probe_ns, what lies in its own time; no more than fits */
};

#define WIRE_FRAME_FLAGS(entry) ((entry)&0xf)
#define WIRE_CLOSES(entry)	((WIRE_FRAME_FLAGS(entry) & WIRE_ENTRY_CLOSES) == WIRE_ENTRY_CLOSES)
#define WIRE_FRAME_COST(entry)	((entry) >> (WIRE_COOKIE_COST - WIRE_COOKIE_FLAGS) & WIRE_COST_MASK)

/* The number of the list of values that its wire_values has; 0: none. */
#define WIRE_FRAME_LIST		 16
#define WIRE_FRAME_VALUES(entry) ((entry) >> WIRE_FRAME_LIST & 0xff)

/* Of a region's frame; it has the number of its begin site where others have the generation. */
#define WIRE_FRAME_REGION (1u << 24)
#define WIRE_FRAME_ENDED  (1u << 25) /* in a callee that has not returned yet */
#define WIRE_FRAME_BURST  (1u << 26) /* its function is dropped: it was entered in a burst */
/* Of a burst's frame: which of the last WIRE_BURSTS bursts that was, by its serial's low bits. */
#define WIRE_FRAME_TURN		    27
#define WIRE_BURSTS		    32
#define WIRE_FRAME_BURST_OF(burst)  (WIRE_FRAME_BURST | (burst) << WIRE_FRAME_TURN)
#define WIRE_FRAME_BURST_NUM(entry) ((entry) >> WIRE_FRAME_TURN & (WIRE_BURSTS - 1))
/* Of others: by a WIRE_EXIT_GOES_ON the function was left for the one above, or that enters next.
 */
#define WIRE_FRAME_JUMPED (1u << 27)
#define WIRE_FRAME_SITE(entry) \
	((entry) >> (WIRE_COOKIE_GENERATION - WIRE_COOKIE_FLAGS) & (WIRE_MAX_SITES - 1))

/*
 * One call path of one call stack, written only by that call stack's thread: a cache line.
 * Inclusive time is not kept: it is self_ns plus that of the children. Times are as measured, with
 * what the probes cost; but min_ns and max_ns are without. The nodes of the calls above, once they
 * have returned:
 *
 *   number  parent  function              calls  self_ns  probe_ns  max_ns
 *    23      0      (root)                0      0        -         0
 *    21      23     getGenericCommand     1      6209     1427      8616
 *    20      21     lookupKeyReadOrReply  1      3025     1291      3834
 *    19      20     lookupKey             1      2664     564       2100    (2664 - 564)
 */
struct wire_node {
	u32 parent;
	u32 function;
	u32 last_child;	 /* a guess that spares the look-up */
	u32 timed_ns;	 /* now and then a part of an entry is timed, to see how cold caches are, */
	u32 expected_ns; /* and this is what it takes in calibration */
	u32 pad;
	u64 calls;   /* entered */
	u64 self_ns; /* of finished calls; less than 0 for moments, see frame_close() */
	u64 min_ns;  /* of returned calls, inclusive; 0: none */
	u64 max_ns;
	u64 probe_ns; /* what of self_ns is the probes' cost */
};

/* The fields of a node that calls do not touch, in a table of their own under the node's number. */
struct wire_node_rest {
	u32 callstack; /* 0: the node is free */
	u32 older;     /* the call stack's previously made node */
	u64 off_ns;    /* off the CPU while this path was the innermost */
};

/* A call stack's n-th entry is timed if this is below a limit, one in 16: a Weyl sequence, so that
 * no pattern of calls hides from it. What takes longer was interrupted. */
#define WIRE_TIMED(n)	  ((u32)((n)*0x9e3779b1u))
#define WIRE_TIMED_LIMIT  (1u << 28)
#define WIRE_TIMED_MAX_NS 500

/* Whose stack a call stack is. */
enum wire_callstack_kind {
	WIRE_CALLSTACK_THREAD = 1, /* a thread's: found by its tid */
	WIRE_CALLSTACK_COROUTINE,  /* a coroutine's: threads come and go */
	WIRE_CALLSTACK_SIGNAL,	   /* a thread's alternate signal stack */
	/* A goroutine's: its slots are distances from the upper end of its stack, as Go moves it.
	 */
	WIRE_CALLSTACK_GOROUTINE,
	/* Spans of one region, whose ends are told by their order, beside one of the others. */
	WIRE_CALLSTACK_SPANS,
};

/*
 * A stack: the chain of calls that are open on it, and its call paths. It is written only by the
 * thread that runs on it. Thread stacks belong to one thread for good; the others have a lock, for
 * a guess at whose stack it is may be wrong, and user space may end those that are idle.
 *
 *   28724 --> number 1 --top-----> frame 4 -up-> 3 -up-> 2 -up-> 1 (`bottom`)
 *    (tid)      |                    |node       |node   |node   |node
 *               |                    v           v       v       v
 *               +------newest----> node 19     node 20 node 21 node 23 (`root`)
 *
 * Members come in this order: whose it is, where it lies; counts; the state of its thread (marked
 * "thread stack:"); what only goroutines, signal stacks and spans have; then what --calls and
 * waiting need. Times are CLOCK_MONOTONIC or sums of it, in ns.
 *
 * A call stack of spans is beside another one, its base, and used under that one's lock. It ends
 * with it, so it has no exit_ns; and its off_ns and probe_ns are the base's as of its last event.
 */
struct wire_callstack {
	u64 pid_tgid; /* thread stack: tgid << 32 | tid of its thread; else 0 */
	u64 owner; /* tgid << 32 | tid of the thread it is shown under: the first that ran on it */
	/* Addresses that are known to be its own, from the last look at the stacks. Goroutine: `hi`
	 * alone, the upper end of its stack at the last event, from which its slots count. */
	u64 lo, hi;
	u64 exit_ns; /* monotonic; 0 while it lives; set after everything else */
	u64 checked; /* of lo and hi: how many stacks were known then */
	u32 current; /* thread stack: the call stack that its thread was seen on last */
	u32 top;     /* innermost open frame */
	u64 entered, returned, unwound;
	u64 deep;      /* of entered: calls whose return the kernel does not report */
	u64 sigstack;  /* thread stack: task_struct::sas_ss_sp as seen last */
	u64 signal_lo; /* thread stack: its signal stack */
	u64 signal_hi;
	u32 signal;	    /* thread stack: the call stack of that */
	u32 under;	    /* signal: the call stack that was interrupted */
	u64 anchor;	    /* thread stack: a slot on the thread's own stack; 0: none seen */
	u64 g, goid;	    /* goroutine: the address of its descriptor, and its number */
	u64 start_ns;	    /* boot time of the thread's start: tells users of one tid apart */
	u64 made_ns;	    /* monotonic: tells call stacks of one owner apart; thread stack: 0 */
	u32 kind;	    /* enum wire_callstack_kind */
	u32 stack;	    /* stack: its number in the table of stacks */
	u32 bottom;	    /* sentinel frame */
	u32 root;	    /* node of the call stack itself, never shown */
	u32 newest;	    /* node made last: head of the list through `older` */
	u32 signal_disarms; /* thread stack: it is hidden while a handler runs on it */
	char comm[16];
	u32 state;     /* WIRE_CALLSTACK_* */
	u32 astray;    /* thread stack: what was seen last, and [lo, hi), may be another's stack */
	u64 off_since; /* thread stack: monotonic, when its thread went off the CPU; 0: it is on one
			*/
	/* thread stack: the last hit of an entry site on its thread, by stack pointer and function;
	 * and the generation of the oldest probe there that was run for it so far */
	u64 hit_slot;
	u32 hit_function;
	u32 hit_generation;
	/* For --calls: the chunks with its finished calls, the first one and the one that is being
	 * filled; and all the time, in ns, that it was off the CPU. */
	u32 first_chunk, chunk;
	u64 off_ns;
	u64 probe_ns; /* all that probes have cost on it so far; kept where there are regions */
	union {
		u64 passed; /* spans: open ones, above the innermost frame, that are not recorded */
		u64 in_burst; /* thread stack: WIRE_IN_BURST() */
	};
	u32 spans;    /* its first call stack of spans; of such a call stack, its base's next one */
	u32 base;     /* spans: the call stack that they are beside, set once all else is */
	u32 function; /* spans: their region */
	u32 off_callstack; /* thread stack: where its thread went off the CPU; 0: on no call stack
			      that is known */
	u32 runner;  /* the thread stack of the thread that is on it, as far as is known; 0: nobody
		      */
	u32 lives;   /* how often the entry was used: what a pending return knows it by */
	u64 left_ns; /* monotonic: when its last thread was seen elsewhere; 0: it was not */
	/* Monotonic: up to when it has waited last, and the frame that was innermost then. */
	u64 waited_ns;
	u32 waited_frame;
	u32 code_pages; /* as behind WIRE_TGID_PAGES, of its process */
	u32 draft;	/* the entry of the stacks that it unwinds into; 0: none yet */
	/* The unwound roots of its outermost calls (bpf/seeds.bpf.h). */
	u32 seed;	      /* its pair of entries in the table of seeds; 0: none yet */
	u16 seed_state;	      /* WIRE_SEED_* */
	u16 seed_vain;	      /* looks at the stack that have told nothing */
	u32 seed_first;	      /* the innermost frame of the seed that is still there */
	u32 seed_node;	      /* the path that outermost calls are below */
	u32 seed_turn;	      /* outermost calls so far */
	u64 seed_slot;	      /* where that frame's callee has its return address, which lies in */
	u64 seed_lo, seed_hi; /* the function of that frame */
	u64 seed_limit;	      /* where its own return address is; ~0: it has none */
	u64 seed_return;      /* that address, as it is in memory */
	u64 busy;	      /* WIRE_BUSY_*; the lock of all but thread stacks. Never set back */
};

/*
 * A burst is recorded between two system calls of each thread, as far as threads make any: it
 * begins in the first phase, where a thread has been in one since, else with the second, and it
 * ends in the third, once a thread is in one, else with that phase. So a server's requests are in
 * it as a whole, or not at all. Were it to begin and end with the phases, more requests would begin
 * in it than end: it begins while the server does what it mostly does, which is waiting in system
 * calls, and ends while that runs from probe to probe.
 */
enum wire_burst_phase { WIRE_BURST_OFF, WIRE_BURST_BEGINS, WIRE_BURST_GOES_ON, WIRE_BURST_ENDS };

/* The part of a thread in a burst, from the first to the last: not yet recorded, recorded, recorded
 * until its next system call, recorded no longer. */
enum wire_burst_part {
	WIRE_BURST_AWAITED,
	WIRE_BURST_RECORDED,
	WIRE_BURST_LEAVING,
	WIRE_BURST_LEFT
};

/* wire_callstack::in_burst: of the burst with that serial number a thread has that part, since it
 * had begun so many system calls (the low half of their number). */
#define WIRE_IN_BURST(serial, part, calls) ((u64)(serial) << 34 | (u64)(part) << 32 | (u32)(calls))
#define WIRE_IN_BURST_SERIAL(word)	   ((u32)((word) >> 34))
#define WIRE_IN_BURST_PART(word)	   ((u32)((word) >> 32) & 3)
#define WIRE_IN_BURST_CALLS(word)	   ((u32)(word))
#define WIRE_BURST_SERIALS		   0x3fffffffu

/*
 * wire_callstack::busy. The low bits: who has the lock, or is about to see that another one has it.
 * Above them: how often it was released. So user space never takes it: it ends a call stack on
 * which it has seen no call by setting one bit, if the lock is free and was not taken since; nobody
 * gets it afterwards, and no leave meets a lock for being looked at.
 */
#define WIRE_BUSY_TAKEN	     0xffffull
#define WIRE_BUSY_RELEASED   (WIRE_BUSY_TAKEN + 1)
#define WIRE_BUSY_ENDED	     (1ull << 63)
#define WIRE_BUSY_FREE(busy) (!((busy) & (WIRE_BUSY_TAKEN | WIRE_BUSY_ENDED)))

#define WIRE_CALLSTACK_READY 1
#define WIRE_THREAD_CACHE    32768 /* places in the cache of call stacks by tid */

/*
 * Finished calls, one by one, in order of their ends: each call stack has a chain of chunks, of
 * which it fills the last one. User space reads behind it, at any time, and hands back the chunks
 * that have a next one. So a call is written without a lock, and what is in no full chunk yet is
 * not lost.
 */
struct wire_call {
	u64 entered_ns;
	u64 took_ns; /* as measured */
	u64 off_ns;  /* of these, off the CPU */
	u32 node;
	u32 records; /* so many places behind this one hold the beginning of its wire_values */
};

#define WIRE_CHUNK_CALLS 31

struct wire_chunk {
	u32 next; /* 0: none yet. Set after all calls have been written */
	u32 cnt;  /* of calls. Set after each */
	u64 pad[3];
	struct wire_call calls[WIRE_CHUNK_CALLS];
};

/*
 * Values of arguments and results: which ones of a function's calls, by its list; and what they
 * are, by call.
 */
#define WIRE_LISTS	  256 /* with [0], which is not used */
#define WIRE_VALUES	  8
#define WIRE_TEXT	  64 /* bytes of a string, with its NUL */
#define WIRE_VALUE_WORDS  31
#define WIRE_VALUE_BEHIND 1u /* in memory, `offset` bytes behind the pointer */
#define WIRE_VALUE_TEXT	  2u /* it is a pointer to a string */
/* How user space reads the value: as a signed number, or a floating-point one. */
#define WIRE_VALUE_SIGNED 4u
#define WIRE_VALUE_FLOAT  8u
/* Of a string: it lies `offset` bytes behind the pointer itself. */
#define WIRE_VALUE_INSIDE 16u

/* Where a static probe's value lies: a constant `at`; register `base` >> shift; memory at base +
 * (index << shift) + at. Registers as instructions number them. */
enum wire_place {
	WIRE_PLACE_ARGUMENT, /* it is a function's */
	WIRE_PLACE_CONSTANT,
	WIRE_PLACE_REGISTER,
	WIRE_PLACE_MEMORY,
};
#define WIRE_NO_REGISTER 16
/* In place of a register: the thread pointer, behind which thread-local variables lie. */
#define WIRE_THREAD_POINTER 17

struct wire_value_place {
	u8 number; /* of the argument: 1 to 6 in registers, then on the stack; 0: the result */
	u8 flags;  /* WIRE_VALUE_* */
	u8 bytes;  /* 1, 2, 4 or 8 of them count */
	u8 word;   /* where it goes in wire_values::words */
	s32 offset;
	/* Of a static probe's value: enum wire_place. Else as above. */
	u8 place;
	u8 size; /* bytes of it, extended by `sign` */
	u8 base, index, shift;
	u8 sign;
	u8 pad[2];
	s64 at;
};

enum wire_relation {
	WIRE_EQUAL,
	WIRE_UNEQUAL,
	WIRE_BELOW,
	WIRE_AT_MOST,
	WIRE_ABOVE,
	WIRE_AT_LEAST,
};

/* Of a value that the entry shows, and that is a number. */
struct wire_condition {
	u32 value; /* its place in the list */
	u32 relation;
	u64 than;
};

#define WIRE_CONDITIONS 4

struct wire_list {
	u32 cnt;
	u32 records; /* of 32 bytes, that its wire_values fill */
	u32 conditions_cnt;
	u32 pad;
	struct wire_value_place wanted[WIRE_VALUES];
	struct wire_condition conditions[WIRE_CONDITIONS]; /* or else a call is not recorded */
};

struct wire_values {
	u32 known; /* a bit for each value: it could be read */
	u16 list;
	u16 records;
	u64 words[WIRE_VALUE_WORDS];
};

/*
 * Lines (--lines): sites are numbered from 1 on, by function, then by address. An open call is on
 * the line of the last site that it came to; which of a function's sites its entry stands for is in
 * a table by function.
 */
#define WIRE_LINE_LANDS 2 /* control has not come to it from its line, whatever was before */

struct wire_line_site {
	u32 function;
	u32 line; /* its number, the same for all sites of one line of one function; 0: none that is
		     wanted */
	u32 declared; /* a line that has run whenever this one begins here; 0: none */
	u8 repeats;   /* it goes on with a line that its basic block has begun */
	u8 cycles;    /* 1: there is a way back to it within its line; WIRE_LINE_LANDS */
	u8 pad[2];
};

/* Of one site, on one CPU: the sites of a CPU lie together. Times are as measured; probe_ns is what
 * of them the probes cost. */
struct wire_line_count {
	u64 hits; /* runs of the line that began here */
	u64 ns;
	u64 probe_ns;
	u64 pad;
};

/* Where a frame's call is. */
struct wire_line_state {
	u64 since_ns;
	u64 probe_ns; /* of the frame, then; with what the arrival's probe cost since */
	u32 site;     /* 0: at none yet */
	u32 line;     /* these two: the site's */
	u32 left;     /* the call was left by an exit site */
	u32 pad;
};

/* CPUs that count apart, at most; of more, those share whose numbers are equal modulo this. */
#define WIRE_CPUS 64

/* The fields of a frame that only --calls and --lines need, in a table of their own under the
 * frame's number: a cache line. */
struct wire_frame_rest {
	u64 entered_off_ns; /* its call stack's off_ns at the entry */
	struct wire_line_state line;
	u64 pad[3];
};

/* Whether events count. */
enum wire_gate {
	WIRE_GATE_CLOSED,
	WIRE_GATE_OPEN,
	WIRE_GATE_BY_TURN, /* while it is this run's turn */
};

/* Why calls were lost. */
enum wire_loss {
	WIRE_LOST_CALLSTACKS, /* no room in the table of call stacks */
	WIRE_LOST_FRAMES,
	WIRE_LOST_PATHS,
	WIRE_LOSSES,
};

/* The node index: open addressing over node numbers. A search looks at WIRE_INDEX_PROBES places one
 * after the other, the first ones in a cache line that goes by the parent alone, so that nodes that
 * were made together are together in the index too, the others anywhere. Places are u64 because
 * the kernel rounds array elements up to that. */
#define WIRE_INDEX_NEAR 8 /* places of a cache line */
#define WIRE_INDEX_HASH(parent, function) \
	((u32)(((((u64)(parent)) << 24 ^ (function)) * 0x9e3779b97f4a7c15ull) >> 32))
/* The i-th place; the index has two places for each node. */
#define WIRE_INDEX_PLACE(parent, function, i)                                          \
	((i) < WIRE_INDEX_NEAR ? ((parent)*2 & ~(WIRE_INDEX_NEAR - 1u)) +              \
					 (((function) + (i)) & (WIRE_INDEX_NEAR - 1u)) \
			       : WIRE_INDEX_HASH(parent, function) + (i))
#define WIRE_INDEX_PROBES 64
#define WIRE_INDEX_DEAD	  0xffffffffull /* a node that was taken out */

/*
 * How long returned calls took, without the probes' cost: log-linear buckets, eight to a power of
 * two, of one function in one power of two on one CPU: a cache line. Entries stand in the order in
 * which they were made, from 1 on, with their keys in a table beside them (0: not in use yet), so
 * that the few that are in use are on few pages. The index finds them: open addressing, a word for
 * each, which has the key and the entry's number; 0: free. A search begins at the place of the
 * function, the CPU and the power of two modulo 4, and goes on anywhere.
 */
struct wire_dist {
	u64 calls[8];
};

#define WIRE_DIST_PROBES  32
#define WIRE_DIST_OCTAVES 4
#define WIRE_DIST_KEY(function, cpu, octave) \
	(((u64)(function) << 12 | (u64)(cpu) << 6 | (octave)) + 1)
#define WIRE_DIST_HASH(key)	    ((u32)(((key)*0x9e3779b97f4a7c15ull) >> 32))
#define WIRE_DIST_WORD(key, number) ((u64)(key) << 24 | (number))
#define WIRE_DIST_NUMBER(word)	    ((u32)(word)&0xffffff)
#define WIRE_DIST_FUNCTION(key)	    ((u32)(((key)-1) >> 12))
#define WIRE_DIST_CPU(key)	    ((u32)(((key)-1) >> 6 & 63))
#define WIRE_DIST_OCTAVE(key)	    ((u32)(((key)-1) & 63))

/* One call of many stands for the others' time too; but a longer one than this is no everyday call
 * of a function that is called too often. */
#define WIRE_SCALED_MAX_NS 1000000

/* A function that is dropped: its calls are passed over, or one in `every` is kept. Or one whose
 * calls begin and end the recording. */
struct wire_function_mode {
	u32 every;	/* 0: all calls are recorded; 1: none */
	u16 role;	/* WIRE_ROLE_* */
	u16 entry_size; /* bytes of the instruction that its entry's probe is at; 0: not known */
};

/* Calls since a drop are counted by CPU in one of several shares, a power of two. Each keeps its
 * n-th call, from 0 on, if n plus this is a multiple of `every`: as many in all as if they were
 * counted together. */
#define WIRE_PHASE(SHARE, SHARES, EVERY) ((u32)((u64)(SHARE) * (EVERY) / (SHARES)))

/* A call stack without an open call records none but those of triggers. */
#define WIRE_ROLE_TRIGGER 1u
/* A call of such a function ends the recording: with triggers, on the call stack of the call;
 * else everywhere. */
#define WIRE_ROLE_UNTIL 2u
/* A call of such a function lasts until it returns, also in a function that it goes on in by a jump
 * (a tail call): if a return probe sees it return, or if the jump has WIRE_EXIT_GOES_ON. */
#define WIRE_ROLE_WHOLE 4u

/* Calls that one CPU has seen and not recorded; a cache line. */
struct wire_tally {
	u64 lost[WIRE_LOSSES];
	u64 undistributed; /* recorded, but for how long they took: there was no room */
	u64 untriggered;   /* for want of a trigger */
	u64 refused;	   /* by conditions */
	u64 line_misses;   /* hits of lines in calls that were not recorded */
	u64 timeline_lost; /* single calls, for want of a chunk */
};

/* The counter of one CPU; it fills a cache line, so that no other CPU writes there. */
struct wire_share {
	u64 cnt;
	u64 pad[7];
};

/*
 * Unwind tables (user/analysis/unwind): rows of an object's code, by address. A row holds up to the
 * next one; what no FDE covers has a row of WIRE_UNWIND_NONE. Its rule:
 *   bits  0..2   enum wire_unwind: how the frame's address (CFA) is found
 *   bit   3      WIRE_UNWIND_BEGINS
 *   bits  4..19  its distance from the register, in words; signed for WIRE_UNWIND_AT_RBP; of
 *                WIRE_UNWIND_STUB the byte of 16 from which on the stub has pushed something
 *   bits 20..31  where the caller's rbp is: so many words below the CFA; 0: where it was
 */
enum wire_unwind {
	WIRE_UNWIND_NONE,
	WIRE_UNWIND_RSP,
	WIRE_UNWIND_RBP,
	WIRE_UNWIND_AT_RBP, /* the CFA is the word there; rbp is where rbp points to */
	WIRE_UNWIND_STUB,
	WIRE_UNWIND_SIGNAL, /* the interrupted registers are in the ucontext at rsp */
	WIRE_UNWIND_END,    /* the outermost call: nothing is above it */
	WIRE_UNWIND_RBX,
};

/* Or'ed to the rule of a row: no code before it is of the same function. */
#define WIRE_UNWIND_BEGINS 8u

struct wire_unwind_row {
	u32 start; /* from the table's first address on */
	u32 rule;
};

#define WIRE_UNWIND_RULE(kind, words, rbp) \
	((u32)(kind) | ((u32)(words)&0xffff) << 4 | ((u32)(rbp)&0xfff) << 20)
#define WIRE_UNWIND_KIND(rule)	((rule)&0x7)
#define WIRE_UNWIND_WORDS(rule) ((rule) >> 4 & 0xffff)
#define WIRE_UNWIND_SAVED(rule) ((rule) >> 20)
#define WIRE_UNWIND_MAX_WORDS	0xffff
#define WIRE_UNWIND_MAX_SAVED	0xfff

/* Rows come in pages, and up to so many pages make a table: page 0 has the first start of each of
 * the others, which lie in the same table behind it. */
#define WIRE_PAGE_ROWS	 512
#define WIRE_TABLE_PAGES 1024
struct wire_unwind_page {
	union {
		struct wire_unwind_row rows[WIRE_PAGE_ROWS];
		u32 firsts[WIRE_TABLE_PAGES]; /* page 0; ~0 behind the last */
	};
};

/* Code that a process has mapped. */
struct wire_unwind_range {
	u64 end;
	u64 bias;   /* an address less this is a vaddr of the object */
	u64 base;   /* the address where the table's rows count from */
	u32 table;  /* 0: there is none, or not for this part of the object */
	u32 object; /* its number in a frame; WIRE_CALLERS_NO_OBJECT: it is in no file */
};

#define WIRE_UNWIND_RANGES 512
struct wire_unwind_space {
	u64 starts[WIRE_UNWIND_RANGES]; /* in order; ~0 behind the last */
	struct wire_unwind_range ranges[WIRE_UNWIND_RANGES];
};

/* How a stack ends. */
enum wire_callers_end {
	WIRE_CALLERS_WHOLE,	 /* at a traced call, or at the thread's outermost one */
	WIRE_CALLERS_NO_RULE,	 /* nothing tells how to go on from the last frame */
	WIRE_CALLERS_UNREADABLE, /* memory was not there at the moment */
	WIRE_CALLERS_ASTRAY,	 /* what should be a return address is none */
	WIRE_CALLERS_DEEP,	 /* it has more frames than there is room for */
	WIRE_CALLERS_UNKNOWN,	 /* of a process whose mappings are not known (yet) */
	WIRE_CALLERS_ENDS,
};

/* The callers of a call, as return addresses: the innermost first, each as (object << 48 | vaddr).
 * Written before its number is used anywhere. */
#define WIRE_CALLERS_FRAMES    125
#define WIRE_CALLERS_NO_OBJECT 0xffffu /* 0xfffe is none either, see RESOLVE_CALL */
#define WIRE_CALLERS_VDSO      0xfffdu
struct wire_callers {
	u64 hash;
	u32 cnt;
	u32 end; /* enum wire_callers_end */
	u32 pid; /* the process that was seen with it first */
	/* Of samples and waits: frames[cnt] is where the open call was at which the stack ends. */
	u32 own;
	u64 frames[WIRE_CALLERS_FRAMES];
};

/*
 * Seeds: what was open on a thread's stack when it was first seen to call something, outermost
 * frames alone where there were more. Return addresses as in struct wire_callers; frame i has the
 * place i % WIRE_SEED_FRAMES, innermost first. They come in pairs: the second one is for a second
 * look at the stack.
 */
#define WIRE_SEED_FRAMES 64
#define WIRE_SEED_DEPTH	 4096 /* frames of a stack, at most */
struct wire_seed {
	/* As in struct wire_callers. */
	u64 hash;
	u32 cnt; /* frames that were unwound */
	u32 end;
	u32 first; /* as wire_callstack::seed_first: it only grows */
	u32 lives; /* of the call stack that has it */
	struct {
		u64 function; /* (object << 48 | vaddr) */
		u64 slot; /* where the return address is, as slots of the call stack count; 0: it
			     is none, but an instruction that a signal has interrupted */
		u64 pc;
	} frames[WIRE_SEED_FRAMES];
};

#define WIRE_SEED_TAKEN 1u
#define WIRE_SEED_NONE	2u /* there is none to be had */

/* wire_node::function of a path that stands for a seed's frames, from the outermost one to this. */
#define WIRE_NODE_SEED		       (1u << 30)
#define WIRE_SEED_NODE(seed, first)    (WIRE_NODE_SEED | (seed) << 12 | (first))
#define WIRE_NODE_SEED_OF(function)    ((function) >> 12 & 0x3ffff)
#define WIRE_NODE_SEED_FIRST(function) ((function)&0xfff)

/*
 * Samples: where a thread was when the clock of its CPU ran out. Those that were at the same place
 * are counted together, in one of two halves of the table: user space turns from one to the other
 * and empties the one that is left. Open addressing by hash.
 */
#define WIRE_SAMPLE_KERNEL 48  /* functions of the kernel, at most */
#define WIRE_KERNEL_NAME   640 /* bytes of what is said of one: its name has up to 511 */
#define WIRE_SAMPLE_PLACES 16  /* that are looked at for one */

/* A call path on which a thread was seen. */
struct wire_spot {
	u64 pid_tgid;
	u64 start_ns;  /* boot time of the thread's start; with `goid`, of its process's */
	u64 goid;      /* number of the goroutine that it runs, or works for; 0: none */
	u32 callstack; /* that the thread was on; 0: none that is known */
	u32 lives;     /* of that entry, as in struct wire_callstack */
	u32 node;      /* of the innermost call that was open there; 0: none was */
	/* Of a wait for a lock that had begun before the run: the tid of the thread that had the
	 * lock then; 0: not known. */
	u32 holder;
	char comm[16];
};

struct wire_sample {
	u64 hash; /* of what tells it from others; 0: free */
	u64 cnt;
	struct wire_spot spot;
	u32 kernel_cnt; /* functions of the kernel that were open, innermost first; 0: it was in
			   the program */
	u32 call;	/* the system call that it was in then; WIRE_WAIT_KERNEL: in none */
	u64 kernel[WIRE_SAMPLE_KERNEL]; /* return addresses but for the first */
	/* Of the program: up to that call, or the thread's outermost one. Return addresses, but for
	 * the first one and those behind a signal's frame. */
	struct wire_callers user;
};

/* Of one CPU; a cache line. */
struct wire_sample_counts {
	u64 taken;
	u64 probing; /* of these, while a probe was at work; they are not in the table */
	u64 lost;    /* of these, for want of room */
	u64 ns;	     /* that all have taken */
	u64 pad[4];
};

/*
 * Waits: where a thread leaves the CPU, and for how long. A place has an entry as long as threads
 * come there; one thread alone writes it, but for user space, which frees it in two steps: see
 * collect/wait_store.c. Open addressing by hash.
 */
#define WIRE_WAIT_SLOTS	 35   /* return addresses that tell a place from others with its hash */
#define WIRE_WAIT_PLACES 8    /* that are looked at for one */
#define WIRE_WAIT_HABITS 8192 /* see struct wait_habit */
/* Waits that take as long count as themselves alone, and are told while they last. */
#define WIRE_WAIT_LONG_NS 1000000
#define WIRE_WAITERS	  32768 /* threads that wait at a time, about */

enum wire_wait_state {
	WIRE_WAIT_MADE = 1, /* being filled in */
	WIRE_WAIT_READY,
	WIRE_WAIT_LEFT, /* no wait begins there any more */
};

/* Why a thread does not run. */
enum wire_reason {
	WIRE_REASON_OTHER,
	WIRE_REASON_LOCK,    /* a futex, a file's lock, a semaphore, that of the mappings */
	WIRE_REASON_CPU,     /* it could run, but others do */
	WIRE_REASON_DISK,    /* a file, a page that is read */
	WIRE_REASON_NETWORK, /* a socket, but those of the next row */
	WIRE_REASON_PIPE,    /* the other end is on this machine: pipe, Unix socket, eventfd */
	WIRE_REASON_DEVICE,  /* a terminal, say */
	WIRE_REASON_TIMER,
	WIRE_REASON_POLL, /* one of several files, or time */
	WIRE_REASON_CHILD,
	WIRE_REASON_STOPPED, /* by a signal or a debugger */
	WIRE_REASON_WAKER,   /* none: the place is one where threads wake others */
	WIRE_REASONS,
	/* In the table of system calls, where their arguments tell: */
	WIRE_CALL_FUTEX = WIRE_REASONS, /* a lock, at the address that is the first one */
	WIRE_CALL_FILE,			/* what the first one, a descriptor, stands for */
	WIRE_CALL_POLL,			/* a timer, if the second one, of files, is 0 */
	WIRE_CALL_SELECT,		/* the same of the first one */
	WIRE_CALL_EXIT,			/* nothing waits in it, but others wait for it */
	WIRE_CALL_SIGNAL,		/* nor in this, but it ends all kinds of waits */
	WIRE_CALL_EPOLL,		/* one of the files that the first one, an epoll, watches */
};

/* In the table of system calls: which descriptor one is about. */
enum wire_call_file {
	WIRE_CALL_NO_FILE,
	WIRE_CALL_OF_FILE,    /* its first argument */
	WIRE_CALL_MAKES_FILE, /* its result */
};

#define WIRE_CALLS 512 /* system calls that have a reason, by number */

/* Errors of system calls: the numbers that programs know, and behind them the kernel's own, which
 * tell that a call is to begin anew. 0: any other. */
#define WIRE_ERRORS_KERNEL 134
#define WIRE_ERROR_RESTART 512 /* ERESTARTSYS, of the kernel's <linux/errno.h> */
#define WIRE_ERRORS	   (WIRE_ERRORS_KERNEL + 6)
#define WIRE_ERROR_MOST	   4095

/*
 * Names of what descriptors stand for: a file's path, the other end of a connection. Each is one
 * entry of a table, by its hash; it stays for the run.
 */
#define WIRE_FILES	 1024 /* names */
#define WIRE_FILE_PLACES 8    /* that are looked at for one */
#define WIRE_FILE_TEXT	 256  /* bytes of a path */
#define WIRE_FILE_PART	 64   /* of those, of one folder's name, with a 0 behind it */
#define WIRE_FILE_CACHE	 8192 /* inodes whose name is remembered, a power of two */

enum wire_file_kind {
	WIRE_FILE_PATH = 1, /* parts of a path, the innermost first, each with a 0 behind it */
	WIRE_FILE_NAME,	    /* a name of the kernel's, as "[eventfd]" */
	WIRE_FILE_PIPE,
	WIRE_FILE_UNIX,	     /* a socket in a file, or, if the text begins with a 0, none */
	WIRE_FILE_PEER,	     /* a connection to that address and port */
	WIRE_FILE_CLIENTS,   /* connections of others to that port here */
	WIRE_FILE_LISTENING, /* to that port here */
};

struct wire_file {
	u64 hash; /* of all behind `ready`; 0: free */
	u64 ready;
	u16 kind;   /* enum wire_file_kind */
	u16 port;   /* as the network has it, like the address */
	u16 family; /* AF_INET, AF_INET6 */
	u16 type;   /* SOCK_STREAM, SOCK_DGRAM */
	u32 len;    /* bytes of the text that count */
	u32 pad;
	u32 address[4];
	char text[WIRE_FILE_TEXT + WIRE_FILE_PART];
};

/* Where a CPU makes names. */
struct wire_file_maker {
	u64 busy;
	u64 unnamed; /* looks that found no room for a name */
	struct wire_file name;
};

/* Functions that stand for system calls, for errors behind them, and for names of files. */
#define WIRE_CALL_FUNCTIONS (WIRE_CALLS + WIRE_ERRORS + WIRE_FILES)

/* wire_wait::call of what is no system call. */
#define WIRE_WAIT_PREEMPTED 0xfffeu /* the thread could have run on, but another one ran */
#define WIRE_WAIT_KERNEL    0xffffu /* something else of the kernel's: a page that is read, say */

/* Who has ended waits. */
struct wire_waker {
	u32 place; /* its entry, plus 1; 0: the place is free */
	u32 pad;
	u64 ns; /* that these waits have lasted, up to being woken */
};

#define WIRE_WAIT_WAKERS 16 /* of one place, at most */

struct wire_wait {
	u64 hash; /* of what tells it from others, but for the return addresses; 0: free */
	u32 state;
	u16 call;   /* the system call that waits, by its number; WIRE_WAIT_* */
	u16 reason; /* enum wire_reason */
	u64 lock;   /* the futex's address; of other reasons the file's name, plus 1; 0: none */
	u64 cnt;    /* waits that have ended, and how long they took */
	u64 ns;
	u64 ready_ns; /* of that: it had been woken, but did not run yet */
	u64 since;    /* monotonic: one is under way since then; 0: none is */
	u64 guard;    /* a hash of the return addresses */
	u32 slots_cnt;
	u32 slots[WIRE_WAIT_SLOTS]; /* where they are, above the stack pointer */
	struct wire_waker wakers[WIRE_WAIT_WAKERS];
	struct wire_spot spot;
	struct wire_callers user; /* as in struct wire_sample */
};

/* Of one CPU; a cache line. */
struct wire_wait_counts {
	u64 taken;
	u64 lost;   /* of these, for want of room, or as too many places were new at once, or as
		       the end was not seen */
	u64 made;   /* entries */
	u64 period; /* a stretch of time, by its number, when one was made last */
	u64 ahead;  /* so many more were made than that time had room for */
	u64 shared; /* of those taken, not looked at: others stand for them */
	u64 pad[2];
};

/* Which wait a thread is in. */
struct wire_waiter {
	u64 pid_tgid;
	u32 wait;     /* its entry, plus 1; 0: none */
	u32 waker;    /* the entry where it was woken from, likewise */
	u64 woken_ns; /* since it left the CPU; 0: it has not been woken */
	u32 share;    /* for so many waits this one stands, unless it is long; 0: for none */
	u32 habit;    /* the place in the table of its habit, plus 1; 0: it has none */
};

/*
 * Single waits (--calls): each that took long enough goes into a ring of the CPU where the thread
 * went on; user space reads behind.
 */
#define WIRE_WAIT_LEAST_NS 10000 /* shorter ones are counted, and their time is added up */

/* The object that a thread waits for. */
enum wire_object {
	WIRE_OBJECT_NONE,
	WIRE_OBJECT_LOCK, /* the address of a futex that has an owner: a mutex */
	WIRE_OBJECT_FILE, /* a descriptor of the process */
	/* The other end of a connection: its port << 32, and IPv4 address (of IPv6 the last 32
	 * bits) in the network's order. */
	WIRE_OBJECT_PEER,
	/* The address of one that others wake: a condition variable, a semaphore, or a lock of a
	 * library that makes no difference. */
	WIRE_OBJECT_FUTEX,
};

struct wire_single_wait {
	u64 turn; /* set last: how often the ring had been filled before, plus 1; else as before */
	u64 since_ns; /* CLOCK_MONOTONIC: off the CPU */
	u64 took_ns;  /* until it went on */
	u64 ready_ns; /* of that: it had been woken, but did not run yet */
	u64 object;
	u16 call;   /* as in struct wire_wait */
	u16 reason; /* enum wire_reason */
	u32 kind;   /* enum wire_object, of `object` */
	u32 file;   /* the name of the object that is a file or a peer, plus 1; 0: it has none */
	u32 pad;
	struct wire_spot at;
	struct wire_spot waker; /* pid_tgid 0: nobody that is traced */
};

#define WIRE_POLLED 8 /* files of a poll() of which one may be told to be ready */

/* The wait that a thread is in. */
struct wire_sleeper {
	u64 woken_ns;		      /* since it left the CPU; 0: it has not been woken */
	struct wire_single_wait wait; /* since_ns 0: none is under way */
	u64 polled_cnt;		      /* of a poll() of few files: these */
	u64 polled[WIRE_POLLED];      /* each a struct pollfd: the descriptor first */
};

/* Of one CPU; a cache line. */
struct wire_ring_counts {
	u64 taken;		 /* places that were filled, in all */
	u64 read;		 /* of these; user space sets it */
	u64 lost;		 /* waits for want of room, or whose end was not seen */
	u64 short_cnt, short_ns; /* below WIRE_WAIT_LEAST_NS */
	u64 pad[3];
};

/* wire_node::function of a path that stands for a stack: this, and the stack's number. */
#define WIRE_NODE_CALLERS (1u << 31)
/* Or'ed to that of a path whose function is dropped, and was probed in bursts. */
#define WIRE_NODE_BURST (1u << 29)

/* How long one CPU has run the target, by the scheduler's switches, and what the target has read
 * and written there meanwhile; a cache line. */
#define WIRE_CPU_CLOCKS 1024
struct wire_cpu_clock {
	u64 ran_ns;   /* up to the last switch */
	u64 since_ns; /* CLOCK_MONOTONIC: of the last switch; 0 while all this is written */
	/* System calls that read and write, up to the last switch or until they were added up; and
	 * how many the running thread had made until then in all its life. */
	u64 reads, writes, reads_since, writes_since;
	u32 runs; /* the target has run there since */
	/* The burst that was seen there last, by its serial; and how long the target had run there
	 * when that began, in us. */
	u32 burst, burst_from_us;
	u32 pad;
};

/* An event of a process. */
enum wire_event_kind {
	WIRE_EVENT_MAPPED = 1, /* its dynamic linker has mapped or unmapped files */
	WIRE_EVENT_EXEC,       /* it has begun a new program; other: by a thread, not the leader */
	WIRE_EVENT_ENDED,      /* a followed one has ended */
	WIRE_EVENT_CONTEXT,    /* it has made a context, on which none was thought to rely */
	WIRE_EVENT_STARTED,    /* a stranger has begun a program, and may belong to the target */
};

struct wire_event {
	u32 kind;
	u32 pid;
	u32 other;
	u32 generation; /* of the maps */
};

#define WIRE_WHOM_NAME	 16 /* as the kernel's names of processes (TASK_COMM_LEN) */
#define WIRE_WHOM_NAMES	 16
#define WIRE_WHOM_GROUPS 16

struct wire_whom_name {
	u64 words[WIRE_WHOM_NAME / 8], masks[WIRE_WHOM_NAME / 8]; /* of the bytes that count */
};

/* Who belongs to the target of those that begin a program: all that is given must hold. */
struct wire_whom {
	u32 open;    /* somebody may */
	u32 certain; /* who passes here does; else user space is asked */
	u32 by_user, uid;
	u32 names_cnt, groups_cnt; /* 0: any */
	struct wire_whom_name own; /* ours: no profiler does */
	struct wire_whom_name names[WIRE_WHOM_NAMES];
	u64 groups[WIRE_WHOM_GROUPS]; /* the kernel's ids of control groups, v2 */
};

/* Values in the table of processes that are traced. */
#define WIRE_TGID_NAMED	   1u
#define WIRE_TGID_FOLLOWED 2u
#define WIRE_TGID_STARTS   4u /* or'ed: a new program, which nothing has held yet */
/* Above these bits: of a forked child whose loads nobody looks at, how many pages of code it had
 * mapped when it was born; 0: its loads are looked at. */
#define WIRE_TGID_PAGES 4

/* In place of calls of the kernel's bpf_session_cookie() and bpf_rdonly_cast(), which user space
 * puts there before load: numbers of helpers that no kernel has. */
#define WIRE_CALL_SESSION_COOKIE 0x70000001
#define WIRE_CALL_READ_ONLY	 0x70000002

_Static_assert(sizeof(struct wire_frame) == 64, "wire_frame");
_Static_assert(sizeof(struct wire_node) == 64, "wire_node");
_Static_assert(sizeof(struct wire_node_rest) == 16, "wire_node_rest");
_Static_assert(sizeof(struct wire_frame_rest) == 64, "wire_frame_rest");
_Static_assert(sizeof(struct wire_tally) == 64, "wire_tally");
_Static_assert(sizeof(struct wire_share) == 64, "wire_share");
_Static_assert(sizeof(struct wire_cpu_clock) == 64, "wire_cpu_clock");
_Static_assert(sizeof(struct wire_callstack) == 384, "wire_callstack");
_Static_assert(sizeof(struct wire_dist) == 64, "wire_dist");
_Static_assert(sizeof(struct wire_chunk) == 1024, "wire_chunk");
_Static_assert(sizeof(struct wire_list) == 272, "wire_list");
_Static_assert(sizeof(struct wire_line_site) == 16, "wire_line_site");
_Static_assert(sizeof(struct wire_line_count) == 32, "wire_line_count");
_Static_assert(sizeof(struct wire_line_state) == 32, "wire_line_state");
_Static_assert(sizeof(struct wire_unwind_page) == 4096, "wire_unwind_page");
_Static_assert(sizeof(struct wire_callers) == 1024, "wire_callers");
_Static_assert(sizeof(struct wire_seed) == 1560, "wire_seed");
_Static_assert(sizeof(struct wire_sample) == 1488, "wire_sample");
_Static_assert((WIRE_BURST_SERIALS + 1) % WIRE_BURSTS == 0, "serials go round as places do");
_Static_assert(sizeof(struct wire_wait) == 1544, "wire_wait");
_Static_assert(sizeof(struct wire_single_wait) == 168, "wire_single_wait");
_Static_assert(sizeof(struct wire_sleeper) == 248, "wire_sleeper");
_Static_assert(sizeof(struct wire_file) == 368, "wire_file");
_Static_assert(sizeof(struct wire_file_maker) == 384, "wire_file_maker");
_Static_assert(sizeof(struct wire_ring_counts) == 64, "wire_ring_counts");
_Static_assert(sizeof(struct wire_wait_counts) == 64, "wire_wait_counts");
_Static_assert(sizeof(struct wire_waiter) == 32, "wire_waiter");
_Static_assert(sizeof(struct wire_sample_counts) == 64, "wire_sample_counts");
_Static_assert(sizeof(struct wire_values) == 8 * sizeof(struct wire_call), "wire_values");

#endif
