/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of arguments and results (-A). They are read as the call is entered and left, and wait
 * beside its frame for its end. What cannot be read stays unknown: memory that is not there, or not
 * at the moment, as programs like ours cannot wait for it. Without -A none of this is in the loaded
 * programs.
 */
#ifndef PROFTRACE_VALUES_BPF_H
#define PROFTRACE_VALUES_BPF_H

#include "tables.bpf.h"

const volatile bool keep_values = false;

#define TEXT_WORDS (WIRE_TEXT / 8)

/* The reading of one list of values at the hit of a probe. */
struct value_search {
	const struct wire_list *list;
	struct wire_values *values;
	u64 slot; /* address of the return address */
	u64 result;
	u64 thread; /* the thread pointer */
	u64 registers[REGISTERS]; /* as instructions number them */
	bool leaves;
	bool fails; /* a condition does not hold */
	u8 pad[6];
};

/* Returns 0 if it could be read. */
static __always_inline long read_behind(u64 at, u32 bytes, u64 *out)
{
	*out = 0;
	switch (bytes) {
	case 1:
		return bpf_probe_read_user(out, 1, (void *)at);
	case 2:
		return bpf_probe_read_user(out, 2, (void *)at);
	case 4:
		return bpf_probe_read_user(out, 4, (void *)at);
	default:
		return bpf_probe_read_user(out, 8, (void *)at);
	}
}

static __always_inline u64 read_register(const struct value_search *s, u32 number)
{
	if (number == WIRE_THREAD_POINTER)
		return s->thread;
	return number < REGISTERS ? s->registers[number] : 0;
}

/* The value of a static probe. */
static __always_inline long read_place(const struct value_search *s,
				       const struct wire_value_place *w, u64 *out)
{
	u32 unused = (64 - 8 * w->size) & 63;
	u64 value = w->at;

	if (w->place == WIRE_PLACE_REGISTER) {
		value = read_register(s, w->base) >> (w->shift & 63);
	} else if (w->place == WIRE_PLACE_MEMORY) {
		value += read_register(s, w->base);
		value += read_register(s, w->index) << (w->shift & 63);
		if (read_behind(value, w->size, &value))
			return -1;
	}
	value <<= unused;
	*out = w->sign ? (u64)((s64)value >> unused) : value >> unused;
	return 0;
}

/* The value of a function's argument: those in registers, and then the stack. */
static __always_inline long read_argument(const struct value_search *s, u32 number, u64 *out)
{
	if (number <= ARGUMENTS) {
		*out = read_register(s, argument_register(number));
		return 0;
	}
	return bpf_probe_read_user(
		out, sizeof(*out),
		(void *)(s->slot + STACK_ARGUMENTS + 8 * (number - ARGUMENTS - 1)));
}

static __always_inline long value_fetch(const struct value_search *s,
					const struct wire_value_place *w, u64 *out)
{
	return w->place ? read_place(s, w, out) : read_argument(s, w->number, out);
}

static long value_read(u32 i, struct value_search *s)
{
	const struct wire_value_place *w;
	u64 value = s->result;
	u32 word;

	if (i >= WIRE_VALUES || i >= s->list->cnt)
		return 1;
	w = &s->list->wanted[i];
	word = w->word;
	if (!w->number != s->leaves || (w->number && value_fetch(s, w, &value)) ||
	    ((w->flags & WIRE_VALUE_BEHIND) && read_behind(value + w->offset, w->bytes, &value)))
		return 0;
	if (w->flags & WIRE_VALUE_INSIDE)
		value += w->offset;
	if (w->flags & WIRE_VALUE_TEXT) {
		if (word > WIRE_VALUE_WORDS - TEXT_WORDS ||
		    bpf_probe_read_user_str(&s->values->words[word], WIRE_TEXT, (void *)value) < 0)
			return 0;
	} else if (word < WIRE_VALUE_WORDS) {
		s->values->words[word] = value;
	}
	s->values->known |= 1u << i;
	return 0;
}

