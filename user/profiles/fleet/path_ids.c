// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/path_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "calls/thread_kind.h"
#include "calls/walk.h"
#include "util/hash.h"
#include "views/merge.h"

/* Among a million paths two get the same id with a probability of 0.2 %. */
#define ID_BITS 48

/* intHash64() of ClickHouse, which is the same in all its versions. */
static uint64_t engine_hash(uint64_t x)
{
	return hash__mix(x ^ 0x4cf2d2baae6da887);
}

/* Odd, so that steps of one function at different depths differ: 2^64 by the golden ratio. */
#define DEPTH_FACTOR 0x9e3779b97f4a7c15

/* With its NUL, so that two texts are not another two. */
static uint64_t add_text(uint64_t hash, const char *text)
{
	return hash__add(hash, text, strlen(text) + 1);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint64_t hash_function(const struct profile_function *f)
{
	uint64_t hash = HASH_BEGIN + f->kind;

	hash = add_text(hash, f->name ? f->name : "");
	hash = add_text(hash, f->symbol ? f->symbol : "");
	hash = add_text(hash, f->module ? base_name(f->module) : "");
	hash = add_text(hash, f->file ? base_name(f->file) : "");
	return hash__mix(hash) >> (64 - ID_BITS);
}

static uint64_t hash_thread(const struct profile_thread *t)
{
	return hash__mix(add_text(HASH_BEGIN + t->spans, t->comm)) >> (64 - ID_BITS);
}

uint64_t path_ids__step(uint64_t id, uint64_t depth)
{
	return engine_hash(id + depth * DEPTH_FACTOR);
}

uint64_t path_ids__of_sum(uint64_t sum)
{
	return engine_hash(sum) >> (64 - ID_BITS);
}

/* By node. */
static void sum_paths(const struct path_ids *ids, const struct profile *p)
{
	for (size_t i = 0; i < p->threads_cnt; i++) {
		uint64_t root = path_ids__step(ids->threads[i], 1);
		struct walk w = walk__from(p, p->threads[i].first_root);

		while (walk__next(&w)) {
			const struct profile_node *n = &p->nodes[w.node];

			if (w.entering)
				ids->paths[w.node] =
					(n->parent ? ids->paths[n->parent] : root) +
					path_ids__step(ids->functions[n->function], w.depth + 2);
		}
	}
}

int path_ids__make(struct path_ids *ids, const struct profile *p)
{
	ids->functions = calloc(p->functions_cnt + 1, sizeof(*ids->functions));
	ids->threads = calloc(p->threads_cnt + 1, sizeof(*ids->threads));
	ids->paths = calloc(p->nodes_cnt + 1, sizeof(*ids->paths));
	if (!ids->functions || !ids->threads || !ids->paths)
		return -ENOMEM;
	for (size_t i = 0; i < p->functions_cnt; i++)
		ids->functions[i] = hash_function(&p->functions[i]);
	for (size_t i = 0; i < p->threads_cnt; i++)
		ids->threads[i] = hash_thread(&p->threads[i]);
	sum_paths(ids, p);
	for (size_t i = 1; i < p->nodes_cnt; i++)
		ids->paths[i] = path_ids__of_sum(ids->paths[i]);
	return 0;
}

void path_ids__clear(struct path_ids *ids)
{
	free(ids->functions);
	free(ids->threads);
	free(ids->paths);
	*ids = (struct path_ids){0};
}

void thread_kind(char *comm)
{
	size_t len = thread_kind__len(comm);

	if (comm[len])
		memcpy(comm + len, "#", 2);
}

int merge_kinds(struct profile *p, struct profile **out)
{
	for (size_t i = 0; i < p->threads_cnt; i++)
		thread_kind(p->threads[i].comm);
	return profile__merge_threads(p, MERGE_COMM, out);
}
