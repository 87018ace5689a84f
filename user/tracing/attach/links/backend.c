// SPDX-License-Identifier: GPL-2.0-or-later
#include "attach/links/backend.h"

#include <bpf/btf.h>
#include <string.h>

#include "attach/links/btf/btf_view.h"
#include "attach/links/btf/kernel_btf.h"
#include "attach/links/btf/kfunc.h"
#include "attach/links/link.h"
#include "attach/links/refusal.h"
#include "attach/links/skeleton.h"
#include "plan/hooks.h"

static void prepare_multi(struct bpf_program *prog)
{
	bpf_program__set_expected_attach_type(prog, LINK_UPROBE_MULTI);
}

static struct backend_probe multi_probe(const struct proftrace_bpf *skel,
					const struct bpf_program *prog, int return_probes)
{
	return (struct backend_probe){skeleton__program(skel, prog), LINK_UPROBE_MULTI,
				      return_probes};
}

static struct backend_probe multi_entry(const struct proftrace_bpf *skel)
{
	return multi_probe(skel, skel->progs.function_entry, 0);
}

static struct backend_probe multi_exit_site(const struct proftrace_bpf *skel, bool ret)
{
	return multi_probe(skel, ret ? skel->progs.exit_ret : skel->progs.exit_site, 0);
}

static struct backend_probe multi_line(const struct proftrace_bpf *skel)
{
	return multi_probe(skel, skel->progs.line_site, 0);
}

static struct bpf_program *hook_program(const struct proftrace_bpf *skel, int kind)
{
	switch (kind) {
	case HOOK_MAKECONTEXT:
	case HOOK_MAKE_FCONTEXT:
		return skel->progs.on_stack_maker;
	case HOOK_LINK_MAP:
	default:
		return skel->progs.link_map;
	}
}

static struct backend_probe multi_hook(const struct proftrace_bpf *skel, int kind)
{
	return multi_probe(skel, hook_program(skel, kind), 0);
}

static struct backend_probe multi_survey(const struct proftrace_bpf *skel)
{
	return multi_probe(skel, skel->progs.survey, 0);
}

/* The programs that run by uprobe_multi links with both backends. */
static void prepare_both(struct proftrace_bpf *skel)
{
	prepare_multi(skel->progs.function_entry);
	prepare_multi(skel->progs.exit_site);
	prepare_multi(skel->progs.exit_ret);
	prepare_multi(skel->progs.region_begin);
	prepare_multi(skel->progs.region_end);
	prepare_multi(skel->progs.line_site);
	prepare_multi(skel->progs.survey);
	for (int kind = 0; kind < HOOK_KINDS; kind++)
		prepare_multi(hook_program(skel, kind));
}

/* Session links: one program sees entry and return. */
static int session_prepare(struct proftrace_bpf *skel)
{
	const struct btf_view *kernel = kernel_btf();
	int uprobe = kernel ? btf_view__find(kernel, "uprobe", BTF_KIND_STRUCT) : -ENOENT;
	int err;

	bpf_program__set_expected_attach_type(skel->progs.session, LINK_UPROBE_SESSION);
	bpf_program__set_autoload(skel->progs.function_return, false);
	prepare_both(skel);
	if (uprobe < 0)
		return uprobe;
	skel->rodata->uprobe_type = uprobe;
	err = kfunc__call(skel->progs.session, WIRE_CALL_SESSION_COOKIE, "bpf_session_cookie", 1);
	return err ? err
		   : kfunc__call(skel->progs.session, WIRE_CALL_READ_ONLY, "bpf_rdonly_cast", 2);
}

static size_t session_returns(const struct proftrace_bpf *skel,
			      struct backend_probe probes[BACKEND_MAX_PROBES])
{
	probes[0] = (struct backend_probe){skeleton__program(skel, skel->progs.session),
					   LINK_UPROBE_SESSION, 0};
	return 1;
}

