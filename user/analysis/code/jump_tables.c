// SPDX-License-Identifier: GPL-2.0-or-later
#include "code/jump_tables.h"

#include <errno.h>
#include <string.h>

#include "arch/insn.h"

#define TABLE_REACH   16 /* instructions between a table's load and the jump through it, at most */
#define COMPARE_REACH 4	 /* the same between a comparison and the branch that uses it */
#define MASK_REACH    4	 /* ... between a mask and the load that it bounds */
#define BOUND_REACH   32 /* ... and between that branch and the jump through the table */
#define TABLE_ENTRIES (1 << 14) /* of one jump table, at most */
#define TABLE_CHUNK   64	/* entries read at once */

void jump_tables__begin(struct jump_tables *t, uint32_t limit)
{
	t->last.age = TABLE_REACH + 1;
	t->masked.age = MASK_REACH + 1;
	t->bound.compare_age = COMPARE_REACH + 1;
	t->bound.limit = limit;
	t->bound.limit_age = 0;
}

/* The address of the jump table that the operand reads; 0: not known. */
static uint64_t table_vaddr(const struct jump_tables *t, const struct insn *in)
{
	if (in->table_base == INSN_NO_REG)
		return (uint32_t)in->table_disp;
	return t->lea[in->table_base] ? t->lea[in->table_base] + in->table_disp : 0;
}

/* How many entries a mask leaves of the table of this operand; 0: there was none. */
static uint32_t mask_limit(const struct jump_tables *t, const struct insn *in)
{
	bool masked = t->masked.age <= MASK_REACH && t->masked.reg == in->table_index;

	return masked ? t->masked.limit : 0;
}

/* The operand of a table, as far as the code before has told. */
static struct jump_table table_of(const struct jump_tables *t, const struct insn *in)
{
	return (struct jump_table){table_vaddr(t, in), in->table_scale, 0, mask_limit(t, in)};
}

/* Takes note of what a jump through a table needs: the table's address, and its use. */
static void note_load(struct jump_tables *t, const struct insn *in, uint64_t vaddr)
{
	t->last.age++;
	if (in->lea_rip || in->lea_scaled) {
		t->lea[in->lea_reg] = in->lea_rip ? vaddr + in->length + in->rel : 0;
		t->scaled[in->lea_reg] = in->lea_scaled;
	}
	if (in->table_load)
		t->last = table_of(t, in);
	if (in->sum_load && t->scaled[in->sum_regs[0]] != t->scaled[in->sum_regs[1]])
		t->last = (struct jump_table){t->lea[in->sum_regs[t->scaled[in->sum_regs[0]]]], 4,
					      0, 0};
}

/* Takes note of a mask that bounds an index without a check: switch (x & 7). */
static void note_mask(struct jump_tables *t, const struct insn *in)
{
	t->masked.age++;
	if (in->masks && in->constant < TABLE_ENTRIES)
		t->masked = (struct masked_index){in->constant + 1, 0, in->masked_reg};
}

/* Takes note of the range checks before switches: cmp $N; ja (or jae) default; or the other way
 * round, jbe (or jb) to the switch. */
static void note_bound(struct jump_tables *t, const struct insn *in)
{
	struct table_bound *b = &t->bound;
	uint32_t limit;

	b->compare_age++;
	b->limit_age++;
	b->limit_taken = 0;
	if (in->compares) {
		b->constant = in->constant;
		b->compare_age = 0;
		return;
	}
	if (in->flow != FLOW_JCC || b->compare_age > COMPARE_REACH || b->constant < 0 ||
	    b->constant >= TABLE_ENTRIES)
		return;
	limit = b->constant + (in->cond == 7 || in->cond == 6);
	if (in->cond == 7 || in->cond == 3) {
		b->limit = limit;
		b->limit_age = 0;
		t->masked.age = MASK_REACH + 1; /* the check says more */
	} else if (in->cond == 6 || in->cond == 2) {
		b->limit_taken = limit;
	}
}

void jump_tables__pass(struct jump_tables *t, const struct insn *in, uint64_t vaddr)
{
	note_load(t, in, vaddr);
	note_mask(t, in);
	note_bound(t, in);
}

bool jump_tables__used_by(const struct jump_tables *t, const struct insn *in,
			  struct jump_table *out)
{
	if (in->flow != FLOW_JMP_TABLE && (in->flow != FLOW_JMP_REG || t->last.age > TABLE_REACH))
		return false;
	*out = in->table_scale ? table_of(t, in) : t->last;
	return true;
}

int jump_tables__follow(const struct jump_tables *t, const struct jump_table *table,
			code_reader read, void *read_ctx, jump_target found, void *found_ctx)
{
	uint32_t checked = t->bound.limit_age <= BOUND_REACH ? t->bound.limit : 0;
	uint32_t limit = table->limit ? table->limit : checked;
	uint8_t buf[TABLE_CHUNK * 8];
	int err;

	if (!table->vaddr || !read)
		return 0;
	for (uint32_t i = 0; i < limit; i++) {
		uint32_t in_chunk = i % TABLE_CHUNK;
		uint32_t chunk = limit - i < TABLE_CHUNK ? limit - i : TABLE_CHUNK;
		uint64_t target;
		int32_t offset;

		if (!in_chunk && !read(read_ctx, table->vaddr + (uint64_t)i * table->entry_size,
				       buf, chunk * table->entry_size))
			return 0;
		if (table->entry_size == 8) {
			memcpy(&target, buf + in_chunk * 8, sizeof(target));
		} else {
			memcpy(&offset, buf + in_chunk * 4, sizeof(offset));
			target = table->vaddr + offset;
		}
		err = found(found_ctx, target);
		if (err)
			return err == -ERANGE ? 0 : err;
	}
	return limit;
}
