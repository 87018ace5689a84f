// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaching in groups against a kernel made up here: link_holder__link() below stands in for it. */
#include "elf_fixture.h"

#include <errno.h>

#include "attach/group.h"
#include "attach/groups.h"
#include "attach/links/holder/link_holder.h"
#include "attach/survey.h"
#include "plan/exit_strategy.h"
#include "plan/object.h"
#include "plan/plan.h"
#include "target/target.h"
#include "wire.h"

enum {
	PROG_SESSION = 100,
	PROG_ENTRY,
	PROG_EXIT,
	PROG_RET,
	PROG_RETURN,
	PROG_LINE,
	PROG_HOOK,
	PROG_BEGIN,
	PROG_END,
	PROG_SURVEY
};

#define MAX_LINKS  4096
#define MAX_PROBES 65536
#define FUNCTIONS  90
#define PROCESSES  100

/* A kernel that notes its requests, and answers as it is told. */
static struct {
	bool (*refuses)(int prog_fd, uint64_t offset);
	int refuse_err;
	size_t max_cnt;		 /* in a link; 0: any */
	pid_t ended;		 /* ESRCH for it */
	int fail_from, fail_err; /* every call from this one on; 0: none */
	int calls, links;
	bool held; /* closings wait */
	int kept[4], kept_cnt;
	int fds[MAX_LINKS];
	bool closed[MAX_LINKS];
	struct probe {
		int prog_fd, attach_type, return_probes, object_fd;
		pid_t pid;
		uint64_t offset, cookie;
		int link;
		uint64_t semaphore;
	} probes[MAX_PROBES];
	size_t probes_cnt;
} kernel;

static int refusal(const struct link_spec *spec)
{
	if (kernel.fail_from && kernel.calls >= kernel.fail_from)
		return kernel.fail_err;
	if (kernel.ended && spec->pid == kernel.ended)
		return -ESRCH;
	if (kernel.max_cnt && spec->cnt > kernel.max_cnt)
		return -E2BIG;
	for (size_t i = 0; kernel.refuses && i < spec->cnt; i++) {
		if (kernel.refuses(spec->prog_fd, spec->offsets[i]))
			return kernel.refuse_err;
	}
	return 0;
}

int link_holder__link(struct link_holder *k, const struct link_spec *spec)
{
	int err, fd;

	kernel.calls++;
	assert_true(spec->cnt > 0);
	err = refusal(spec);
	if (err)
		return err;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && kernel.links < MAX_LINKS);
	assert_true(kernel.probes_cnt + spec->cnt <= MAX_PROBES);
	kernel.fds[kernel.links] = fd;
	for (size_t i = 0; i < spec->cnt; i++)
		kernel.probes[kernel.probes_cnt++] =
			(struct probe){spec->prog_fd,
				       spec->attach_type,
				       spec->return_probes,
				       spec->object_fd,
				       spec->pid,
				       spec->offsets[i],
				       spec->cookies[i],
				       kernel.links,
				       spec->semaphores ? spec->semaphores[i] : 0};
	return kernel.links++;
}

int link_holder__keep(struct link_holder *k, int fd)
{
	assert_int_equal(kernel.probes_cnt, 0); /* before there is a probe */
	kernel.kept[kernel.kept_cnt++] = fd;
	return 0;
}

int link_holder__close(struct link_holder *k, int link)
{
	assert_true(link >= 0 && link < kernel.links && !kernel.closed[link]);
	assert_false(kernel.held);
	close(kernel.fds[link]);
	kernel.closed[link] = true;
	return 0;
}

void link_holder__hold(struct link_holder *k, bool hold)
{
	assert_true(kernel.held != hold);
	kernel.held = hold;
}

void link_holder__be_near(struct link_holder *k, const struct near *near)
{
}

void link_holder__settle(struct link_holder *k)
{
}

void link_holder__begin_detach(struct link_holder *k)
{
	for (int i = 0; i < kernel.links; i++) {
		if (!kernel.closed[i])
			close(kernel.fds[i]);
		kernel.closed[i] = true;
	}
}

static size_t session_returns(const struct proftrace_bpf *skel, struct backend_probe *probes)
{
	probes[0] = (struct backend_probe){PROG_SESSION, LINK_UPROBE_SESSION, 0};
	return 1;
}

static struct backend_probe entry(const struct proftrace_bpf *skel)
{
	return (struct backend_probe){PROG_ENTRY, LINK_UPROBE_MULTI, 0};
}

static size_t multi_returns(const struct proftrace_bpf *skel, struct backend_probe *probes)
{
	probes[0] = (struct backend_probe){PROG_RETURN, LINK_UPROBE_MULTI, 1};
	probes[1] = entry(skel);
	return 2;
}

static struct backend_probe exit_site(const struct proftrace_bpf *skel, bool ret)
{
	return (struct backend_probe){ret ? PROG_RET : PROG_EXIT, LINK_UPROBE_MULTI, 0};
}

static struct backend_probe line(const struct proftrace_bpf *skel)
{
	return (struct backend_probe){PROG_LINE, LINK_UPROBE_MULTI, 0};
}

static struct backend_probe hook(const struct proftrace_bpf *skel, int kind)
{
	return (struct backend_probe){PROG_HOOK, LINK_UPROBE_MULTI, 0};
}

static struct backend_probe survey(const struct proftrace_bpf *skel)
{
	return (struct backend_probe){PROG_SURVEY, LINK_UPROBE_MULTI, 0};
}

static const struct backend session = {"session", "",	     "",   NULL, session_returns,
				       entry,	  exit_site, line, hook, survey};
static const struct backend declining = {.name = "declining",
					 .needs = "",
					 .returns = session_returns,
					 .entry = entry,
					 .exit_site = exit_site,
					 .line = line,
					 .hook = hook,
					 .survey = survey,
					 .declines_returns = true};
static const struct backend multi = {"multi", "",	 "",   NULL, multi_returns,
				     entry,   exit_site, line, hook};

/* Function i: at 0x1000 * (i + 1), of strategy i % 3; those of EXIT_SITES have two exits. */
static struct plan_function functions[FUNCTIONS];
static struct plan_exit exits[FUNCTIONS * 2];
static char names[FUNCTIONS][8];
static uint32_t everyone[PROCESSES];
static struct target_process processes[PROCESSES];
static struct target_object objects[3];
static struct plan plan;
static struct target target;
static struct groups groups;
static bool called[FUNCTIONS], dropped[FUNCTIONS]; /* as outcome__note_called() takes them */
static const int region_programs[] = {PROG_BEGIN, PROG_END};
static struct link_holder {
	int unused;
} link_holder;

static uint64_t entry_offset(uint32_t i)
{
	return 0x1000 * (i + 1) + 4;
}