/* uprobe_multi: a link for entries, another for returns. */
static int multi_prepare(struct proftrace_bpf *skel)
{
	bpf_program__set_autoload(skel->progs.session, false);
	prepare_multi(skel->progs.function_return);
	prepare_both(skel);
	return 0;
}

static size_t multi_returns(const struct proftrace_bpf *skel,
			    struct backend_probe probes[BACKEND_MAX_PROBES])
{
	/* Returns first: an entry that is seen shall have its return seen. */
	probes[0] = multi_probe(skel, skel->progs.function_return, 1);
	probes[1] = multi_entry(skel);
	return 2;
}

/* Trace events: as with uprobe_multi, an event for entries, another for returns. */
static int event_prepare(struct proftrace_bpf *skel)
{
	skel->rodata->trace_events = true;
	bpf_program__set_autoload(skel->progs.session, false);
	bpf_program__set_autoload(skel->progs.cookie_trial, true);
	return 0;
}

static struct backend_probe event_probe(const struct proftrace_bpf *skel,
					const struct bpf_program *prog, int return_probes)
{
	return (struct backend_probe){skeleton__program(skel, prog), LINK_TRACE_EVENT,
				      return_probes};
}

static struct backend_probe event_entry(const struct proftrace_bpf *skel)
{
	return event_probe(skel, skel->progs.function_entry, 0);
}

static struct backend_probe event_exit_site(const struct proftrace_bpf *skel, bool ret)
{
	return event_probe(skel, ret ? skel->progs.exit_ret : skel->progs.exit_site, 0);
}

static struct backend_probe event_line(const struct proftrace_bpf *skel)
{
	return event_probe(skel, skel->progs.line_site, 0);
}

static struct backend_probe event_hook(const struct proftrace_bpf *skel, int kind)
{
	return event_probe(skel, hook_program(skel, kind), 0);
}

static struct backend_probe event_cookie(const struct proftrace_bpf *skel, bool returns)
{
	return event_probe(skel, skel->progs.cookie_trial, returns);
}

static size_t event_returns(const struct proftrace_bpf *skel,
			    struct backend_probe probes[BACKEND_MAX_PROBES])
{
	probes[0] = event_probe(skel, skel->progs.function_return, 1);
	probes[1] = event_entry(skel);
	return 2;
}

static const struct backend backends[] = {
	{"session", "6.13", "BPF_TRACE_UPROBE_SESSION", session_prepare, session_returns,
	 multi_entry, multi_exit_site, multi_line, multi_hook, multi_survey, NULL, true, NULL},
	{"uprobe_multi", "6.6", "BPF_TRACE_UPROBE_MULTI", multi_prepare, multi_returns, multi_entry,
	 multi_exit_site, multi_line, multi_hook, multi_survey, NULL, false, NULL},
	{"trace_event", "6.0", NULL, event_prepare, event_returns, event_entry, event_exit_site,
	 event_line, event_hook, NULL, event_cookie, false, NULL},
	{"trace_event_basic", "5.10", NULL, event_prepare, event_returns, event_entry,
	 event_exit_site, event_line, event_hook, NULL, event_cookie, false,
	 "runs have no samples, no callers and no reasons of waits; first calls of files that are "
	 "loaded later may be missing, and stacks of coroutines are not told apart"},
};

const struct backend *backend__at(size_t index)
{
	return index < sizeof(backends) / sizeof(*backends) ? &backends[index] : NULL;
}

bool backend__in_kernel(const struct backend *backend)
{
	const struct btf_type *type;
	const struct btf_view *btf;
	bool known;
	int id;

	refusal__listen(); /* what libbpf says is for -v */
	btf = backend->sign ? kernel_btf() : NULL;
	id = btf ? btf_view__find(btf, "bpf_attach_type", BTF_KIND_ENUM) : -1;
	type = id > 0 ? btf_view__type(btf, id) : NULL;
	known = !type;
	for (int i = 0; !known && i < btf_vlen(type); i++)
		known = !strcmp(btf_view__name(btf, btf_enum(type)[i].name_off), backend->sign);
	return known;
}
