// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/lists.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "select/arguments.h"
#include "util/log.h"
#include "wire.h"

_Static_assert(ARGUMENTS_MAX == WIRE_VALUES && ARGUMENT_LISTS < WIRE_LISTS, "they have room");

_Static_assert((int)ARGUMENT_AT_LEAST == WIRE_AT_LEAST && ARGUMENT_CONDITIONS == WIRE_CONDITIONS,
	       "they are the same");

_Static_assert((int)USDT_MEMORY == WIRE_PLACE_MEMORY && USDT_NO_REGISTER == WIRE_NO_REGISTER &&
		       USDT_THREAD_POINTER == WIRE_THREAD_POINTER,
	       "they are the same, too");

static uint8_t flags_of(const struct argument *arg)
{
	static const uint8_t forms[] = {
		[ARGUMENT_SIGNED] = WIRE_VALUE_SIGNED,
		[ARGUMENT_UNSIGNED] = 0,
		[ARGUMENT_HEX] = 0,
		[ARGUMENT_FLOAT] = WIRE_VALUE_FLOAT,
		[ARGUMENT_TEXT] = WIRE_VALUE_TEXT,
	};

	return forms[arg->form] | (arg->inside	 ? WIRE_VALUE_INSIDE
				   : arg->behind ? WIRE_VALUE_BEHIND
						 : 0);
}

static struct wire_list list_of(const struct argument_list *l)
{
	struct wire_list list = {.cnt = l->cnt};
	size_t words = 0, bytes;

	for (size_t i = 0; i < l->cnt; i++) {
		const struct argument *arg = &l->items[i];

		list.wanted[i] = (struct wire_value_place){
			.number = arg->number,
			.flags = flags_of(arg),
			.bytes = arg->bytes,
			.word = words,
			.offset = arg->offset,
			.place = arg->place.place,
			.size = arg->place.bytes,
			.base = arg->place.base,
			.index = arg->place.index,
			.shift = arg->place.shift,
			.sign = arg->place.is_signed,
			.at = arg->place.offset,
		};
		words += arg->form == ARGUMENT_TEXT ? WIRE_TEXT / sizeof(u64) : 1;
	}
	for (; list.conditions_cnt < l->conditions_cnt; list.conditions_cnt++) {
		const struct argument_condition *c = &l->conditions[list.conditions_cnt];

		list.conditions[list.conditions_cnt] =
			(struct wire_condition){c->item, c->relation, c->than};
	}
	bytes = offsetof(struct wire_values, words) + words * sizeof(u64);
	list.records = (bytes + sizeof(struct wire_call) - 1) / sizeof(struct wire_call);
	return list;
}

int lists__fill(int fd, const struct arguments *a)
{
	for (size_t i = 0; i < a->cnt; i++) {
		struct wire_list list = list_of(&a->lists[i]);
		uint32_t number = i + 1;

		if (bpf_map_update_elem(fd, &number, &list, BPF_ANY)) {
			log_error("cannot tell BPF which arguments to read: %s", strerror(errno));
			return -errno;
		}
	}
	return 0;
}
