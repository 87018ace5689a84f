// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The format of valgrind's callgrind, for KCachegrind and callgrind_annotate: functions with what
 * they cost themselves, and what they call with what that cost. It is a graph: paths are lost.
 * Threads are functions that call what is outermost in them. Names are written once, with a number
 * that stands for them from there on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "calls/profile.h"
#include "sink/accounts.h"
#include "sink/call_edges.h"
#include "sink/listing.h"
#include "sink/names.h"
#include "sink/sink.h"
#include "sink/stream.h"
#include "util/utf8.h"

#define UNKNOWN "???" /* callgrind's word for no file */

/* Numbers of names, from 1 on; each kind of name has its own. */
struct numbers {
	uint32_t object, file;
};

struct writer {
	const struct profile *p;
	struct graph graph;
	struct numbers *numbers; /* by function of the graph, of which the number is one more */
	/* Whether a name has been written, by its number. */
	bool *objects, *files, *functions;
	FILE *out;
};

static void put_name(FILE *out, const char *name)
{
	char c[UTF8_MAX];
	size_t len;

	while ((len = utf8_next_plain(&name, c)))
		fwrite_unlocked(c, 1, len, out);
}

/* Nothing to be seen: it would be read as no name. */
static bool is_blank(const char *name)
{
	char c[UTF8_MAX];
	size_t len;

	while ((len = utf8_next_plain(&name, c)))
		if (len > 1 || *c != ' ')
			return false;
	return true;
}

/* "fn=(3) name", later "fn=(3)". */
static void write_name(const struct writer *w, const char *key, uint32_t number, bool *written,
		       const char *name)
{
	fprintf(w->out, "%s=(%" PRIu32 ")", key, number);
	if (!written[number]) {
		putc_unlocked(' ', w->out);
		put_name(w->out, name && !is_blank(name) ? name : UNKNOWN);
	}
	written[number] = true;
	putc_unlocked('\n', w->out);
}

/* Names the function that the next lines are about; `keys` are those for object, file and function.
 */
static void write_function(const struct writer *w, uint32_t function, const char *const keys[3])
{
	const struct numbers *n = &w->numbers[function];
	uint32_t index = w->graph.functions[function].function;
	const struct profile_function *f = &w->p->functions[index];
	bool thread = function >= w->graph.threads_from;
	char name[THREAD_NAME_LEN];

	write_name(w, keys[0], n->object, w->objects, thread ? NULL : f->module);
	write_name(w, keys[1], n->file, w->files, thread ? NULL : f->file);
	write_name(w, keys[2], function + 1, w->functions,
		   thread ? thread__name(&w->p->threads[index], name) : function__name(f));
}

static uint32_t line_of(const struct writer *w, uint32_t function)
{
	return function < w->graph.threads_from
		       ? w->p->functions[w->graph.functions[function].function].line
		       : 0;
}

static void write_costs(const struct writer *w, const uint64_t costs[COSTS])
{
	for (int i = 0; i < COSTS; i++)
		fprintf(w->out, " %" PRIu64, costs[i]);
	putc_unlocked('\n', w->out);
}

static bool any_cost(const uint64_t costs[COSTS])
{
	return costs[COST_WALL] || costs[COST_CPU] || costs[COST_OFF] || costs[COST_CALLS];
}

static void write_edge(const struct writer *w, const struct call_edge *edge)
{
	static const char *const keys[] = {"cob", "cfl", "cfn"};

	if (!edge->calls && !any_cost(edge->total))
		return;
	write_function(w, edge->callee, keys);
	/* A call from before the first that we saw is no entry but a cost; callgrind_annotate
	 * takes the costs behind calls=0 for the caller's own. */
	fprintf(w->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32, edge->calls ? edge->calls : 1,
		line_of(w, edge->callee), line_of(w, edge->caller));
	write_costs(w, edge->total);
}

