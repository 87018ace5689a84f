// SPDX-License-Identifier: GPL-2.0-or-later
/* -l: the probe plan, as text or JSON. Nothing is attached; a command is not run. */
#include "cmd/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/options.h"
#include "cmd/list_lines.h"
#include "cmd/list_rows.h"
#include "plan/exit_strategy.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "planner/planner.h"
#include "report/output.h"
#include "run/selection.h"
#include "security/namespaces.h"
#include "target/strangers.h"
#include "target/target.h"
#include "util/json.h"
#include "util/log.h"
#include "util/signals.h"

/* A row for each site. */
static void list_region(struct list_rows *l, const struct plan *p, const struct plan_function *f,
			const struct target *t)
{
	for (uint32_t i = 0; i < f->begins_cnt + f->ends_cnt; i++) {
		const struct plan_site *s = &p->sites[f->sites + i];
		char columns[64], name[1024];

		snprintf(columns, sizeof(columns), "%#-10" PRIx64 " %5s %-5s %-6s %-8s", s->offset,
			 i < f->begins_cnt ? "" : "end", site_class__name(s->site),
			 f->kind == PLAN_MARK ? "mark"
			 : f->ordered	      ? "span"
					      : "region",
			 "");
		snprintf(name, sizeof(name), "[%s]", f->symbol);
		list_rows__put(l, &(struct list_row){columns, t->objects[f->object].path, name,
						     s->reason, NULL});
	}
}

static void list_text(const struct sink_options *opts, FILE *out, const struct plan *p,
		      const struct target *t)
{
	struct list_rows l = {.pr = {.opts = opts, .out = out}};
	char columns[64];

	list_rows__begin(&l);
	for (size_t i = 0; i < p->functions_cnt; i++) {
		const struct plan_function *f = &p->functions[i];

		if (f->kind != PLAN_FUNCTION) {
			list_region(&l, p, f, t);
			continue;
		}

		snprintf(columns, sizeof(columns), "%#-10" PRIx64 " %+5d %-5s %-6s %-8s", f->offset,
			 (int)f->entry.offset, site_class__name(f->entry.site),
			 exit_strategy__name(f->exit), plan__exit_kind(p, f));
		list_rows__put(&l, &(struct list_row){columns, t->objects[f->object].path,
						      plan__name(p, i), f->reason,
						      instrumented_by__name(f->instrumented)});
	}
	snprintf(columns, sizeof(columns), "%-10s %5s %-5s %-6s %-8s", "skipped", "", "", "", "");
	for (size_t i = 0; i < p->skipped_cnt; i++) {
		const struct plan_skip *s = &p->skipped[i];

		list_rows__put(&l, &(struct list_row){columns, t->objects[s->object].path,
						      plan__skip_name(p, i), s->reason, NULL});
	}
	list_rows__end(&l);
	list_lines__text(out, p);
}

