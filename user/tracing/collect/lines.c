// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/lines.h"

#include "tables/bpf_tables.h"

void lines__read(const struct bpf_tables *t, struct line_sum *sums)
{
	for (uint32_t i = 0; i < t->info.lines_cap; i++) {
		sums[i] = (struct line_sum){0};
		for (uint32_t k = 0; k < t->info.line_shares; k++) {
			const struct wire_line_count *c =
				&t->line_counts[(size_t)k * t->info.lines_cap + i];

			sums[i].hits += c->hits;
			sums[i].ns += c->ns;
			sums[i].probe_ns += c->probe_ns;
		}
	}
}

void lines__add_open(const struct bpf_tables *t, const struct wire_callstack *callstack,
		     uint64_t now_ns, struct line_sum *sums)
{
	uint64_t until_ns = bpf_tables__open_until(t, callstack, now_ns);
	uint32_t i = callstack->top, guard = t->info.frames_cap;

	for (; i != callstack->bottom && guard; guard--) {
		const struct wire_frame *f = bpf_tables__frame(t, i);
		struct wire_line_state s;

		if (!f)
			return;
		s = t->frame_rests[i].line;
		if (s.line && s.site < t->info.lines_cap && s.since_ns < until_ns) {
			sums[s.site].ns += until_ns - s.since_ns;
			sums[s.site].probe_ns += f->probe_ns - s.probe_ns;
		}
		i = f->up;
	}
}