static int setup(void **state)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.refuse_err = -EINVAL;
	groups.children = groups.small = groups.hurries = false;
	memset(called, 0, sizeof(called));
	memset(dropped, 0, sizeof(dropped));
	plan = (struct plan){.functions = functions, .exits = exits};
	plan.functions_cnt = FUNCTIONS;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		functions[i] = (struct plan_function){.symbol = names[i],
						      .offset = 0x1000 * (i + 1),
						      .entry.offset = 4,
						      .exit = i % 3,
						      .exits = plan.exits_cnt};
		if (functions[i].exit != EXIT_SITES)
			continue;
		exits[plan.exits_cnt++] =
			(struct plan_exit){0x1000 * (i + 1) + 0x10, CODE_EXIT_RET, 0, true};
		exits[plan.exits_cnt++] =
			(struct plan_exit){0x1000 * (i + 1) + 0x20, CODE_EXIT_JCC, 5, false};
		functions[i].exits_cnt = 2;
	}
	for (uint32_t i = 0; i < PROCESSES; i++) {
		processes[i] = (struct target_process){.pid = 1000 + i, .pidfd = -1};
		everyone[i] = i;
	}
	for (uint32_t i = 0; i < 3; i++)
		objects[i] = (struct target_object){
			.path = "/bin/prog", .fd = 50 + i, .processes = everyone};
	target = (struct target){.processes = processes, .objects = objects, .objects_cnt = 1};
	return 0;
}

/* `cnt` processes, all of which map the first object. */
static void set_processes(uint32_t cnt)
{
	target.processes_cnt = objects[0].processes_cnt = cnt;
}

static void note(void)
{
	assert_int_equal(outcome__note_called(&groups.outcome, &plan, called), 0);
	assert_int_equal(outcome__note_dropped(&groups.outcome, &plan, dropped), 0);
}

static int64_t attach(const struct backend *backend)
{
	int saved = hush();
	int64_t attached;

	groups.link_holder = &link_holder;
	groups.region_programs = region_programs;
	groups.unbound = !target.processes_cnt;
	note();
	attached = groups__attach(&groups, backend, NULL, &plan, &target);
	unhush(saved);
	if (attached < 0)
		groups__begin_detach(&groups); /* as whoever frees the tracer does */
	return attached;
}

static void assert_all_closed(void)
{
	for (int i = 0; i < kernel.links; i++)
		assert_true(kernel.closed[i]);
}

static int teardown(void **state)
{
	groups__begin_detach(&groups);
	assert_all_closed();
	groups__begin_detach(&groups);
	outcome__clear(&groups.outcome);
	return 0;
}

static int count(int prog_fd, pid_t pid, uint64_t offset)
{
	int cnt = 0;

	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		cnt += p->prog_fd == prog_fd && p->pid == pid && p->offset == offset;
	}
	return cnt;
}

static int entry_prog(uint32_t i)
{
	return functions[i].exit == EXIT_RETURN ? PROG_SESSION : PROG_ENTRY;
}

/* Every function but the refused ones has all its probes in the process, once. */
static void assert_attached(pid_t pid)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		const struct plan_function *f = &functions[i];
		uint64_t at = entry_offset(i);
		bool refused = kernel.refuses && kernel.refuses(entry_prog(i), at);

		if (count(entry_prog(i), pid, at) != !refused)
			fail_msg("entry of %s in %d", f->symbol, pid);
		for (uint32_t e = 0; e < f->exits_cnt; e++)
			assert_int_equal(count(PROG_EXIT, pid, exits[f->exits + e].offset), 1);
	}
}

static void every_process_of_a_file(void **state)
{
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(0);
	assert_int_equal(kernel.links, 3);
	assert_int_equal(kernel.probes_cnt, FUNCTIONS + plan.exits_cnt);
	for (size_t i = 0; i < kernel.probes_cnt; i++)
		assert_int_equal(kernel.probes[i].object_fd, objects[0].fd);
}

static void exits_come_before_entries(void **state)
{
	bool entered = false;

	assert_int_equal(attach(&session), FUNCTIONS);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		entered |= kernel.probes[i].prog_fd == PROG_ENTRY;
		assert_false(entered && kernel.probes[i].prog_fd == PROG_EXIT);
	}
}

static void cookies(void **state)
{
	functions[1].entry.delta = 0x1234;
	functions[1].tail_jumps = functions[2].loops_to_entry = true;
	functions[4].entry.restarts = true;
	functions[4].entry.cond = 6;
	functions[5].closed_at_entry = 0x21;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];
		uint32_t f = p->cookie & WIRE_COOKIE_FUNCTION;
		uint64_t expected = f;

		assert_int_equal(f, p->offset / 0x1000 - 1);
		if (p->prog_fd == PROG_EXIT)
			expected |= p->offset & 0x20 ? 0x520000000000ull : 0x010000000000ull;
		else if (f % 3 == EXIT_RETURN)
			expected |= 0x0008000000000000ull;
		else if (f == 1)
			expected |= 0x0001001234000000ull;
		else if (f == 2)
			expected |= 0x0002000000000000ull;
		else if (f == 4)
			expected |= 0x0004600000000000ull;
		else if (f == 5)
			expected |= 0x000c210000000000ull;
		if (p->prog_fd != PROG_EXIT && functions[f].exit == EXIT_RETURN)
			expected |= 0x0008000000000000ull;
		/* Bits 52 on: what the probe costs. */
		if (p->prog_fd == PROG_EXIT)
			expected |=
				p->offset & 0x20 ? 0x00d0000000000000ull : 0x00b0000000000000ull;
		else
			expected |= 0x0010000000000000ull * (1 + functions[f].entry.site);
		assert_int_equal(p->cookie, expected);
	}
}

/* Where programs may write registers, `ret`s have one of their own, which is told where they are;
 * it emulates those that the plan has chosen. */
static void returns_that_are_emulated(void **state)
{
	size_t emulated = 0, stepped = 0;

	groups.emulates = true;
	for (size_t i = 0; i < plan.exits_cnt; i += 4) {
		exits[i].offset += 0x321;
		exits[i].emulated = true;
	}
	assert_int_equal(attach(&session), FUNCTIONS);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];
		uint32_t f = p->cookie & WIRE_COOKIE_FUNCTION;

		assert_int_equal(p->prog_fd == PROG_EXIT, (p->offset & 0xfff) == 0x20);
		if (p->prog_fd != PROG_RET)
			continue;
		if ((p->offset & 0xfff) == 0x331)
			assert_int_equal(p->cookie, 0x00e2010331000000ull | f);
		else
			assert_int_equal(p->cookie, 0x00b0010010000000ull | f);
		*((p->offset & 0xfff) == 0x331 ? &emulated : &stepped) += 1;
	}
	assert_int_equal(emulated, FUNCTIONS / 6);
	assert_int_equal(stepped, FUNCTIONS / 6);
	groups.emulates = false;
}

