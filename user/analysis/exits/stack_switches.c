// SPDX-License-Identifier: GPL-2.0-or-later
#include "exits/stack_switches.h"

#include <stdbool.h>
#include <string.h>

#include "elf/elf_image.h"
#include "exits/exits.h"
#include "exits/jump_swaps.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "symbol/traits.h"
#include "target/target.h"

/*
 * Libraries that load the stack pointer with what they are given, and stay on their stack.
 * libffi's caller makes room in its frame, where the callee's arguments and its return address are
 * put.
 */
static const char *const stay[] = {"libffi.so"};

static bool is_known_to_stay(const struct plan_object *obj)
{
	for (size_t i = 0; i < sizeof(stay) / sizeof(*stay); i++) {
		if (!strncmp(obj->soname, stay[i], strlen(stay[i])))
			return true;
	}
	return false;
}

/* How an object with contexts of libc's switches is known. What is linked into static programs has
 * a C library's machinery among it; libraries that need no other look like these. */
static bool can_be_asked(const struct plan_object *obj, bool is_main)
{
	const unsigned known = EXIT_UNSAFE_TRAITS | TRAIT_LIBC | TRAIT_UCONTEXT;

	return obj->img && !(obj->traits & known) && !is_known_to_stay(obj) &&
	       !(is_main && elf_image__is_static(obj->img));
}

/* Whether one switch more would change how leaves are seen, of objects with these traits: where
 * things unwind, what is proven to bear that must not be switched away from. */
static bool makes_a_difference(unsigned traits, const struct target *t)
{
	if (!t->processes_cnt || t->hazard)
		return false;
	return !(traits & EXIT_UNSAFE_TRAITS) ||
	       !(traits & (TRAIT_SWITCHES | TRAIT_GO | TRAIT_SIGNALS));
}

/* Notes that the object switches stacks. */
static void note(struct plan_object *obj, const char *evidence, unsigned *traits)
{
	obj->traits |= TRAIT_SWITCHES;
	obj->evidence = evidence;
	*traits |= obj->traits;
}

/* Whether the object may switch stacks by setjmp() and longjmp(), so that its code is to be read.
 * Static programs are asked as well, as their symbols name both. Switches between contexts that
 * makecontext() has made (libcrypto's) are those of TRAIT_UCONTEXT. */
static bool may_swap_by_jumps(const struct plan_object *obj)
{
	const unsigned both = TRAIT_SETJMPS | TRAIT_LONGJMPS;

	return obj->img && (obj->traits & both) == both &&
	       !(obj->traits & (TRAIT_SWITCHES | TRAIT_UCONTEXT | TRAIT_GO | TRAIT_LIBC));
}

/* Looks at the object's code for one way to switch stacks, then for the other. */
static int look_at(struct plan_object *obj, bool is_main, unsigned *traits)
{
	const char *swaps = NULL;
	int err = 0;

	if (may_swap_by_jumps(obj))
		err = jump_swaps__look(obj->img, &swaps);
	if (swaps)
		note(obj, swaps, traits);
	if (err || !can_be_asked(obj, is_main))
		return err;
	err = plan_object__look_for_loads(obj);
	if (!err && obj->loads_stack)
		note(obj, "a load of the stack pointer", traits);
	return err;
}

int stack_switches__look(struct plan *p, const struct target *t, size_t first)
{
	unsigned traits = 0;
	int err = 0;

	for (size_t i = 0; i < p->objects_cnt; i++) {
		if (!(p->objects[i].traits & TRAIT_LIBC))
			traits |= p->objects[i].traits;
	}
	for (size_t i = first; !err && i < p->objects_cnt; i++) {
		struct plan_object *obj = &p->objects[i];

		if (obj->img && (elf_image__is_program(obj->img) || t->objects[i].is_main ||
				 makes_a_difference(traits, t)))
			err = look_at(obj, t->objects[i].is_main, &traits);
	}
	return err;
}