static __always_inline bool holds(u64 value, u32 relation, u64 than, bool is_signed)
{
	bool below = is_signed ? (s64)value < (s64)than : value < than;

	switch (relation) {
	case WIRE_EQUAL:
		return value == than;
	case WIRE_UNEQUAL:
		return value != than;
	case WIRE_BELOW:
		return below;
	case WIRE_AT_MOST:
		return below || value == than;
	case WIRE_ABOVE:
		return !below && value != than;
	default:
		return !below;
	}
}

/* Looks at one condition; nonzero: it does not hold, as its value is another one, or not known. */
static __always_inline bool condition_fails(const struct value_search *s,
					    const struct wire_condition *c)
{
	u32 i = c->value, word, unused;
	const struct wire_value_place *w;
	bool is_signed;
	u64 value;

	if (i >= WIRE_VALUES || !(s->values->known >> i & 1))
		return true;
	w = &s->list->wanted[i];
	word = w->word;
	if (word >= WIRE_VALUE_WORDS)
		return true;
	is_signed = w->flags & WIRE_VALUE_SIGNED;
	unused = (64 - 8 * w->bytes) & 63;
	value = s->values->words[word] << unused;
	value = is_signed ? (u64)((s64)value >> unused) : value >> unused;
	return !holds(value, c->relation, c->than, is_signed);
}

static long condition_check(u32 i, struct value_search *s)
{
	if (i >= WIRE_CONDITIONS || i >= s->list->conditions_cnt)
		return 1;
	s->fails = condition_fails(s, &s->list->conditions[i]);
	return s->fails;
}

/* Whether the values of such a list decide about what is recorded. */
static __always_inline bool values_decide(u32 number)
{
	const struct wire_list *list = number ? bpf_map_lookup_elem(&lists, &number) : 0;

	return list && list->conditions_cnt;
}

/* Reads the values that the entry shows, of the call that `frame` is for. 0: by them the call is
 * not to be recorded. */
static __noinline u32 values_enter(struct pt_regs *ctx, u32 number, u32 frame, u64 slot)
{
	struct value_search s = {
		.list = bpf_map_lookup_elem(&lists, &number),
		.values = bpf_map_lookup_elem(&values, &frame),
		.slot = slot,
	};

	s.thread = thread_pointer(current_task());
	registers_read(ctx, s.registers);
	if (!s.list || !s.values)
		return 1;
	s.values->known = 0;
	s.values->list = number;
	s.values->records = s.list->records;
	LOOP(WIRE_VALUES, value_read, &s);
	if (!s.list->conditions_cnt)
		return 1;
	LOOP(WIRE_CONDITIONS, condition_check, &s);
	if (s.fails)
		TALLY(refused, 1);
	return !s.fails;
}

/* Reads the values that a call's return shows (its result), into those of its frame. */
static __noinline u32 values_leave(struct pt_regs *ctx, u32 number, u32 frame)
{
	struct value_search s = {
		.list = bpf_map_lookup_elem(&lists, &number),
		.values = bpf_map_lookup_elem(&values, &frame),
		.result = result_register(ctx),
		.leaves = true,
	};

	if (s.list && s.values)
		LOOP(WIRE_VALUES, value_read, &s);
	return number;
}

/* How many places of a chunk the values of a frame's call take. */
static __always_inline u32 values_records(u32 frame, u32 entry)
{
	const struct wire_values *v;

	if (!keep_values || !WIRE_FRAME_VALUES(entry))
		return 0;
	v = bpf_map_lookup_elem(&values, &frame);
	return v && v->records <= sizeof(*v) / sizeof(struct wire_call) ? v->records : 0;
}

/* Puts them into a chunk's places from `at` on. */
static __noinline u32 values_write(struct wire_chunk *c, u32 at, u32 frame, u32 cnt)
{
	const struct wire_values *v = bpf_map_lookup_elem(&values, &frame);
	const struct wire_call *from = (const void *)v;

	if (!v || !c)
		return 0;
	for (u32 i = 0; i < sizeof(*v) / sizeof(*from); i++) {
		u32 to = at + i;

		barrier_var(to); /* or else the verifier does not see that it is the same */
		if (i >= cnt || to >= WIRE_CHUNK_CALLS)
			break;
		c->calls[to] = from[i];
	}
	return cnt;
}

#endif
