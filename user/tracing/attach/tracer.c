// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/tracer.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "attach/costs.h"
#include "attach/life.h"
#include "attach/line_sites.h"
#include "attach/links/holder/link_holder.h"
#include "attach/links/skeleton.h"
#include "attach/links/backend.h"
#include "attach/links/refusal.h"
#include "attach/lists.h"
#include "attach/survey.h"
#include "attach/tracer_inside.h"
#include "plan/exit_strategy.h"
#include "plan/plan.h"
#include "select/arguments.h"
#include "util/clock.h"
#include "util/log.h"
#include "wire.h"

#define TELL_MS 1000 /* who waits for longer than that is told why */

enum call_nops tracer__call_nops(void)
{
	/*
	 * The calls lead to a page that makes this system call, uprobe. From anywhere else it only
	 * fails: by ENXIO where they are made of 5-byte nops, by EPROTO since they are made of
	 * 10-byte nops.
	 */
	const long nr_uprobe = arch__host()->nr_uprobe;

	if (!nr_uprobe || syscall(nr_uprobe) >= 0)
		return CALL_NOPS_NONE;
	return errno == ENXIO ? CALL_NOPS_5 : errno == EPROTO ? CALL_NOPS_10 : CALL_NOPS_NONE;
}

bool tracer__writes_registers(void)
{
	const short ip = arch__host()->ip_offset;
	const struct bpf_insn program[] = {
		{.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 2, .src_reg = 1, .off = ip},
		{.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 2, .off = ip},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	const size_t cnt = sizeof(program) / sizeof(*program);
	int fd = ip ? bpf_prog_load(BPF_PROG_TYPE_KPROBE, "writes_ip", "GPL", program, cnt, NULL)
		    : -1;

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

const char *tracer__best(const char *backend)
{
	const struct backend *best = backend__at(0);

	return (!backend || !strcmp(backend, best->name)) && backend__in_kernel(best) ? best->name
										      : NULL;
}

bool tracer__returns_stop(const char *backend)
{
	return tracer__best(backend);
}

bool tracer__needs_events(const char *backend)
{
	const struct backend *t;

	for (size_t i = 0; (t = backend__at(i)); i++) {
		if (backend ? !strcmp(backend, t->name) : backend__in_kernel(t))
			return !t->sign;
	}
	return false;
}

static int tell_lines(struct tracer *tr, const struct plan *p)
{
	const struct proftrace_bpf *skel = tr->skel;

	int err;

	if (!tr->tables.lines_cap || !p->lines)
		return 0;
	err = outcome__grow(&tr->groups.outcome, p);
	if (err)
		return err;
	return line_sites__fill(bpf_map__fd(skel->maps.line_sites),
				bpf_map__fd(skel->maps.line_entries), p->lines,
				tr->groups.outcome.reasons, &tr->lines_told);
}

int tracer__tell_lists(struct tracer *tr)
{
	int err;

	if (!tr->tables.lists_cap || tr->lists_told == tr->arguments->cnt)
		return 0;
	err = lists__fill(bpf_map__fd(tr->skel->maps.lists), tr->arguments);
	if (!err)
		tr->lists_told = tr->arguments->cnt;
	return err;
}

int tracer__admit(struct tracer *tr, pid_t pid)
{
	uint32_t tgid = pid, named = WIRE_TGID_NAMED;

	return bpf_map__update_elem(tr->skel->maps.tgids, &tgid, sizeof(tgid), &named,
				    sizeof(named), BPF_ANY);
}

bool tracer__adopt(struct tracer *tr, pid_t pid, uint32_t code_pages)
{
	uint32_t tgid = pid, kind = WIRE_TGID_NAMED | code_pages << WIRE_TGID_PAGES;

	return !bpf_map__update_elem(tr->skel->maps.tgids, &tgid, sizeof(tgid), &kind, sizeof(kind),
				     BPF_NOEXIST);
}

/* Once there are regions, it takes the programs at them. Returns 0 or -errno with one line logged.
 */
static int need_regions(struct tracer *tr, const struct plan *p)
{
	const struct late_kind kind = {.basic = tr->backend->lacks,
				       .attach_type = tr->backend->entry(tr->skel).attach_type};
	int *programs = tr->region_programs, err = 0;

	if (tr->groups.region_programs || !p->sites_cnt)
		return 0;
	if (bpf_program__autoload(tr->skel->progs.region_begin)) {
		programs[LATE_REGION_BEGIN] =
			skeleton__program(tr->skel, tr->skel->progs.region_begin);
		programs[LATE_REGION_END] = skeleton__program(tr->skel, tr->skel->progs.region_end);
	} else {
		log_debug("the first regions are there: their programs are loaded");
		err = link_holder__load_late(tr->groups.link_holder, &kind, tr->skel, programs);
		tr->regions_are_late = !err;
	}
	if (err)
		log_error("cannot load the programs at regions: %s", strerror(-err));
	else
		tr->groups.region_programs = programs;
	return err;
}

/* From here on a goroutine's calls are its own. Of several Go programs the first one tells how. */
static void tell_goroutines(struct tracer *tr, const struct go_layout *layout)
{
	struct proftrace_bpf__bss *bss = tr->skel->bss;

	if (bss->go_traced)
		return;
	bss->go_tls_offset = layout->g_tls_offset;
	bss->go_goid_offset = layout->goid_offset;
	bss->go_curg_offset = layout->curg_offset;
	__atomic_store_n(&bss->go_traced, true, __ATOMIC_SEQ_CST);
}

int64_t tracer__attach(struct tracer *tr, const struct plan *p, const struct target *t,
		       const bool *called)
{
	int err = tracer__tell_lists(tr);

	if (!err)
		err = tell_lines(tr, p);
	if (!err && called)
		err = outcome__note_called(&tr->groups.outcome, p, called);
	if (!err)
		err = need_regions(tr, p);
	if (err)
		return err;
	tr->skel->bss->triggers_armed = true;
	tr->skel->bss->returns_guarded = true;
	tr->skel->bss->returns_proven = p->traits & EXIT_UNSAFE_TRAITS;
	if (p->go)
		tell_goroutines(tr, &p->go_layout);
	return groups__attach(&tr->groups, tr->backend, tr->skel, p, t);
}

int64_t tracer__attach_loaded(struct tracer *tr, const struct plan *p, const struct target *t)
{
	int64_t attached;

	tr->groups.held = true;
	attached = tracer__attach(tr, p, t, NULL);
	tr->groups.held = false;
	groups__be_near(&tr->groups, t, NULL);
	return attached;
}

bool tracer__surveys(const struct tracer *tr)
{
	return tr->surveys;
}

int tracer__survey(struct tracer *tr, const struct plan *p, const struct target *t,
		   const struct tracer_survey *survey)
{
	const struct survey_list list = {
		.functions = survey->functions, .cnt = survey->cnt, .processes = survey->processes};

	/* Probes of the last turn may still be hit. */
	tr->groups.counting = (tr->groups.counting + 1) % WIRE_GENERATIONS;
	__atomic_store_n(&tr->skel->bss->counting, tr->groups.counting + 1u, __ATOMIC_SEQ_CST);
	return groups__survey(&tr->groups, tr->backend, tr->skel, p, t, &list);
}

void tracer__take_out_survey(struct tracer *tr)
{
	groups__take_out_survey(&tr->groups);
}

void tracer__end_survey(struct tracer *tr)
{
	__atomic_store_n(&tr->skel->bss->counting, 0, __ATOMIC_SEQ_CST);
}

int tracer__put_in_burst(struct tracer *tr, const struct plan *p, const struct target *t,
			 const struct tracer_survey *burst)
{
	const struct survey_list list = {.functions = burst->functions,
					 .cnt = burst->cnt,
					 .burst = true,
					 .processes = burst->processes};

	return groups__survey(&tr->groups, tr->backend, tr->skel, p, t, &list);
}

void tracer__bound_burst(struct tracer *tr, uint64_t leaves_ns, uint64_t over_ns)
{
	tr->skel->bss->burst_leaves_us = leaves_ns / 1000;
	tr->skel->bss->burst_over_us = over_ns / 1000;
}

void tracer__set_burst_phase(struct tracer *tr, enum wire_burst_phase phase)
{
	uint32_t serial = tr->skel->bss->burst_serial;

	if (phase == WIRE_BURST_BEGINS) {
		serial = (serial + 1) & WIRE_BURST_SERIALS;
		__atomic_store_n(&tr->skel->bss->burst_serial, serial, __ATOMIC_SEQ_CST);
	} else if (phase == WIRE_BURST_OFF) {
		__atomic_store_n(&tr->skel->bss->burst_ends_ns[serial % WIRE_BURSTS], now_ns(),
				 __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&tr->skel->bss->bursting, phase, __ATOMIC_SEQ_CST);
}

void tracer__take_out_burst(struct tracer *tr)
{
	groups__take_out_burst(&tr->groups);
}

void tracer__forget_bursts(struct tracer *tr, uint64_t until_ns)
{
	__atomic_store_n(&tr->skel->bss->bursts_gone_ns, until_ns, __ATOMIC_SEQ_CST);
}

uint64_t tracer__ran_ns(const struct tracer *tr)
{
	return skeleton__ran_ns(tr->skel);
}

/* A thread's are added up as it leaves its CPU; of one that runs, by a program there. */
struct tracer_io tracer__io(struct tracer *tr)
{
	int program = skeleton__program(tr->skel, tr->skel->progs.catch_up_clock);
	struct tracer_io sum = {0};

	for (unsigned int i = 0; i < WIRE_CPU_CLOCKS; i++) {
		const volatile struct wire_cpu_clock *c = &tr->skel->data_written->cpu_clocks[i];
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = i);

		if (c->runs && program >= 0)
			bpf_prog_test_run_opts(program, &opts);
		sum.reads += c->reads;
		sum.writes += c->writes;
	}
	return sum;
}

int tracer__probe_own(struct tracer *tr, pid_t child, enum tracer_probe kind,
		      const struct own_probe *own, size_t cnt)
{
	struct backend_probe probes[BACKEND_MAX_PROBES] = {tr->backend->entry(tr->skel)};
	size_t kinds = 1;
	int err = 0;

	if (kind == TRACER_RETURN)
		kinds = tr->backend->returns(tr->skel, probes);
	else if (kind == TRACER_EXIT || kind == TRACER_RET)
		probes[0] = tr->backend->exit_site(tr->skel, kind == TRACER_RET);
	for (size_t i = 0; !err && i < kinds; i++)
		err = groups__probe_own(&tr->groups, &probes[i], child, own, cnt);
	return err;
}

int tracer__rehearse(struct tracer *tr, pid_t child)
{
	/* The child maps nothing, so return probes can do it no harm. */
	tr->skel->bss->maps_planned = tr->skel->data->maps_generation;
	gate__open_alone(&tr->gate);
	return tracer__admit(tr, child);
}

void tracer__time_all(struct tracer *tr, bool all)
{
	tr->skel->data->timed_limit = all ? ~0u : WIRE_TIMED_LIMIT;
}

void tracer__end_rehearsal(struct tracer *tr, pid_t child)
{
	uint32_t tgid = child;

	tracer__close_gate(tr);
	/* The target's system calls may have been seen: its threads have call stacks, which go. */
	gate__settle(&tr->gate);
	tr->skel->bss->maps_planned = 0;
	bpf_map__delete_elem(tr->skel->maps.tgids, &tgid, sizeof(tgid), 0);
}

void tracer__set_costs(struct tracer *tr, const struct probe_costs *costs)
{
	memcpy(tr->skel->data->costs, costs->classes, sizeof(costs->classes));
}

bool tracer__emulates(const struct tracer *tr)
{
	return tr->groups.emulates;
}

const char *tracer__backend(const struct tracer *tr)
{
	return tr->backend->name;
}

bool tracer__watches_system_calls(const struct tracer *tr)
{
	return tr->watches_system_calls;
}

uint32_t tracer__first_system_call(const struct tracer *tr)
{
	return tr->skel->rodata->system_calls_first;
}

bool tracer__keeps_calls(const struct tracer *tr)
{
	return tr->tables.chunks_cap > 0;
}

bool tracer__spares_returns(const struct tracer *tr)
{
	return tr->returns_spared;
}

bool tracer__is_refused(const struct tracer *tr, size_t function)
{
	const struct outcome *o = &tr->groups.outcome;

	return function < o->functions_cnt && o->functions[function].refused;
}

bool tracer__traces(const struct tracer *tr, size_t function)
{
	const struct outcome *o = &tr->groups.outcome;

	return !tracer__is_refused(tr, function) &&
	       !(function < o->functions_cnt && o->functions[function].dropped);
}

const char *tracer__line_reason(const struct tracer *tr, size_t line)
{
	return line < tr->groups.outcome.reasons_cnt ? tr->groups.outcome.reasons[line] : NULL;
}

bool tracer__misses_contexts(const struct tracer *tr)
{
	return tr->groups.contexts_missed;
}

int tracer__drop(struct tracer *tr, const struct plan *p, const struct target *t,
		 const bool *dropped, const uint64_t *calls, bool hurry)
{
	int err = outcome__note_dropped(&tr->groups.outcome, p, dropped);

	tr->groups.hurries = hurry;
	return err ? err : groups__drop(&tr->groups, tr->backend, tr->skel, p, t, calls);
}

int tracer__restore(struct tracer *tr, const struct plan *p, const struct target *t,
		    const uint32_t *functions, size_t cnt)
{
	struct attach_ctx ctx = {
		.g = &tr->groups, .backend = tr->backend, .skel = tr->skel, .plan = p};

	return groups__restore(&ctx, t, functions, cnt);
}

bool tracer__drop_poll(struct tracer *tr)
{
	return groups__poll(&tr->groups);
}

void tracer__open_gate(struct tracer *tr)
{
	gate__open(&tr->gate);
}

void tracer__find_asleep(const struct tracer *tr)
{
	uint64_t began = now_ns();
	int found;

	if (!tr->tables.waits_cap || !tr->skel->rodata->filter_tgids)
		return;
	found = link_holder__find_asleep(tr->groups.link_holder);
	if (found < 0)
		log_debug("cannot look for threads that were asleep before: %s",
			  refusal__reason() ? refusal__reason() : strerror(-found));
	else
		log_debug("%d threads were asleep before and still are: found in %.1f ms", found,
			  (double)(now_ns() - began) / 1e6);
}

int tracer__make_turn(void)
{
	return gate__make_turn();
}

void tracer__close_gate(struct tracer *tr)
{
	gate__close(&tr->gate);
}

uint64_t tracer__stopped_ns(const struct tracer *tr)
{
	return __atomic_load_n(&tr->skel->bss->stopped_ns, __ATOMIC_SEQ_CST);
}

int tracer__switch_off(struct tracer *tr, uint64_t *at_ns)
{
	int err;

	gate__close(&tr->gate);
	*at_ns = tracer__stopped_ns(tr);
	if (!*at_ns)
		*at_ns = now_ns();
	err = gate__settle(&tr->gate);
	if (!err)
		err = gate__close_frames(&tr->gate, *at_ns);
	if (err)
		log_error("cannot switch tracing off: %s", strerror(-err));
	return err;
}

int tracer__watch_system_calls(struct tracer *tr)
{
	int err;

	if (!tr->watches_system_calls)
		return 0;
	err = link_holder__tracepoints(tr->groups.link_holder, TRACEPOINTS_CALLS);
	if (err)
		log_error("cannot attach to the tracepoints of system calls: %s", strerror(-err));
	return err;
}

int tracer__suspend(struct tracer *tr)
{
	link_holder__tracepoints(tr->groups.link_holder, TRACEPOINTS_PAUSE);
	return groups__suspend(&tr->groups);
}

void tracer__keep_waits(struct tracer *tr, bool keep)
{
	__atomic_store_n(&tr->skel->data->single_waits_from, keep ? now_ns() : UINT64_MAX,
			 __ATOMIC_SEQ_CST);
}

int tracer__rest(struct tracer *tr)
{
	return groups__suspend(&tr->groups);
}

int tracer__resume(struct tracer *tr, const struct plan *p, const struct target *t)
{
	int err;

	err = link_holder__tracepoints(tr->groups.link_holder, TRACEPOINTS_RESUME);
	if (err) {
		log_error("cannot attach to the scheduler's tracepoints: %s", strerror(-err));
		return err;
	}
	err = tracer__watch_system_calls(tr);
	if (err)
		return err;
	err = groups__resume(&tr->groups, tr->backend, tr->skel, p, t);
	tr->skel->bss->lines_generation = tr->groups.lines_generation;
	return err;
}

bool tracer__cpu_of_ended(const struct tracer *tr, pid_t pid, uint64_t *ns)
{
	uint32_t tgid = pid;

	return !bpf_map__lookup_elem(tr->skel->maps.cpu_of_ended, &tgid, sizeof(tgid), ns,
				     sizeof(*ns), 0);
}

uint64_t tracer__cpu_of_others(const struct tracer *tr)
{
	return __atomic_load_n(&tr->skel->data_written->cpu_of_others, __ATOMIC_SEQ_CST);
}

uint64_t tracer__held_ns(const struct tracer *tr)
{
	return __atomic_load_n(&tr->skel->data_written->held_ns, __ATOMIC_SEQ_CST);
}

uint64_t tracer__linking_ns(const struct tracer *tr)
{
	return link_holder__cpu_ns(tr->groups.link_holder);
}

uint64_t tracer__making_ns(const struct tracer *tr)
{
	return link_holder__making_ns(tr->groups.link_holder);
}

bool tracer__is_unbound(const struct tracer *tr, size_t index)
{
	return groups__is_unbound(&tr->groups, index);
}

int tracer__share(struct tracer *tr, const struct plan *p, const struct target *t)
{
	struct attach_ctx ctx = {.g = &tr->groups, .backend = tr->backend, .plan = p};

	return groups__share(&ctx, t);
}

bool tracer__is_attached(const struct tracer *tr, size_t index)
{
	return index < tr->groups.attached_cnt && tr->groups.attached[index];
}

uint64_t tracer__stranger_hits(const struct tracer *tr)
{
	uint64_t hits = 0;

	for (int i = 0; i < WIRE_CPUS; i++)
		hits += __atomic_load_n(&tr->skel->bss->stranger_hits[i].cnt, __ATOMIC_RELAXED);
	return hits;
}

int tracer__bind(struct tracer *tr, const struct plan *p, const struct target *t)
{
	return groups__bind(&tr->groups, tr->backend, tr->skel, p, t);
}

void tracer__unlink_process(struct tracer *tr, const struct target *t, uint32_t process)
{
	groups__unlink_process(&tr->groups, t, process);
}

uint64_t tracer__refused_calls(const struct tracer *tr)
{
	uint64_t refused = 0;

	for (int i = 0; i < WIRE_CPUS; i++)
		refused += __atomic_load_n(&tr->skel->bss->tallies[i].refused, __ATOMIC_RELAXED);
	return refused;
}

void tracer__begin_detach(struct tracer *tr)
{
	tracer__close_gate(tr);
	gate__settle(&tr->gate);
	groups__begin_detach(&tr->groups);
}

void tracer__end_detach(struct tracer *tr)
{
	if (!link_holder__is_detached(tr->groups.link_holder, TELL_MS))
		log_info("the probes are still being taken out");
	link_holder__end_detach(tr->groups.link_holder);
	if (tr->skel->data_written->stacks_unknown)
		log_debug("%llu times the stack of an event could not be told",
			  (unsigned long long)tr->skel->data_written->stacks_unknown);
}

struct life *tracer__life(const struct tracer *tr)
{
	return tr->life;
}

void tracer__tables(const struct tracer *tr, struct tracer_tables *out)
{
	*out = tr->tables;
}

void tracer__free(struct tracer *tr)
{
	if (!tr)
		return;
	groups__begin_detach(&tr->groups);
	if (tr->groups.link_holder)
		link_holder__end_detach(tr->groups.link_holder);
	outcome__clear(&tr->groups.outcome);
	for (int i = 0; tr->regions_are_late && i < LATE_PROGRAMS; i++)
		close(tr->region_programs[i]);
	life__free(tr->life);
	new_tables__free(&tr->new_tables);
	gate__fini(&tr->gate);
	skeleton__free(tr->skel);
	free(tr);
}