/* All sites of a region have its number, and come before the entries of functions: who is linked
 * last is called first. */
static void sites_of_regions(void **state)
{
	struct plan_site sites[] = {
		{.offset = 0xa0, .site = SITE_NOP5, .semaphore = 0x7000},
		{.offset = 0xa1, .site = SITE_NOP, .up = 8, .list = 3},
		{.offset = 0xa2, .site = SITE_NOP5, .up = 0x1ff8, .by_frame_pointer = true},
		{.offset = 0xa3, .site = SITE_NOP, .called = true},
		{.offset = 0xa4, .site = SITE_STEP},
		{.offset = 0xa5, .site = SITE_STEP},
	};
	const uint64_t expected[] = {
		0x0010000000000000 | 5,
		0x0030030401000000 | 5,
		(uint64_t)WIRE_COST_EXIT_NOP5 << WIRE_COOKIE_COST |
			(uint64_t)WIRE_REGION_BY_FP << WIRE_COOKIE_FLAGS |
			2ull << WIRE_COOKIE_SITE | 0x3ff000005,
		(uint64_t)WIRE_COST_EXIT_JMP << WIRE_COOKIE_COST |
			(uint64_t)WIRE_REGION_CALLED << WIRE_COOKIE_FLAGS |
			3ull << WIRE_COOKIE_SITE | 5,
		(uint64_t)WIRE_COST_EXIT_STEP << WIRE_COOKIE_COST | 4ull << WIRE_COOKIE_SITE | 5,
		0x0081000000000000 | 6,
	};
	size_t seen = 0, functions_seen = 0;

	plan.sites = sites;
	functions[5] = (struct plan_function){.kind = PLAN_REGION,
					      .symbol = "region",
					      .exit = EXIT_SITES,
					      .begins_cnt = 2,
					      .ends_cnt = 3};
	functions[6] = (struct plan_function){
		.kind = PLAN_MARK, .symbol = "mark", .sites = 5, .begins_cnt = 1};
	assert_int_equal(attach(&session), FUNCTIONS);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		functions_seen += p->prog_fd == PROG_ENTRY || p->prog_fd == PROG_SESSION;
		if (p->offset < 0xa0 || p->offset > 0xa5)
			continue;
		assert_int_equal(functions_seen, 0);
		assert_int_equal(p->cookie, expected[p->offset - 0xa0]);
		assert_int_equal(p->semaphore, p->offset == 0xa0 ? 0x7000 : 0);
		assert_int_equal(p->prog_fd,
				 p->offset >= 0xa2 && p->offset <= 0xa4 ? PROG_END : PROG_BEGIN);
		seen++;
	}
	assert_int_equal(seen, 6);
	assert_int_equal(functions_seen, FUNCTIONS - 2);
}

static void entry_and_return_apart(void **state)
{
	assert_int_equal(attach(&multi), FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		bool returns = functions[i].exit == EXIT_RETURN;

		assert_int_equal(count(PROG_ENTRY, 0, entry_offset(i)), 1);
		assert_int_equal(count(PROG_RETURN, 0, entry_offset(i)), returns);
	}
	assert_int_equal(kernel.probes[0].prog_fd, PROG_RETURN);
	assert_int_equal(kernel.probes[0].return_probes, 1);
}

static void each_process_by_itself(void **state)
{
	set_processes(3);
	assert_int_equal(attach(&session), FUNCTIONS);
	for (int i = 0; i < 3; i++)
		assert_attached(1000 + i);
	assert_int_equal(kernel.probes_cnt, 3 * (FUNCTIONS + plan.exits_cnt));
}

static void objects_without_functions_are_left_alone(void **state)
{
	target.objects_cnt = 3;
	for (uint32_t i = 0; i < 10; i++)
		functions[i].object = 2;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(0);
	for (size_t i = 0; i < kernel.probes_cnt; i++)
		assert_int_equal(kernel.probes[i].object_fd,
				 kernel.probes[i].offset < 0x1000 * 11 ? 52 : 50);
}

static void claimed_files_are_kept(void **state)
{
	struct plan_object planned[3] = {{.claimed = false}, {.claimed = true}};

	target.objects_cnt = 3;
	plan.objects = planned;
	plan.objects_cnt = 3;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		functions[i].object = 1;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(kernel.kept_cnt, 1);
	assert_int_equal(kernel.kept[0], 51);
	plan.objects = NULL;
	plan.objects_cnt = 0;
}

static bool refuses_some(int prog_fd, uint64_t offset)
{
	return offset == entry_offset(0) || offset == entry_offset(44) ||
	       offset == entry_offset(45) || offset == entry_offset(FUNCTIONS - 1);
}

static void the_refused_are_left_out(void **state)
{
	kernel.refuses = refuses_some;
	assert_int_equal(attach(&session), FUNCTIONS - 4);
	assert_attached(0);
	kernel.refuse_err = -524; /* ENOTSUPP: what the kernel says of instructions */
}

static void a_link_too_large_is_halved(void **state)
{
	kernel.max_cnt = 7;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(0);
}

static bool refuses_an_exit(int prog_fd, uint64_t offset)
{
	return offset == 0x1000 * 2 + 0x20;
}

/* Entered but never left would be worse than not seen at all. */
static void a_refused_exit_leaves_out_the_function(void **state)
{
	kernel.refuses = refuses_an_exit;
	assert_int_equal(attach(&session), FUNCTIONS - 1);
	assert_int_equal(count(PROG_ENTRY, 0, entry_offset(1)), 0);
	assert_int_equal(count(PROG_ENTRY, 0, entry_offset(4)), 1);
}

static bool refuses_returns(int prog_fd, uint64_t offset)
{
	return prog_fd == PROG_RETURN && offset == entry_offset(3);
}

static void a_refused_return_leaves_out_the_function(void **state)
{
	kernel.refuses = refuses_returns;
	assert_int_equal(attach(&multi), FUNCTIONS - 1);
	assert_int_equal(count(PROG_ENTRY, 0, entry_offset(3)), 0);
	assert_int_equal(count(PROG_ENTRY, 0, entry_offset(0)), 1);
}

static uint32_t refused_below;

static bool refuses_first(int prog_fd, uint64_t offset)
{
	return offset < 0x1000 * (refused_below + 1);
}

static bool refuses_first_entries(int prog_fd, uint64_t offset)
{
	return prog_fd != PROG_EXIT && refuses_first(prog_fd, offset);
}

static void many_refusals_are_the_kernel_s_no(void **state)
{
	kernel.refuses = refuses_first_entries;
	refused_below = 64;
	assert_int_equal(attach(&session), FUNCTIONS - 64);
	assert_attached(0);
	teardown(state);
	setup(state);
	kernel.refuses = refuses_first_entries;
	refused_below = 65;
	assert_int_equal(attach(&session), -EINVAL);
	assert_all_closed();
}

