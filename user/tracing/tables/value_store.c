// SPDX-License-Identifier: GPL-2.0-or-later
#include "tables/value_store.h"

#include <stdlib.h>
#include <string.h>

#include "calls/values.h"
#include "tables/bpf_tables.h"
#include "timeline/timeline.h"
#include "util/utf8.h"
#include "wire.h"

#define TEXTS (WIRE_VALUE_WORDS * sizeof(u64) / WIRE_TEXT) /* of a call, at most */

struct call_room {
	struct call_value values[WIRE_VALUES];
	char texts[TEXTS][WIRE_TEXT];
};

struct value_store {
	const struct bpf_tables *tables;
	size_t cnt, cap;
	struct call_room rooms[];
};

struct value_store *value_store__new(const struct bpf_tables *t, size_t calls)
{
	struct value_store *s = malloc(sizeof(*s) + calls * sizeof(s->rooms[0]));

	if (!s)
		return NULL;
	s->tables = t;
	s->cnt = 0;
	s->cap = calls;
	return s;
}

void value_store__clear(struct value_store *s)
{
	s->cnt = 0;
}

/* The lowest bytes of a word. */
static struct call_value number_of(const struct wire_value_place *w, uint64_t word)
{
	unsigned int shift = w->bytes && w->bytes < 8 ? 64 - 8 * w->bytes : 0;
	uint32_t half = word;
	float single;
	double d;

	if (w->flags & WIRE_VALUE_FLOAT) {
		memcpy(&single, &half, sizeof(single));
		memcpy(&d, &word, sizeof(d));
		return (struct call_value){.kind = VALUE_FLOAT, .f = w->bytes == 4 ? single : d};
	}
	if (w->flags & WIRE_VALUE_SIGNED)
		return (struct call_value){.kind = VALUE_INT,
					   .i = (int64_t)(word << shift) >> shift};
	return (struct call_value){.kind = VALUE_UINT, .u = word << shift >> shift};
}

/* Takes a character away from the end of a text if the text was cut in its midst. */
static void cut_at_character(char text[WIRE_TEXT])
{
	size_t len = strlen(text);
	uint32_t code;

	if (len < WIRE_TEXT - 1)
		return;
	for (char *last = text + len - 1; last > text + len - UTF8_MAX; last--) {
		if ((*last & 0xc0) == 0x80)
			continue;
		if ((*last & 0xc0) == 0xc0 && !utf8_decode(last, &code))
			*last = '\0';
		return;
	}
}

static struct call_value value_of(const struct wire_value_place *w, const struct wire_values *v,
				  size_t words, char (**text)[WIRE_TEXT])
{
	size_t len = w->flags & WIRE_VALUE_TEXT ? WIRE_TEXT / sizeof(u64) : 1;

	if (w->word >= words || len > words - w->word)
		return (struct call_value){VALUE_NONE};
	if (!(w->flags & WIRE_VALUE_TEXT))
		return number_of(w, v->words[w->word]);
	memcpy(**text, &v->words[w->word], WIRE_TEXT);
	(**text)[WIRE_TEXT - 1] = '\0';
	cut_at_character(**text);
	return (struct call_value){.kind = VALUE_TEXT, .text = *(*text)++};
}

void value_store__take(struct value_store *s, const struct wire_values *v,
		       struct timeline_call *call)
{
	const struct bpf_tables *t = s->tables;
	const struct wire_list *list = &t->lists[v->list < t->info.lists_cap ? v->list : 0];
	size_t words = v->records * (sizeof(struct wire_call) / sizeof(u64)), texts = 0;
	struct call_room *room = &s->rooms[s->cnt];
	char(*text)[WIRE_TEXT] = room->texts;
	uint32_t cnt = list->cnt < WIRE_VALUES ? list->cnt : WIRE_VALUES;

	for (uint32_t i = 0; i < cnt; i++)
		texts += list->wanted[i].flags & WIRE_VALUE_TEXT ? 1 : 0;
	/* All but the first of a record's words are the values'. */
	if (!cnt || !words || words - 1 > WIRE_VALUE_WORDS || texts > TEXTS || s->cnt == s->cap)
		return;
	for (uint32_t i = 0; i < cnt; i++)
		room->values[i] = v->known >> i & 1
					  ? value_of(&list->wanted[i], v, words - 1, &text)
					  : (struct call_value){VALUE_NONE};
	call->values = room->values;
	call->values_cnt = cnt;
	s->cnt++;
}
