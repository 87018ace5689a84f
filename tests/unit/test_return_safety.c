// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions as compilers make them, and as people do who handle their stacks themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "code/code.h"
#include "code/stack_loads.h"
#include "exits/return_safety.h"

/* Code that is looked at and never runs. `call .+4096` is any function. */
#define CODE(name, ...)                                                                        \
	asm(".section .rodata\n" #name "_begin:\n" __VA_ARGS__ "\n" #name "_end:\n.previous"); \
	extern const uint8_t name##_begin[], name##_end[]

static struct return_safety look(const uint8_t *begin, const uint8_t *end)
{
	struct code_piece piece = {.vaddr = 0x1000, .bytes = begin, .size = end - begin};
	struct code_decoder *decoder;
	struct code code = {0};
	struct code_flow flow;
	struct return_safety plain;

	assert_int_equal(code_decoder__new(&arch_x86_64, CALL_NOPS_5, NULL, NULL, &decoder), 0);
	code_decoder__note_edges(decoder);
	assert_int_equal(code_decode(decoder, &piece, 1, UINT64_MAX, &code), 0);
	flow = code_decoder__flow(decoder);
	return_safety__look(&arch_x86_64, &(struct plain_function){&piece, 1, &code, &flow, NULL},
			    &plain);
	code_clear(&code);
	code_decoder__free(decoder);
	return plain;
}

static bool is_plain(const uint8_t *begin, const uint8_t *end)
{
	return !look(begin, end).doubt;
}

#define LOOK(name)     look(name##_begin, name##_end)
#define IS_PLAIN(name) is_plain(name##_begin, name##_end)
#define LOADS(name, is_code) \
	stack_loads__in(&arch_x86_64, name##_begin, name##_end - name##_begin, is_code)
#define SWITCHES(name)		LOADS(name, true)
#define SWITCHES_ANYWHERE(name) LOADS(name, false)

CODE(leaf, "lea 1(%rdi),%eax; ret");
CODE(saves,
     "push %rbx; sub $0x20,%rsp; mov %rdi,0x18(%rsp); call .+4096; add $0x20,%rsp; pop %rbx; ret");
CODE(framed, "push %rbp; mov %rsp,%rbp; push %rbx; sub $8,%rsp; call .+4096; mov -8(%rbp),%rbx; "
	     "leave; ret");
/* Copies out of the frame: of what lies below the return address, and of that as well. */
CODE(copies_frame, "lea -16(%rsp),%rsi; mov $2,%ecx; rep movsq; ret");
CODE(copies_words, "lea -64(%rsp),%rsi; mov %edx,%ecx; rep movsq; ret");
CODE(copies_return, "lea -16(%rsp),%rsi; mov $3,%ecx; rep movsq; ret");
CODE(copies_over_return, "lea -16(%rsp),%rdi; mov $17,%ecx; rep movsb; ret");
CODE(copies_one, "lea -8(%rsp),%rsi; mov $2,%ecx; movsq; ret");
CODE(branches,
     "push %rbx; test %edi,%edi; je 1f; call .+4096; pop %rbx; ret; 1: pop %rbx; jmp .+4096");
CODE(shrink_wrapped,
     "test %edi,%edi; jne 1f; ret; 1: push %rbx; 2: call .+4096; dec %ebx; jne 2b; pop %rbx; ret");
CODE(array_of_any_size, "push %rbp; mov %rsp,%rbp; mov %rdi,%rax; sub %rax,%rsp; mov %rsp,%rdi; "
			"call .+4096; leave; ret");
CODE(aligned,
     "push %rbp; mov %rsp,%rbp; and $-32,%rsp; sub $64,%rsp; vmovaps %ymm0,(%rsp); leave; ret");
CODE(reads_arguments,
     "sub $8,%rsp; mov 0x10(%rsp),%rax; lea 0x10(%rsp),%rdi; call .+4096; add $8,%rsp; ret");
CODE(never_returns, "push %rbx; test %edi,%edi; je 1f; pop %rbx; ret; 1: call .+4096; nop; ud2");
/* The code behind the call belongs to another way, with another stack. */
CODE(call_ends, "test %edi,%edi; je 1f; push %rbx; call .+4096; 1: lea 1(%rdi),%eax; ret");
CODE(keeps_flags, "lea -8(%rsp),%rsp; call .+4096; lea 8(%rsp),%rsp; ret");

static void ordinary_functions(void **state)
{
	assert_true(IS_PLAIN(leaf));
	assert_true(IS_PLAIN(saves));
	assert_true(IS_PLAIN(framed));
	assert_true(IS_PLAIN(copies_frame));
	assert_true(IS_PLAIN(copies_words));
	assert_true(IS_PLAIN(copies_one));
	assert_true(IS_PLAIN(branches));
	assert_true(IS_PLAIN(shrink_wrapped));
	assert_true(IS_PLAIN(array_of_any_size));
	assert_true(IS_PLAIN(aligned));
	assert_true(IS_PLAIN(reads_arguments));
	assert_true(IS_PLAIN(never_returns));
	assert_true(IS_PLAIN(call_ends));
	assert_true(IS_PLAIN(keeps_flags));
}

CODE(reads_it, "mov (%rsp),%rax; ret");
CODE(reads_it_deeper,
     "push %rbx; sub $0x10,%rsp; mov 0x18(%rsp),%rdi; call .+4096; add $0x10,%rsp; pop %rbx; ret");
CODE(reads_it_by_frame, "push %rbp; mov %rsp,%rbp; mov 8(%rbp),%rdi; call .+4096; pop %rbp; ret");
CODE(reads_part_of_it, "mov 4(%rsp),%eax; ret");
CODE(overlaps_it, "sub $8,%rsp; movups %xmm0,(%rsp); movups 1(%rsp),%xmm1; add $8,%rsp; ret");
CODE(points_at_it, "push %rbx; lea 8(%rsp),%rdi; call .+4096; pop %rbx; ret");
CODE(points_at_it_plainly, "mov %rsp,%rax; ret");
CODE(pops_it, "pop %rdi; call .+4096; push %rdi; ret");
CODE(writes_it, "mov %rdi,(%rsp); ret");
CODE(pushes_target, "push %rdi; ret");
CODE(aligned_reads_it,
     "push %rbp; mov %rsp,%rbp; and $-32,%rsp; mov 16(%rsp),%rdi; call .+4096; leave; ret");
CODE(setjmps, "mov %rbx,(%rdi); lea 8(%rsp),%rdx; mov %rdx,8(%rdi); mov (%rsp),%rax; mov "
	      "%rax,16(%rdi); xor %eax,%eax; ret");

static void functions_that_look_at_it(void **state)
{
	assert_false(IS_PLAIN(reads_it));
	assert_false(IS_PLAIN(copies_return));
	assert_false(IS_PLAIN(copies_over_return));
	assert_false(IS_PLAIN(reads_it_deeper));
	assert_false(IS_PLAIN(reads_it_by_frame));
	assert_false(IS_PLAIN(reads_part_of_it));
	assert_false(IS_PLAIN(overlaps_it));
	assert_false(IS_PLAIN(points_at_it));
	assert_false(IS_PLAIN(points_at_it_plainly));
	assert_false(IS_PLAIN(pops_it));
	assert_false(IS_PLAIN(writes_it));
	assert_false(IS_PLAIN(pushes_target));
	assert_false(IS_PLAIN(aligned_reads_it));
	assert_false(IS_PLAIN(setjmps));
}

CODE(leaves_deep, "push %rbx; test %edi,%edi; je 1f; pop %rbx; ret; 1: jmp .+4096");
CODE(resolves, "push %rbx; mov %rsp,%rbx; and $-64,%rsp; call .+4096; mov %rbx,%rsp; mov "
	       "(%rsp),%rbx; add $0x18,%rsp; jmp *%r11");
CODE(takes_arguments, "ret $8");
CODE(disagrees, "test %edi,%edi; je 1f; push %rbx; 1: lea 1(%rdi),%eax; ret");
CODE(calls_system, "mov $56,%eax; syscall; ret");
CODE(unreached, "lea 1(%rdi),%eax; ret; mov (%rsp),%rax; ret");
CODE(function_modes, "push %rbp; mov %rsp,(%rdi); mov (%rsi),%rsp; pop %rbp; ret");
CODE(switches_by_register, "push %rbp; mov %rsp,%rax; mov %rdi,%rsp; pop %rbp; ret");
CODE(switches_by_pop, "push %rbp; mov %rsp,(%rdi); push %rsi; pop %rsp; ret");
CODE(switches_by_exchange, "push %rbp; xchg %rsp,%rdi; pop %rbp; ret");
CODE(calls_elsewhere, "push %rbp; mov %rsp,%rbp; mov %rdi,%rsp; call *%rsi; leave; ret");
CODE(nests_arrays, "push %rbp; mov %rsp,%rbp; mov %rsp,%rbx; sub %rdi,%rsp; call .+4096; mov "
		   "%rbx,%rsp; leave; ret");
CODE(aligns_main, "lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push "
		  "%r10; call .+4096; pop %r10; pop %rbp; lea -8(%r10),%rsp; ret");

CODE(copies_it_around,
     "push %rbx; mov %rsp,%rax; mov %rax,%rcx; add $4,%rcx; mov 4(%rcx),%rdx; pop "
     "%rbx; ret");
CODE(comes_to_point_at_it, "push %rbx; mov %rsp,%rax; add $8,%rax; call .+4096; pop %rbx; ret");
CODE(from_above, "lea 16(%rsp),%rax; mov -16(%rax),%rdx; ret");
CODE(behind_system_call, "mov $56,%eax; syscall; mov (%rsp),%rdi; ret");
CODE(barrier, "lock orq $0,(%rsp); ret");
/* Where a table leads, which is not there to be read. */
CODE(in_a_case, "push %rbx; cmp $3,%edi; ja 1f; lea 9f(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add "
		"%rdx,%rax; jmp *%rax; 1: pop %rbx; ret; 2: mov 8(%rsp),%rax; jmp 1b; 9:");
CODE(in_no_case, "push %rbx; cmp $3,%edi; ja 1f; lea 9f(%rip),%rdx; movslq (%rdx,%rdi,4),%rax; add "
		 "%rdx,%rax; jmp *%rax; 1: pop %rbx; ret; 2: mov (%rsp),%rax; jmp 1b; 9:");

static void ways_to_look_at_it(void **state)
{
	assert_false(IS_PLAIN(copies_it_around));
	assert_false(IS_PLAIN(comes_to_point_at_it));
	assert_false(IS_PLAIN(from_above));
	assert_false(IS_PLAIN(behind_system_call));
	assert_true(IS_PLAIN(barrier));
	assert_false(IS_PLAIN(in_a_case));
	assert_true(IS_PLAIN(in_no_case));
}

CODE(walks_frames, "push %rbp; mov %rsp,%rbp; mov (%rbp),%rax; mov 8(%rax),%rax; pop %rbp; ret");
CODE(hands_out_frame, "push %rbp; mov %rsp,%rbp; mov %rbp,%rdi; call .+4096; pop %rbp; ret");
CODE(stores_frame, "push %rbp; mov %rsp,%rbp; mov %rbp,(%rdi); pop %rbp; ret");
CODE(uses_callers_frame, "mov 8(%rbp),%rax; ret");
CODE(stores_callers_frame, "mov %rbp,16(%rdi); xor %eax,%eax; ret");
CODE(clears_register, "push %rbp; xor %ebp,%ebp; mov %rbp,(%rdi); pop %rbp; ret");
CODE(puts_it_aside, "sub $24,%rsp; mov %rbp,8(%rsp); mov %rdi,%rbp; call .+4096; mov "
		    "%rbp,%rax; mov 8(%rsp),%rbp; add $24,%rsp; ret");

static void frames_of_callers(void **state)
{
	assert_false(IS_PLAIN(walks_frames));
	assert_false(IS_PLAIN(hands_out_frame));
	assert_false(IS_PLAIN(stores_frame));
	assert_false(IS_PLAIN(uses_callers_frame));
	assert_false(IS_PLAIN(stores_callers_frame));
	assert_true(IS_PLAIN(clears_register));
	assert_true(IS_PLAIN(puts_it_aside));
	assert_true(LOOK(reads_arguments).reaches_up);
	assert_false(LOOK(saves).reaches_up);
}

/* -fstack-clash-protection touches each page of a large frame. */
CODE(touches_pages,
     "lea -0x20000(%rsp),%r11; 1: sub $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne "
     "1b; sub $0x18,%rsp; call .+4096; add $0x20018,%rsp; ret");
CODE(touches_pages_of_array,
     "push %rbp; mov %rsp,%rbp; push %rbx; mov %rsp,%rcx; sub %rdi,%rcx; 1: cmp "
     "%rcx,%rsp; je 2f; sub $0x1000,%rsp; orq $0,0xff8(%rsp); jmp 1b; 2: "
     "push %rax; push %rcx; call .+4096; add $0x10,%rsp; leave; ret");
CODE(forgets_a_page,
     "lea -0x20000(%rsp),%r11; 1: sub $0x1000,%rsp; orq $0,(%rsp); cmp %r11,%rsp; jne "
     "1b; call .+4096; add $0x1f000,%rsp; ret");
CODE(pops_in_a_loop, "push %rbx; push %rbx; 1: pop %rax; dec %edi; jne 1b; ret");
/* Two calls that never come back stand before code of other ways. */
CODE(call_ends_first,
     "push %rbx; test %edi,%edi; je 1f; test %esi,%esi; je 2f; pop %rbx; 3: ret; 1: "
     "call .+4096; 4: pop %rbx; jmp 3b; 2: sub $8,%rsp; call .+4096; nop; jmp 4b");

static void frames_of_any_size(void **state)
{
	assert_true(IS_PLAIN(touches_pages));
	assert_true(IS_PLAIN(touches_pages_of_array));
	assert_false(IS_PLAIN(forgets_a_page));
	assert_false(IS_PLAIN(pops_in_a_loop));
	assert_false(IS_PLAIN(call_ends_first));
}

static void functions_that_leave_otherwise(void **state)
{
	assert_false(IS_PLAIN(leaves_deep));
	assert_false(IS_PLAIN(resolves));
	assert_false(IS_PLAIN(takes_arguments));
	assert_false(IS_PLAIN(disagrees));
	assert_true(IS_PLAIN(calls_system));
	assert_true(LOOK(calls_system).calls_system);
	assert_false(IS_PLAIN(unreached));
	assert_false(IS_PLAIN(function_modes));
	assert_false(IS_PLAIN(switches_by_register));
	assert_false(IS_PLAIN(switches_by_pop));
	assert_false(IS_PLAIN(calls_elsewhere));
}

CODE(keeps_switching, "push %rbp; mov %rsp,%rbp; mov %rsp,(%rbx); mov %rax,%rsp; call .+4096; mov "
		      "(%rbx),%rsp; leave; ret");
CODE(switches_and_tells,
     "lea -0x38(%rsp),%rsp; mov 0x38(%rsp),%r8; mov %rsp,%rax; mov %rdi,%rsp; mov %rsi,%rdx; mov "
     "%rax,%rdi; jmp *%r8");
CODE(switches_by_variable, "push %rbp; mov %rsp,%rbp; mov %rdi,-8(%rbp); mov -8(%rbp),%rax; mov "
			   "%rax,%rsp; call .+4096; leave; ret");
CODE(keeps_in_frame,
     "mov %rsp,%rax; sub $0x80,%rsp; and $-64,%rsp; mov %rax,0x38(%rsp); call .+4096; lea "
     "(%rsp),%rbp; mov 0x38(%rbp),%rsi; mov -8(%rsi),%rbx; lea (%rsi),%rsp; ret");
CODE(keeps_in_frame_alone,
     "push %rbp; mov %rsp,%rbp; mov %rsp,-0x18(%rbp); sub %rdi,%rsp; call .+4096; mov "
     "-0x18(%rbp),%rax; mov %rax,%rsp; leave; ret");
CODE(loads_by_frame,
     "mov %rsp,%r9; sub $0x240,%rsp; mov %r9,0x200(%rsp); call .+4096; mov 0x200(%rsp),%rsp; ret");
CODE(loads_another_place,
     "mov %rsp,%r9; sub $0x240,%rsp; mov %r9,0x200(%rsp); call .+4096; mov 0x208(%rsp),%rsp; ret");
CODE(copies_further_down,
     "push %rbp; mov %rsp,%rbp; jmp 2f; 1: mov %rbx,%rsp; 2: mov %rsp,%rbx; sub %rdi,%rsp; call "
     ".+4096; jne 1b; leave; ret");
CODE(aligns_by_exchange, "lea -0x88(%rsp),%r15; and $-64,%r15; xchg %rsp,%r15; call .+4096; mov "
			 "%r15,%rsp; ret");
CODE(aligns_by_push, "mov %rsp,%rax; and $-32,%rsp; push %rax; call .+4096; pop %rsp; ret");

/* A new value that is computed, or comes by another register. */
CODE(switches_by_sum,
     "push %rbp; mov %rsp,(%rdi); mov (%rsi),%rax; sub %rsp,%rax; add %rax,%rsp; pop %rbp; ret");
CODE(switches_by_difference,
     "push %rbp; mov %rsp,(%rdi); mov %rsp,%rax; sub (%rsi),%rax; sub %rax,%rsp; pop %rbp; ret");
CODE(switches_by_memory, "push %rbp; mov %rsp,(%rdi); add 8(%rsi),%rsp; pop %rbp; ret");
CODE(switches_by_xor,
     "push %rbp; mov %rsp,(%rdi); mov (%rsi),%rax; xor %rsp,%rax; xor %rax,%rsp; pop %rbp; ret");
CODE(switches_by_or, "mov %rsp,(%rdi); mov (%rsi),%rax; and $0,%rsp; or %rax,%rsp; ret");
CODE(switches_by_xadd,
     "mov %rsp,(%rdi); mov (%rsi),%rax; sub %rsp,%rax; xadd %rax,%rsp; pop %rbp; ret");
CODE(switches_by_vector, "mov %rsp,(%rdi); movq (%rsi),%xmm0; movq %xmm0,%rsp; pop %rbp; ret");
CODE(switches_by_address, "mov %rsp,(%rdi); mov (%rsi),%rax; lea (%rax),%rsp; pop %rbp; ret");
CODE(switches_by_index,
     "mov %rsp,(%rdi); mov (%rsi),%rax; sub %rsp,%rax; lea (%rsp,%rax),%rsp; pop %rbp; ret");
CODE(switches_by_frame,
     "push %rbp; mov %rsp,(%rdi); mov (%rsi),%rbp; mov %rbp,%rsp; pop %rbp; ret");
CODE(switches_by_pushed_memory, "mov %rsp,(%rdi); push (%rsi); pop %rsp; pop %rbp; ret");
/* No switches: a large array whose size is loaded, a frame pointer used for something else. */
CODE(makes_array_of_loaded_size, "push %rbp; mov %rsp,%rbp; mov (%rdi),%rax; and $-16,%rax; sub "
				 "%rax,%rsp; mov %rsp,%rdi; call .+4096; leave; ret");
CODE(makes_array_by_copy, "push %rbp; mov %rsp,%rbp; mov %rsp,%rax; sub %rdi,%rax; and $-16,%rax; "
			  "mov %rax,%rsp; call .+4096; lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret");
CODE(spares_frame_pointer, "push %rbp; mov (%rdi),%rbp; call .+4096; mov %rbp,%rax; pop %rbp; ret");
CODE(data_in_code, ".long 0x94fffc94, 0xff94fffc, 0xffc4ff94, 0x3c87ffcc, 0x2163c4ff; ret; ret");

static void computed_switches_of_stacks(void **state)
{
	assert_true(SWITCHES(switches_by_sum));
	assert_true(SWITCHES(switches_by_difference));
	assert_true(SWITCHES(switches_by_memory));
	assert_true(SWITCHES(switches_by_xor));
	assert_true(SWITCHES(switches_by_or));
	assert_true(SWITCHES(switches_by_xadd));
	assert_true(SWITCHES(switches_by_vector));
	assert_true(SWITCHES(switches_by_address));
	assert_true(SWITCHES(switches_by_index));
	assert_true(SWITCHES(switches_by_frame));
	assert_true(SWITCHES(switches_by_pushed_memory));
	assert_false(SWITCHES(makes_array_of_loaded_size));
	assert_false(SWITCHES(makes_array_by_copy));
	assert_false(SWITCHES(spares_frame_pointer));
	/* Without unwind tables: as it goes on tells code from data. */
	assert_true(SWITCHES_ANYWHERE(switches_by_address));
	assert_true(SWITCHES_ANYWHERE(switches_by_sum));
	assert_true(SWITCHES_ANYWHERE(switches_by_frame));
	assert_false(SWITCHES_ANYWHERE(data_in_code));
}

static void switches_of_stacks(void **state)
{
	assert_true(SWITCHES(function_modes));
	assert_true(SWITCHES(switches_by_register));
	assert_true(SWITCHES(switches_by_pop));
	assert_true(SWITCHES(switches_by_exchange));
	assert_true(SWITCHES(calls_elsewhere));
	assert_true(SWITCHES(keeps_switching));
	assert_true(SWITCHES(switches_and_tells));
	assert_true(SWITCHES(switches_by_variable));
	assert_true(SWITCHES(loads_another_place));
	assert_false(SWITCHES(keeps_in_frame));
	assert_false(SWITCHES(keeps_in_frame_alone));
	assert_false(SWITCHES(loads_by_frame));
	assert_false(SWITCHES(copies_further_down));
	assert_false(SWITCHES(aligns_by_exchange));
	assert_false(SWITCHES(aligns_by_push));
	assert_false(SWITCHES(nests_arrays));
	assert_false(SWITCHES(aligns_main));
	assert_false(SWITCHES(array_of_any_size));
	assert_false(SWITCHES(framed));
	assert_false(SWITCHES(setjmps));
	assert_false(SWITCHES(resolves));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_functions),
		cmocka_unit_test(functions_that_look_at_it),
		cmocka_unit_test(ways_to_look_at_it),
		cmocka_unit_test(frames_of_callers),
		cmocka_unit_test(frames_of_any_size),
		cmocka_unit_test(functions_that_leave_otherwise),
		cmocka_unit_test(switches_of_stacks),
		cmocka_unit_test(computed_switches_of_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