static bool refuses_all(int prog_fd, uint64_t offset)
{
	return true;
}

static void all_refused(void **state)
{
	plan.functions_cnt = 5;
	kernel.refuses = refuses_all;
	assert_int_equal(attach(&session), -ENOENT);
	assert_all_closed();
}

static bool refuses_one(int prog_fd, uint64_t offset)
{
	return offset == entry_offset(7);
}

/* The limit is on functions: one that is refused everywhere is no reason to give up. */
static void one_function_in_many_processes(void **state)
{
	set_processes(PROCESSES);
	kernel.refuses = refuses_one;
	assert_int_equal(attach(&session), FUNCTIONS - 1);
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(count(PROG_ENTRY, 1000 + i, entry_offset(8)), 1);
}

static void hopeless_errors_end_it(void **state)
{
	static const int errors[] = {-EPERM, -EACCES, -ENOMEM, -EMFILE, -ENFILE, -ESRCH, -EBADF};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		for (int from = 1; from <= 3; from++) {
			setup(state);
			set_processes(1);
			kernel.fail_from = from;
			kernel.fail_err = errors[i];
			assert_int_equal(attach(&session), errors[i]);
			assert_int_equal(kernel.calls, from);
			assert_all_closed();
		}
	}
}

static void a_process_that_ends_is_left_out(void **state)
{
	set_processes(3);
	kernel.ended = 1001;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(1000);
	assert_attached(1002);
	for (size_t i = 0; i < kernel.probes_cnt; i++)
		assert_int_not_equal(kernel.probes[i].pid, 1001);
}

static void all_processes_end(void **state)
{
	set_processes(3);
	kernel.fail_from = 1;
	kernel.fail_err = -ESRCH;
	assert_int_equal(attach(&session), -ESRCH);
	assert_int_equal(kernel.calls, 3);
	assert_all_closed();
}

/* Two programs are traced at once; the first one ends, and with it all that maps its file. */
static void an_object_whose_only_process_ends(void **state)
{
	static uint32_t second[] = {1};

	set_processes(2);
	objects[0].processes_cnt = 1;
	objects[1].processes = second;
	objects[1].processes_cnt = 1;
	target.objects_cnt = 2;
	for (uint32_t i = 30; i < FUNCTIONS; i++)
		functions[i].object = 1;
	kernel.ended = 1000;
	assert_true(attach(&session) > 0);
	for (uint32_t i = 30; i < FUNCTIONS; i++)
		assert_int_equal(count(entry_prog(i), 1001, entry_offset(i)), 1);
}

/* A file is mapped by another process, and return probes give way to exit sites. */
static void what_is_new_is_attached(void **state)
{
	struct plan_function *f = &functions[0];

	set_processes(2);
	objects[0].processes_cnt = 1;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(1000);
	assert_int_equal(count(PROG_SESSION, 1001, entry_offset(0)), 0);

	exits[plan.exits_cnt] = (struct plan_exit){0x1030, CODE_EXIT_RET, 0, true};
	f->exits = plan.exits_cnt++;
	f->exits_cnt = 1;
	f->exit = EXIT_SITES;
	plan.returns_replaced = true;
	objects[0].processes_cnt = 2;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(count(PROG_EXIT, 1000, 0x1030), 1);
	assert_int_equal(count(PROG_ENTRY, 1000, entry_offset(0)), 0);
	assert_attached(1001);
}

static int drop(const struct backend *backend, const uint64_t *calls)
{
	int saved = hush();
	int err;

	note();
	err = groups__drop(&groups, backend, NULL, &plan, &target, calls);
	unhush(saved);
	return err;
}

/* The generation of the function's newest entry probe in the process, of those whose links are open
 * (or of all); -1: there is none. *cnt: how many there are. */
static int newest_entry(pid_t pid, uint32_t function, bool open, int *cnt)
{
	int generation = -1;

	*cnt = 0;
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		if (p->pid != pid || p->offset != entry_offset(function) ||
		    p->prog_fd == PROG_EXIT || p->return_probes || (open && kernel.closed[p->link]))
			continue;
		generation = p->cookie >> WIRE_COOKIE_GENERATION;
		++*cnt;
	}
	return generation;
}

/* Lets the replaced links of all groups come of age, and closes them. */
static void close_retired(void)
{
	for (size_t i = 0; i < groups.groups_cnt; i++) {
		if (groups.groups[i]->retired_ns)
			groups.groups[i]->retired_ns = 1;
	}
	assert_false(groups__poll(&groups));
}

/* In the process all but the dropped ones have their probes, once, in links that are open. */
static void assert_rest_attached(pid_t pid, int generation)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		int cnt, of = newest_entry(pid, i, true, &cnt);

		assert_int_equal(cnt, !dropped[i]);
		if (!dropped[i] && generation >= 0)
			assert_int_equal(of, generation);
	}
}

static void the_dropped_leave_and_the_others_stay(void **state)
{
	int cnt;

	set_processes(2);
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(kernel.links, 2 * 3); /* there was nothing to do */
	dropped[4] = dropped[33] = true;
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(kernel.links, 2 * 6);
	/* For now there are two links of each kind; the dropped functions are still in the old
	 * ones. */
	assert_true(groups__poll(&groups));
	assert_int_equal(newest_entry(1000, 5, true, &cnt), 1);
	assert_int_equal(cnt, 2);
	assert_int_equal(newest_entry(1000, 4, true, &cnt), 0);
	assert_int_equal(cnt, 1);
	close_retired();
	assert_rest_attached(1000, 1);
	assert_rest_attached(1001, 1);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		assert_false(!kernel.closed[p->link] && dropped[p->offset / 0x1000 - 1]);
	}
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(kernel.links, 2 * 6);
}

static void entry_and_return_leave_together(void **state)
{
	assert_int_equal(attach(&multi), FUNCTIONS);
	dropped[0] = true;
	assert_int_equal(drop(&multi, NULL), 0);
	close_retired();
	assert_rest_attached(0, 1);
	for (size_t i = 0; i < kernel.probes_cnt; i++)
		assert_false(kernel.probes[i].offset == entry_offset(0) &&
			     !kernel.closed[kernel.probes[i].link]);
}

/* Functions that are called often are those whose links are replaced; the rest is left alone. */
static void the_busy_are_kept_apart(void **state)
{
	uint64_t calls[FUNCTIONS] = {0};
	int links, cnt;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		calls[i] = i < 30 ? 0 : i < 80 ? 10 : 10000;
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[89] = true;
	assert_int_equal(drop(&session, calls), 0);
	close_retired();
	links = kernel.links;
	dropped[88] = true;
	assert_int_equal(drop(&session, calls), 0);
	assert_int_equal(kernel.links, links + 3);
	close_retired();
	assert_rest_attached(0, -1);
	assert_int_equal(newest_entry(0, 10, true, &cnt), 1);
	assert_int_equal(newest_entry(0, 50, true, &cnt), 1);
	assert_int_equal(newest_entry(0, 85, true, &cnt), 2);
}