static void write_functions(const struct writer *w, uint64_t sums[COSTS])
{
	static const char *const keys[] = {"ob", "fl", "fn"};
	const struct call_edge *edge = w->graph.edges, *end = edge + w->graph.edges_cnt;
	size_t i, k;

	for (i = 0; i < w->graph.functions_cnt && !ferror_unlocked(w->out); i++) {
		const uint64_t *self = w->graph.functions[i].self;

		if (!any_cost(self) && (edge == end || edge->caller != i))
			continue;
		putc_unlocked('\n', w->out);
		write_function(w, i, keys);
		fprintf(w->out, "%" PRIu32, line_of(w, i));
		write_costs(w, self);
		for (k = 0; k < COSTS; k++)
			sums[k] += self[k];
		for (; edge < end && edge->caller == i; edge++)
			write_edge(w, edge);
	}
}

static void write_note(const struct writer *w, const char *key, const char *text)
{
	if (!*text)
		return;
	fprintf(w->out, "%s: ", key);
	put_name(w->out, text);
	putc_unlocked('\n', w->out);
}

static void write_head(const struct writer *w, bool raw)
{
	char line[ACCOUNTS_LINE];

	fprintf(w->out, "# callgrind format\nversion: 1\ncreator: proftrace %s\n",
		PROFTRACE_VERSION);
	if (w->p->target.pids_cnt == 1)
		fprintf(w->out, "pid: %d\n", w->p->target.pids[0]);
	write_note(w, "cmd", target__name(&w->p->target, line, sizeof(line)));
	write_note(w, "desc", accounts__calls(w->p, line, sizeof(line)));
	write_note(w, "desc", accounts__cost(w->p, raw, line, sizeof(line)));
	write_note(w, "desc", accounts__estimates(w->p, line, sizeof(line)));
	/* In the order of enum cost. */
	fputs("positions: line\n"
	      "event: Wall : wall time, ns\n"
	      "event: Cpu : time on a CPU, ns\n"
	      "event: Off : time off the CPU, ns\n"
	      "event: Calls : calls\n"
	      "events: Wall Cpu Off Calls\n",
	      w->out);
}

static bool same(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* Functions are sorted by object and file. Number 1 is the unknown object and file of threads. */
static void number_names(struct writer *w)
{
	const struct profile_function *before = NULL;
	struct numbers last = {1, 1};
	size_t i;

	for (i = 0; i < w->graph.threads_from; i++) {
		const struct profile_function *f = &w->p->functions[w->graph.functions[i].function];
		bool same_object = before && same(before->module, f->module);

		last.object += !same_object;
		last.file += !same_object || !same(before->file, f->file);
		w->numbers[i] = last;
		before = f;
	}
	for (; i < w->graph.functions_cnt; i++)
		w->numbers[i] = (struct numbers){1, 1};
}

static int prepare(struct writer *w)
{
	struct listing *listing = listing__new(w->p);
	int err = listing ? graph__init(&w->graph, w->p, listing) : -ENOMEM;
	size_t cnt = w->graph.functions_cnt + 2;

	free(listing);
	if (err)
		return err;
	w->numbers = calloc(cnt, sizeof(*w->numbers));
	w->objects = calloc(cnt, sizeof(*w->objects));
	w->files = calloc(cnt, sizeof(*w->files));
	w->functions = calloc(cnt, sizeof(*w->functions));
	if (!w->numbers || !w->objects || !w->files || !w->functions)
		return -ENOMEM;
	number_names(w);
	return 0;
}

static int write_callgrind(const struct profile *p, const struct sink_options *opts, FILE *out)
{
	struct writer w = {.p = p, .out = out};
	uint64_t sums[COSTS] = {0};
	int err = prepare(&w);

	stream__begin();
	if (!err) {
		write_head(&w, opts->raw);
		write_functions(&w, sums);
		fputs("\ntotals:", out);
		write_costs(&w, sums);
	}
	graph__clear(&w.graph);
	free(w.numbers);
	free(w.objects);
	free(w.files);
	free(w.functions);
	return err ? err : stream__end(out);
}

const struct sink sink_callgrind = {
	.name = "callgrind",
	.help = "for KCachegrind and callgrind_annotate",
	.suffixes = (const char *const[]){"callgrind.out*", ".callgrind", NULL},
	.whole = true,
	.write = write_callgrind,
};