static void list_sites(struct json *j, const struct plan *p, const struct plan_function *f)
{
	json_member_open(j, "sites", '[');
	for (uint32_t i = 0; i < f->begins_cnt + f->ends_cnt; i++) {
		const struct plan_site *s = &p->sites[f->sites + i];

		json_open(j, '{');
		json_member_string(j, "kind",
				   f->kind == PLAN_MARK ? "mark"
				   : i < f->begins_cnt	? "begin"
							: "end");
		json_member_u64(j, "offset", s->offset);
		json_member_string(j, "site", site_class__name(s->site));
		json_member_string(j, "reason", s->reason);
		json_member_string(j, "arguments", s->arguments);
		json_member_u64(j, "semaphore", s->semaphore);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void list_function(struct json *j, const struct plan *p, size_t index,
			  const struct target *t)
{
	const struct plan_function *f = &p->functions[index];

	json_open(j, '{');
	json_member_string(j, "kind", f->kind == PLAN_FUNCTION ? "function" : "region");
	json_member_string(j, "name", plan__name(p, index));
	json_member_string(j, "symbol", f->symbol);
	json_member_open(j, "aliases", '[');
	for (size_t i = 0; i < f->aliases_cnt; i++)
		json_string(j, f->aliases[i]);
	json_close(j, ']');
	json_member_string(j, "module", t->objects[f->object].path);
	json_member_u64(j, "offset", f->offset);
	json_member_u64(j, "size", f->size);
	json_member_u64(j, "site_offset", f->entry.offset);
	json_member_string(j, "site", site_class__name(f->entry.site));
	json_member_string(j, "instrumented", instrumented_by__name(f->instrumented));
	json_member_string(j, "exit", exit_strategy__name(f->exit));
	json_member_string(j, "exit_kind", f->kind == PLAN_FUNCTION ? plan__exit_kind(p, f) : "");
	json_member_u64(j, "exit_sites", f->exits_cnt);
	json_member_bool(j, "closed_at_entry", f->closed_at_entry);
	json_member_string(j, "reason", f->reason);
	if (f->kind != PLAN_FUNCTION) {
		json_member_bool(j, "span", f->ordered);
		list_sites(j, p, f);
	}
	json_close(j, '}');
}

static void list_json(FILE *out, const struct plan *p, const struct target *t)
{
	struct json j = JSON_INIT(out);

	json_open(&j, '{');
	json_member_u64(&j, "schema", 1);
	json_member_open(&j, "functions", '[');
	for (size_t i = 0; i < p->functions_cnt; i++)
		list_function(&j, p, i, t);
	json_close(&j, ']');
	json_member_open(&j, "skipped", '[');
	for (size_t i = 0; i < p->skipped_cnt; i++) {
		const struct plan_skip *s = &p->skipped[i];

		json_open(&j, '{');
		json_member_string(&j, "name", plan__skip_name(p, i));
		json_member_string(&j, "module", t->objects[s->object].path);
		json_member_string(&j, "reason", s->reason);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	list_lines__json(&j, p);
	json_close(&j, '}');
	fputc('\n', out);
}

static int write_list(struct output *out, const struct plan *p, const struct target *t)
{
	FILE *stream;
	int err;

	if (out->sink == &sink_json) {
		list_json(out->file, p, t);
		return 0;
	}
	out->sink = &sink_tree; /* whatever was chosen, this is for people */
	err = output__fold(out, &stream);
	if (err)
		return err;
	list_text(&out->opts, stream, p, t);
	return output__unfold(out, stream, 0);
}

/* Has exits as a run would have them where links are bound to one process each. */
static int bind_returns(struct plan *p, struct target *t, const struct plan_options *opts)
{
	int err = 0;

	if (!t->processes_cnt || opts->new_programs)
		return 0;
	if (opts->children)
		strangers__look(t);
	for (size_t i = 0; !err && i < p->objects_cnt; i++) {
		if (!opts->children || !plan__may_share_links(p) ||
		    !strangers__bear_probes(&t->objects[i]))
			err = planner__bind(p, t, opts, i, false);
	}
	return err;
}

int cmd_list(const struct options *o)
{
	int status = 1;
	const struct target_spec spec = selection__target(o, &status);
	struct plan_options plan_opts;
	struct selection selection = {0};
	struct target *target = NULL;
	struct plan *plan = NULL;
	struct output out = {0};
	int err = 0, close_err;

	if (selection__parse(&selection, o)) {
		selection__clear(&selection);
		return OPTIONS_USAGE_STATUS;
	}
	plan_opts = selection__plan_options(&selection, o);
	signals__ignore();
	output__page(&out, o);
	if (spec.command || spec.whom.pids_cnt || whom__is_open(&spec.whom))
		err = namespaces__check();
	if (!err)
		err = output__open(&out, o);
	if (!err)
		err = target__open(&spec, &target);
	if (!err)
		err = planner__make(target, &selection.filter, &plan_opts, &plan);
	if (!err)
		err = bind_returns(plan, target, &plan_opts);
	if (!err)
		err = output__begin(&out);
	if (!err)
		err = write_list(&out, plan, target);
	close_err = output__close(&out);
	if (!err && close_err != -EPIPE)
		err = close_err;
	plan__free(plan);
	selection__clear(&selection);
	target__free(target);
	log_unexplained(err);
	return err && err != -EPIPE ? status : 0;
}