/* Functions are dropped one after the other, down to the last one; links are closed whenever there
 * are too many. */
static void dropping_all(void **state)
{
	uint64_t calls[FUNCTIONS];
	int postponed = 0, cnt;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		calls[i] = i;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		int err;

		dropped[i * 7 % FUNCTIONS] = true;
		while ((err = drop(&session, calls)) == -EAGAIN) {
			postponed++;
			close_retired();
		}
		assert_int_equal(err, 0);
		assert_true(groups.groups_cnt <= 32);
		for (uint32_t k = 0; k < FUNCTIONS; k++) {
			newest_entry(0, k, true, &cnt);
			assert_true(dropped[k] || cnt);
		}
	}
	assert_true(postponed > 0);
	close_retired();
	assert_rest_attached(0, -1);
	assert_all_closed();
	assert_int_equal(groups.groups_cnt, 0);
}

/* No generation that may still be seen comes again, and nothing is lost. */
static void a_drop_that_fails(void **state)
{
	int cnt;

	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[0] = true;
	kernel.fail_err = -EMFILE;
	kernel.fail_from = kernel.calls + 3; /* returns and exits are in, entries are not */
	assert_int_equal(drop(&session, NULL), -EMFILE);
	assert_int_equal(newest_entry(0, 3, true, &cnt), 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(newest_entry(0, 3, false, &cnt), 1);
	assert_int_equal(cnt, 2);
	kernel.fail_from = 0;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	assert_rest_attached(0, 2);
}

static void a_process_that_ended_before_a_drop(void **state)
{
	set_processes(2);
	assert_int_equal(attach(&session), FUNCTIONS);
	kernel.ended = 1000;
	dropped[0] = true;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	assert_rest_attached(1001, 1);
}

/* Dropped functions get no probes in processes that come later; exits that were put in apart go,
 * too. */
static void drops_and_what_is_new(void **state)
{
	set_processes(2);
	objects[0].processes_cnt = 1;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (uint32_t i = 0; i < 2; i++) {
		exits[plan.exits_cnt] =
			(struct plan_exit){0x1030 + i * 0x3000, CODE_EXIT_RET, 0, true};
		functions[i * 3].exits = plan.exits_cnt++;
		functions[i * 3].exits_cnt = 1;
		functions[i * 3].exit = EXIT_SITES;
		plan.returns_replaced = true;
	}
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[0] = true;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	objects[0].processes_cnt = 2;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_rest_attached(1000, 1);
	assert_rest_attached(1001, 1);
	assert_int_equal(count(PROG_EXIT, 1001, 0x1030), 0);
	assert_int_equal(count(PROG_EXIT, 1001, 0x4030), 1);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		assert_false(p->offset == 0x1030 && !kernel.closed[p->link]);
	}
	/* The other one's exit has moved with the group of exits: first put in, then anew. */
	assert_int_equal(count(PROG_EXIT, 1000, 0x4030), 2);
}

static int resume(void)
{
	int saved = hush();
	int err;

	note();
	err = groups__resume(&groups, &session, NULL, &plan, &target);
	unhush(saved);
	return err;
}

static int restore(const uint32_t *list, size_t cnt)
{
	struct attach_ctx ctx = {.g = &groups, .backend = &session, .plan = &plan};
	int saved = hush();
	int err = groups__restore(&ctx, &target, list, cnt);

	for (size_t i = 0; !err && i < cnt; i++)
		dropped[list[i]] = false;
	unhush(saved);
	return err;
}

/* Functions that come back get their probes in all processes again; these probes pass for newer
 * ones than all before: also while those linger, and after bursts. */
static void the_dropped_come_back(void **state)
{
	const uint32_t list[] = {4, 33};
	const struct survey_list burst = {.functions = list, .cnt = 2, .burst = true};
	int cnt;

	set_processes(2);
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[4] = dropped[33] = true;
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(restore(list, 2), 0); /* the old ones linger */
	assert_int_equal(newest_entry(1000, 4, true, &cnt), 1);
	assert_int_equal(cnt, 2);
	close_retired();
	assert_rest_attached(1000, 1);
	assert_rest_attached(1001, 1);

	dropped[4] = dropped[33] = true;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	assert_int_equal(groups__survey(&groups, &session, NULL, &plan, &target, &burst), 0);
	assert_int_equal(newest_entry(1001, 33, true, &cnt), 2);
	groups__take_out_burst(&groups);
	assert_int_equal(restore(list, 1), 0);
	assert_int_equal(newest_entry(1001, 4, true, &cnt), 3);
	assert_int_equal(cnt, 1);
	assert_int_equal(newest_entry(1000, 33, true, &cnt), -1);
	assert_rest_attached(1000, -1);
	/* Processes that come later have them as well. */
	set_processes(3);
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_rest_attached(1002, -1);
}

/* Probes that have not been taken out yet stay as they are. */
static void a_return_before_the_drop_is_done(void **state)
{
	const uint32_t list[] = {4};
	int links;

	set_processes(1);
	assert_int_equal(attach(&session), FUNCTIONS);
	links = kernel.links;
	dropped[4] = true;
	kernel.fail_from = kernel.calls + 1;
	kernel.fail_err = -ENOMEM;
	assert_int_equal(drop(&session, NULL), -ENOMEM);
	kernel.fail_from = 0;
	assert_int_equal(restore(list, 1), 0);
	assert_int_equal(kernel.links, links);
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(kernel.links, links);
	assert_rest_attached(1000, 0);
}

static void a_return_that_fails(void **state)
{
	const uint32_t list[] = {4};
	int links;

	set_processes(2);
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[4] = true;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	links = kernel.links;
	/* In the second process: what is in the first one goes with the next drop. */
	kernel.fail_from = kernel.calls + 1 + (kernel.links - links) + 2;
	kernel.fail_err = -ENOMEM;
	assert_int_equal(restore(list, 1), -ENOMEM);
	kernel.fail_from = 0;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	assert_rest_attached(1000, -1);
	assert_rest_attached(1001, -1);
	/* While tracing is switched off: they are put in when it goes on. */
	assert_int_equal(groups__suspend(&groups), 0);
	links = kernel.links;
	assert_int_equal(restore(list, 1), 0);
	assert_int_equal(kernel.links, links);
	assert_int_equal(resume(), 0);
	assert_rest_attached(1000, -1);
}

/* All links go and come again, told apart by their generation, without what was dropped and with
 * what has come meanwhile. */
static void suspended_and_resumed(void **state)
{
	int links;

	set_processes(2);
	objects[0].processes_cnt = 1;
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[4] = true;
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(groups__suspend(&groups), 0);
	assert_all_closed();
	assert_false(groups__poll(&groups));
	links = kernel.links;
	objects[0].processes_cnt = 2;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(kernel.links, links);
	dropped[33] = true;
	assert_int_equal(resume(), 0);
	assert_rest_attached(1000, 2);
	assert_rest_attached(1001, 2);
	assert_int_equal(groups__suspend(&groups), 0);
	assert_all_closed();
	assert_int_equal(resume(), 0);
	assert_rest_attached(1000, 3);
}

static void a_resume_that_fails(void **state)
{
	set_processes(1);
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(groups__suspend(&groups), 0);
	kernel.fail_from = kernel.calls + 2;
	kernel.fail_err = -ENOMEM;
	assert_int_equal(resume(), -ENOMEM);
}

static void a_process_that_ended_while_suspended(void **state)
{
	set_processes(2);
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(groups__suspend(&groups), 0);
	kernel.ended = 1000;
	assert_int_equal(resume(), 0);
	assert_rest_attached(1001, 1);
}

static void trials(void **state)
{
	const struct backend_probe probe = {PROG_SESSION, LINK_UPROBE_SESSION, 0};

	assert_int_equal(groups__trial(&groups, &probe, 0), 0);
	assert_int_equal(kernel.links, 1);
	assert_int_equal(kernel.probes[0].pid, getpid());
	assert_int_equal(kernel.probes[0].attach_type, LINK_UPROBE_SESSION);
	kernel.refuses = refuses_all;
	assert_int_equal(groups__trial(&groups, &probe, 0), -EINVAL);
	assert_int_equal(kernel.links, 1);
	assert_int_equal(fcntl(kernel.probes[0].object_fd, F_GETFD), -1);
}

/* Three processes that may fork, in a file that two others map. */
static void set_children(void)
{
	set_processes(3);
	plan.may_fork = groups.children = true;
	objects[0].is_main = true;
	objects[0].strangers = 2;
}

static int closed_links(pid_t pid)
{
	int cnt = 0;

	for (size_t i = 0; i < kernel.probes_cnt; i++)
		cnt += kernel.probes[i].pid == pid && kernel.closed[kernel.probes[i].link];
	return cnt;
}

/* A link for all processes has children in it, too. */
static void with_children(void **state)
{
	set_children();
	assert_int_equal(attach(&declining), FUNCTIONS);
	assert_true(groups__is_unbound(&groups, 0));
	assert_int_equal(kernel.links, 3);
	assert_attached(0);
}

/* A library that nobody else maps is as good as the program. */
static void with_children_in_a_library(void **state)
{
	set_children();
	objects[0].is_main = false;
	objects[0].strangers = 0;
	assert_int_equal(attach(&declining), FUNCTIONS);
	assert_true(groups__is_unbound(&groups, 0));
}

/* Where strangers would pay, or could be harmed, or nobody forks, links are the processes'. */
static void without_children(void **state)
{
	for (int i = 0; i < 7; i++) {
		setup(state);
		set_children();
		if (i == 6)
			objects[0].is_main = false; /* a library, which they use */
		if (i == 0)
			objects[0].strangers = 17;
		else if (i == 1)
			objects[0].strangers = STRANGERS_UNKNOWN;
		else if (i == 2)
			objects[0].strangers_fragile = true;
		else if (i == 3)
			plan.may_fork = false;
		else if (i == 4)
			groups.children = false;
		assert_int_equal(attach(i == 5 ? &session : &declining), FUNCTIONS);
		assert_false(groups__is_unbound(&groups, 0));
		assert_int_equal(kernel.links, 9);
		for (pid_t pid = 1000; pid < 1003; pid++)
			assert_attached(pid);
		groups__begin_detach(&groups);
	}
	setup(state);
}

static void bound_for_the_sake_of_strangers(void **state)
{
	size_t shared;

	set_children();
	assert_int_equal(attach(&declining), FUNCTIONS);
	shared = kernel.probes_cnt;
	assert_int_equal(groups__bind(&groups, &declining, NULL, &plan, &target), 0);
	assert_false(groups__is_unbound(&groups, 0));
	for (pid_t pid = 1000; pid < 1003; pid++)
		assert_attached(pid);
	/* Until the old ones are closed, generations tell the two apart. */
	assert_int_equal(closed_links(0), 0);
	for (size_t i = shared; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		if (p->prog_fd != PROG_EXIT)
			assert_int_equal(p->cookie >> WIRE_COOKIE_GENERATION, 1);
	}
	close_retired();
	assert_int_equal(closed_links(0), shared);
	assert_int_equal(closed_links(1001), 0);
	/* From there on they are as others. */
	dropped[3] = true;
	assert_int_equal(drop(&declining, NULL), 0);
	close_retired();
	assert_int_equal(count(entry_prog(3), 1001, entry_offset(3)), 1);
	assert_int_equal(count(entry_prog(4), 1001, entry_offset(4)), 2);
}

static void binding_that_fails(void **state)
{
	int saved;

	set_children();
	assert_int_equal(attach(&declining), FUNCTIONS);
	kernel.fail_from = kernel.calls + 5;
	kernel.fail_err = -EMFILE;
	saved = hush();
	assert_int_equal(groups__bind(&groups, &declining, NULL, &plan, &target), -EMFILE);
	unhush(saved);
	assert_true(groups__is_unbound(&groups, 0));
	assert_int_equal(closed_links(0), 0);
	for (int i = 3; i < kernel.links; i++)
		assert_true(kernel.closed[i]);
}

static int take_survey(const struct backend *backend, const uint32_t *list, size_t cnt)
{
	const struct survey_list functions_of = {.functions = list, .cnt = cnt};

	groups.link_holder = &link_holder;
	return groups__survey(&groups, backend, NULL, &plan, &target, &functions_of);
}

/* Probes that count are at entries alone, of what is asked for, and leave nothing behind. */
static void a_survey(void **state)
{
	const uint32_t list[] = {1, 2, 40};

	set_processes(2);
	assert_int_equal(take_survey(&session, list, 3), 0);
	assert_int_equal(kernel.links, 2);
	assert_int_equal(kernel.probes_cnt, 6);
	for (pid_t pid = 1000; pid < 1002; pid++) {
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(count(PROG_SURVEY, pid, entry_offset(list[i])), 1);
	}
	assert_int_equal(kernel.probes[2].cookie, 40);
	groups__take_out_survey(&groups);
	assert_all_closed();
	assert_int_equal(groups.groups_cnt, 0);
	kernel.probes_cnt = 0;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(1000);
	assert_attached(1001);
}

/* Processes that stand for all others have its probes alone, whoever would have true ones. */
static void a_survey_of_one_process(void **state)
{
	const uint32_t list[] = {1, 2};
	const bool second[] = {false, true};
	const struct survey_list in_second = {.functions = list, .cnt = 2, .processes = second};

	set_children();
	set_processes(2);
	groups.link_holder = &link_holder;
	assert_int_equal(groups__survey(&groups, &declining, NULL, &plan, &target, &in_second), 0);
	assert_int_equal(kernel.probes_cnt, 2);
	assert_int_equal(count(PROG_SURVEY, 1001, entry_offset(1)), 1);
	assert_int_equal(count(PROG_SURVEY, 1001, entry_offset(2)), 1);
	groups__take_out_survey(&groups);
}

/* Where true links are for children as well, those of a survey are, too. */
static void a_survey_of_children(void **state)
{
	const uint32_t list[] = {3};

	set_children();
	assert_int_equal(take_survey(&declining, list, 1), 0);
	assert_int_equal(kernel.probes_cnt, 1);
	assert_int_equal(count(PROG_SURVEY, 0, entry_offset(3)), 1);
	groups__take_out_survey(&groups);
}

static void a_survey_of_regions(void **state)
{
	struct plan_site sites[] = {{.offset = 0xa0, .site = SITE_NOP5, .semaphore = 0x7000},
				    {.offset = 0xa1, .site = SITE_NOP},
				    {.offset = 0xa2, .site = SITE_NOP}};
	const uint32_t list[] = {5};

	plan.sites = sites;
	functions[5] = (struct plan_function){
		.kind = PLAN_REGION, .symbol = "region", .begins_cnt = 2, .ends_cnt = 1};
	set_processes(1);
	assert_int_equal(take_survey(&session, list, 1), 0);
	assert_int_equal(kernel.probes_cnt, 2);
	assert_int_equal(kernel.probes[0].offset, 0xa0);
	assert_int_equal(kernel.probes[0].semaphore, 0x7000);
	assert_int_equal(kernel.probes[1].offset, 0xa1);
	assert_int_equal(kernel.probes[1].cookie, 5);
	groups__take_out_survey(&groups);
}

static void a_survey_that_is_refused(void **state)
{
	const uint32_t list[] = {1, 2};

	set_processes(2);
	kernel.ended = 1000;
	assert_int_equal(take_survey(&session, list, 2), 0);
	assert_int_equal(kernel.probes_cnt, 2);
	kernel.fail_from = 1;
	kernel.fail_err = -EPERM;
	assert_int_equal(take_survey(&session, list, 2), -EPERM);
	groups__take_out_survey(&groups);
	assert_int_equal(groups.groups_cnt, 0);
}

/* Functions that are dropped at the start get no probes; those that were called in the survey have
 * a group of their own. */
static void dropped_before_the_start(void **state)
{
	set_processes(1);
	dropped[4] = true;
	called[7] = called[8] = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_int_equal(count(entry_prog(4), 1000, entry_offset(4)), 0);
	assert_int_equal(groups.groups_cnt, 2);
	assert_int_equal(groups.groups[0]->members_cnt, FUNCTIONS - 3);
	assert_int_equal(groups.groups[1]->members_cnt, 2);
	dropped[8] = true;
	assert_int_equal(drop(&session, NULL), 0);
	assert_int_equal(count(entry_prog(0), 1000, entry_offset(0)), 1);
	assert_int_equal(count(entry_prog(7), 1000, entry_offset(7)), 2);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* How many of the functions are in a link with function `i` in a process, itself included. */
static int mates(pid_t pid, uint32_t i)
{
	int link = -1, cnt = 0;

	for (size_t k = 0; k < kernel.probes_cnt; k++) {
		const struct probe *p = &kernel.probes[k];

		if (p->pid == pid && p->offset == entry_offset(i))
			link = p->link;
	}
	for (size_t k = 0; k < kernel.probes_cnt; k++)
		cnt += kernel.probes[k].link == link;
	return cnt;
}

/* Where functions may be dropped: few share a link, of those that are called even
 * fewer. */
static void small_groups(void **state)
{
	groups.small = true;
	set_processes(2);
	called[7] = called[8] = called[9] = called[10] = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	assert_attached(1000);
	assert_attached(1001);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		assert_true(mates(1001, i) <= (called[i] ? 2 : 16));
}

/* Functions that were called are linked after those that nobody has called, as a process that runs
 * into their probes waits while others are put in. */
static void the_called_come_last(void **state)
{
	groups.small = true;
	set_processes(1);
	called[3] = called[8] = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		uint32_t function = kernel.probes[i].offset / 0x1000 - 1;

		for (size_t k = i; called[function] && k < kernel.probes_cnt; k++)
			assert_true(called[kernel.probes[k].offset / 0x1000 - 1]);
	}
}

/* A drop leaves all others alone but those of the same group, also in the long run. */
static void small_groups_move_few(void **state)
{
	uint64_t calls[FUNCTIONS] = {0};
	int cnt;

	groups.small = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i += 9) {
		size_t before = kernel.probes_cnt;

		dropped[i] = true;
		calls[i + 1] = calls[i + 2] = 10;
		assert_int_equal(drop(&session, calls), 0);
		assert_true(kernel.probes_cnt - before <= 15 * 3);
		close_retired();
		assert_rest_attached(0, -1);
	}
	/* The functions that were called, two of each nine, share groups of two at most now. */
	for (uint32_t i = 0; i < 5 * 9; i += 9) {
		newest_entry(0, i + 1, false, &cnt);
		assert_true(cnt > 1 && mates(0, i + 1) <= 2);
	}
}

/* Probes at the first exit of a function, in links that are open. */
static int open_exits(uint32_t function)
{
	int cnt = 0;

	for (size_t i = 0; i < kernel.probes_cnt; i++) {
		const struct probe *p = &kernel.probes[i];

		cnt += p->prog_fd == PROG_EXIT && !kernel.closed[p->link] &&
		       p->offset == exits[functions[function].exits].offset;
	}
	return cnt;
}

/* Functions that nobody has called do without exits until new ones are in; others keep theirs,
 * and entries stay in any case. */
static void in_a_hurry_exits_go_first(void **state)
{
	uint64_t calls[FUNCTIONS] = {0};
	uint32_t a = 0, b, c;
	int cnt;

	while (functions[a].exit != EXIT_SITES)
		a++;
	b = a + 3;
	c = b + 3;
	groups.small = groups.hurries = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[a] = true;
	calls[a] = 1000;
	assert_int_equal(drop(&session, calls), 0);
	assert_int_equal(open_exits(a), 0);
	assert_int_equal(open_exits(b), 1);
	newest_entry(0, a, true, &cnt);
	assert_int_equal(cnt, 1);
	newest_entry(0, b, true, &cnt);
	assert_int_equal(cnt, 2);
	close_retired();
	assert_rest_attached(0, -1);
	assert_int_equal(open_exits(b), 1);

	dropped[b] = true;
	calls[c] = 1;
	assert_int_equal(drop(&session, calls), 0);
	assert_int_equal(open_exits(b), 1);
	assert_int_equal(open_exits(c), 2);
	close_retired();
	assert_rest_attached(0, -1);
	assert_int_equal(open_exits(c), 1);
}

/* The functions are still without exits then, but a later drop puts these in with the rest. */
static void a_hurry_that_fails(void **state)
{
	uint64_t calls[FUNCTIONS] = {0};
	uint32_t a = 0;

	while (functions[a].exit != EXIT_SITES)
		a++;
	groups.small = groups.hurries = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	dropped[a] = true;
	kernel.fail_from = kernel.calls + 1;
	kernel.fail_err = -EMFILE;
	assert_int_equal(drop(&session, calls), -EMFILE);
	assert_int_equal(open_exits(a + 3), 0);
	kernel.fail_from = 0;
	assert_int_equal(drop(&session, calls), 0);
	close_retired();
	assert_rest_attached(0, -1);
	assert_int_equal(open_exits(a + 3), 1);
}

/* Functions that were called stay apart from the others in each process. */
static void small_groups_that_are_bound(void **state)
{
	groups.small = true;
	set_children();
	called[7] = true;
	assert_int_equal(attach(&declining), FUNCTIONS);
	assert_int_equal(groups__bind(&groups, &declining, NULL, &plan, &target), 0);
	close_retired();
	for (pid_t pid = 1000; pid < 1003; pid++) {
		assert_attached(pid);
		assert_int_equal(mates(pid, 7), 1);
		assert_true(mates(pid, 8) > 1);
	}
}

/* In one round after the other, of which so many may linger; nobody is without a probe meanwhile.
 */
static void small_groups_in_rounds(void **state)
{
	int postponed = 0, cnt;

	groups.small = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		int err;

		dropped[i * 7 % FUNCTIONS] = true;
		while ((err = drop(&session, NULL)) == -EAGAIN) {
			postponed++;
			close_retired();
		}
		assert_int_equal(err, 0);
		for (uint32_t k = 0; k < FUNCTIONS; k++) {
			newest_entry(0, k, true, &cnt);
			assert_true(dropped[k] || cnt);
		}
	}
	assert_true(postponed > 0);
	close_retired();
	assert_all_closed();
}

static void a_drop_of_small_groups_that_fails(void **state)
{
	int cnt;

	groups.small = true;
	assert_int_equal(attach(&session), FUNCTIONS);
	for (uint32_t i = 0; i < FUNCTIONS; i += 10)
		dropped[i] = true;
	kernel.fail_err = -EMFILE;
	kernel.fail_from = kernel.calls + 8; /* some groups are in */
	assert_int_equal(drop(&session, NULL), -EMFILE);
	assert_false(kernel.held);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		newest_entry(0, i, true, &cnt);
		assert_int_equal(cnt, 1);
	}
	kernel.fail_from = 0;
	assert_int_equal(drop(&session, NULL), 0);
	close_retired();
	assert_rest_attached(0, -1);
}

/* If a region and a function begin at one place the function's probe is the later one, before and
 * after a drop. */
static void small_groups_of_regions(void **state)
{
	struct plan_site sites[] = {{.offset = 0xa0, .site = SITE_NOP}, {.offset = 0xa1}};
	size_t region = 0, function = 0, at;

	groups.small = true;
	plan.sites = sites;
	functions[5] = (struct plan_function){
		.kind = PLAN_MARK, .symbol = "mark", .sites = 1, .begins_cnt = 1};
	functions[6] = (struct plan_function){
		.kind = PLAN_REGION, .symbol = "region", .exit = EXIT_SITES, .begins_cnt = 1};
	assert_int_equal(attach(&session), FUNCTIONS);
	for (at = 0; at < kernel.probes_cnt; at++) {
		region = kernel.probes[at].offset == 0xa0 ? at : region;
		function = function || kernel.probes[at].offset != entry_offset(0) ? function : at;
	}
	assert_true(region < function);
	dropped[5] = dropped[7] = true;
	at = kernel.probes_cnt;
	assert_int_equal(drop(&session, NULL), 0);
	for (; at < kernel.probes_cnt; at++)
		assert_int_not_equal(kernel.probes[at].offset, 0xa0);
	close_retired();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_process_of_a_file),
		TEST(exits_come_before_entries),
		TEST(cookies),
		TEST(returns_that_are_emulated),
		TEST(sites_of_regions),
		TEST(entry_and_return_apart),
		TEST(each_process_by_itself),
		TEST(objects_without_functions_are_left_alone),
		TEST(claimed_files_are_kept),
		TEST(the_refused_are_left_out),
		TEST(a_link_too_large_is_halved),
		TEST(a_refused_exit_leaves_out_the_function),
		TEST(a_refused_return_leaves_out_the_function),
		TEST(many_refusals_are_the_kernel_s_no),
		TEST(all_refused),
		TEST(one_function_in_many_processes),
		TEST(hopeless_errors_end_it),
		TEST(a_process_that_ends_is_left_out),
		TEST(all_processes_end),
		TEST(an_object_whose_only_process_ends),
		TEST(what_is_new_is_attached),
		TEST(the_dropped_leave_and_the_others_stay),
		TEST(entry_and_return_leave_together),
		TEST(the_busy_are_kept_apart),
		TEST(dropping_all),
		TEST(a_drop_that_fails),
		TEST(a_process_that_ended_before_a_drop),
		TEST(the_dropped_come_back),
		TEST(a_return_before_the_drop_is_done),
		TEST(a_return_that_fails),
		TEST(drops_and_what_is_new),
		TEST(suspended_and_resumed),
		TEST(a_resume_that_fails),
		TEST(a_process_that_ended_while_suspended),
		TEST(trials),
		TEST(with_children),
		TEST(with_children_in_a_library),
		TEST(without_children),
		TEST(bound_for_the_sake_of_strangers),
		TEST(binding_that_fails),
		TEST(a_survey),
		TEST(a_survey_of_one_process),
		TEST(a_survey_of_children),
		TEST(a_survey_of_regions),
		TEST(a_survey_that_is_refused),
		TEST(dropped_before_the_start),
		TEST(small_groups),
		TEST(the_called_come_last),
		TEST(small_groups_move_few),
		TEST(in_a_hurry_exits_go_first),
		TEST(a_hurry_that_fails),
		TEST(small_groups_that_are_bound),
		TEST(small_groups_in_rounds),
		TEST(a_drop_of_small_groups_that_fails),
		TEST(small_groups_of_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
