// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "elf/debug_fetch.h"
#include "security/open_files.h"
#include "security/opener.h"
#include "security/privilege.h"
#include "security/sandbox.h"
#include "target/hazard.h"
#include "target/launch.h"
#include "target/maps.h"
#include "target/process.h"
#include "target/started_as.h"
#include "target/whom.h"
#include "util/array.h"
#include "util/log.h"
#include "util/text.h"

#define MAX_OBJECTS 4096 /* files mapped by all processes together */

#define NO_PROCESS UINT32_MAX

#define LOOK_AGAIN_US 1000
#define EXEC_LOOKS    200 /* 0.2 s, for all processes together */

struct collect_ctx {
	struct target *t;
	pid_t pid;
	uint32_t process;    /* index of `pid`; NO_PROCESS: it has none */
	struct stat main_st; /* its program */
	bool main_known;
	bool watched;
	bool debugged; /* none of the target's own, and a debugger is at it */
};

static int object_add_process(struct target_object *obj, const struct collect_ctx *ctx)
{
	uint32_t *grown;

	if (ctx->process == NO_PROCESS)
		return 0;
	for (size_t i = 0; i < obj->processes_cnt; i++) {
		if (obj->processes[i] == ctx->process)
			return 0;
	}
	grown = reallocarray(obj->processes, obj->processes_cnt + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	obj->processes = grown;
	grown[obj->processes_cnt++] = ctx->process;
	return 0;
}

static struct target_object *object_known(struct target *t, const struct mapped_file *file)
{
	for (size_t i = 0; i < t->objects_cnt; i++) {
		struct target_object *obj = &t->objects[i];

		if (obj->ino == file->ino && obj->dev_major == file->dev_major &&
		    obj->dev_minor == file->dev_minor)
			return obj;
	}
	return NULL;
}

static int object_new(struct target *t, const char *path, const char *root, int fd,
		      struct target_object **out)
{
	struct target_object *obj;

	if (t->objects_cnt >= MAX_OBJECTS) {
		log_error("more than %d files are mapped; trace fewer processes at once",
			  MAX_OBJECTS);
		return -E2BIG;
	}
	if (ARRAY_RESERVE(&t->objects, t->objects_cnt, &t->objects_cap))
		return -ENOMEM;
	obj = &t->objects[t->objects_cnt];
	*obj = (struct target_object){.fd = fd,
				      .path = strdup(path),
				      .root = strdup(root),
				      .strangers = STRANGERS_UNKNOWN};
	if (!obj->path || !obj->root) {
		free(obj->path);
		free(obj->root);
		return -ENOMEM;
	}
	t->objects_cnt++;
	*out = obj;
	return 0;
}

/* Advice where permission is denied. */
static const char *advice(void)
{
	return geteuid() ? "; run as root" : ", even to root (a security module?)";
}

/* Opens a file that was not known. Returns 0 and NULL if it can be left out. */
static int object_open(struct collect_ctx *ctx, const struct mapped_file *file,
		       struct target_object **out)
{
	struct target_object *obj;
	char root[64];
	struct stat st;
	int err, fd = maps__open(ctx->pid, file);

	*out = NULL;
	if (fd < 0 || fstat(fd, &st)) {
		err = fd < 0 ? fd : -errno;
		if (fd >= 0)
			close(fd);
		/* No fault of this file's. */
		if (err == -EPERM || err == -EACCES || err == -EMFILE || err == -ENFILE ||
		    err == -ENOMEM)
			return err;
		log_debug("%s: skipped, cannot be opened: %s", file->path, strerror(-err));
		return 0;
	}
	process__root(ctx->pid, root, sizeof(root));
	err = object_new(ctx->t, file->path, root, fd, &obj);
	if (err) {
		close(fd);
		return err;
	}
	obj->dev_major = file->dev_major;
	obj->dev_minor = file->dev_minor;
	obj->ino = file->ino;
	obj->st_dev = st.st_dev;
	obj->st_ino = st.st_ino;
	obj->watched = ctx->watched;
	*out = obj;
	return 0;
}

static int collect_file(const struct mapped_file *file, void *arg)
{
	struct collect_ctx *ctx = arg;
	struct target *t = ctx->t;
	struct target_object *obj = object_known(t, file);
	bool is_new = !obj;
	int err = obj ? 0 : object_open(ctx, file, &obj);

	if (err || !obj)
		return err;
	if (t->only_ino) {
		obj->is_main = obj->st_dev == t->only_dev && obj->st_ino == t->only_ino;
		obj->barred = !obj->is_main;
	} else {
		/* A file can be a library here and the program there. */
		obj->is_main |= ctx->main_known && obj->st_dev == ctx->main_st.st_dev &&
				obj->st_ino == ctx->main_st.st_ino;
		obj->barred = ctx->debugged && (is_new || obj->barred);
	}
	if (is_new && obj->is_main && !t->only_ino)
		started_as__look(ctx->pid, obj);
	if (is_new && obj->is_main && obj->barred && !t->only_ino)
		log_warn("%s is not traced where it is debugged (process %d): its debugger would "
			 "not see its own breakpoints beside probes",
			 path_base(obj->path), ctx->pid);
	return object_add_process(obj, ctx);
}

/* Opens a file named on the command line, which must be a plain one. */
static int exec_open(const char *path, struct stat *st)
{
	int fd = opener__open(path);

	if (fd < 0 || fstat(fd, st)) {
		int err = fd < 0 ? fd : -errno;

		log_error("cannot open %s: %s", path, strerror(-err));
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (!S_ISREG(st->st_mode)) {
		log_error("%s is %s; -x takes a program or a shared library", path,
			  S_ISDIR(st->st_mode) ? "a directory" : "not a regular file");
		close(fd);
		return -EINVAL;
	}
	return fd;
}

static void object_clear(struct target_object *obj)
{
	close(obj->fd);
	free(obj->path);
	free(obj->file_name);
	free(obj->root);
	free(obj->processes);
}

static bool has_main(const struct target *t)
{
	for (size_t i = 0; i < t->objects_cnt; i++) {
		if (t->objects[i].is_main)
			return true;
	}
	return false;
}

static int collect_failed(pid_t pid, int err)
{
	if (err == -EACCES || err == -EPERM)
		log_error("cannot read what process %d has mapped: %s%s", pid, strerror(-err),
			  advice());
	else if (err == -ENOENT || err == -ESRCH)
		log_error("process %d ended while it was being looked at", pid);
	else if (err != -E2BIG) /* said already */
		log_error("cannot read what process %d has mapped: %s", pid, strerror(-err));
	return err;
}

static int collect_process(struct target *t, uint32_t process, pid_t pid, bool watched)
{
	struct collect_ctx ctx = {.t = t, .pid = pid, .process = process, .watched = watched};
	char link[64];

	ctx.debugged = process == NO_PROCESS && process__is_debugged(pid);
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ctx.main_known = opener__stat(link, &ctx.main_st) == 0;
	return maps__for_each(pid, collect_file, &ctx);
}

static bool maps_any(const struct target *t, uint32_t process)
{
	for (size_t i = 0; i < t->objects_cnt; i++) {
		const struct target_object *obj = &t->objects[i];

		if (obj->processes_cnt && obj->processes[obj->processes_cnt - 1] == process)
			return true;
	}
	return false;
}

/* Amid an exec a process has nothing mapped, for a moment. `looks`: how many more there may be. */
static int collect_mapped(struct target *t, uint32_t process, int *looks)
{
	int err = collect_process(t, process, t->pids[process], t->launch);

	while (!err && !maps_any(t, process) && *looks > 0 &&
	       !process__has_ended(t->processes[process].pidfd)) {
		(*looks)--;
		usleep(LOOK_AGAIN_US);
		err = collect_process(t, process, t->pids[process], t->launch);
	}
	return err;
}

/* Takes a process out that cannot be read, with what it alone maps: of `objects_before` objects it
 * was the last to come to the lists of processes. */
static int leave_out(struct target *t, size_t process, size_t objects_before)
{
	pid_t pid = t->pids[process];
	pid_t *grown = reallocarray(t->left_out, t->left_out_cnt + 1, sizeof(*grown));
	size_t behind = t->processes_cnt - process - 1;

	if (!grown)
		return -ENOMEM;
	t->left_out = grown;
	grown[t->left_out_cnt++] = pid;
	while (t->objects_cnt > objects_before)
		object_clear(&t->objects[--t->objects_cnt]);
	for (size_t i = 0; i < t->objects_cnt; i++) {
		struct target_object *obj = &t->objects[i];

		if (obj->processes_cnt && obj->processes[obj->processes_cnt - 1] == process)
			obj->processes_cnt--;
	}
	close(t->processes[process].pidfd);
	memmove(&t->processes[process], &t->processes[process + 1], behind * sizeof(*t->processes));
	memmove(&t->pids[process], &t->pids[process + 1], behind * sizeof(*t->pids));
	t->processes_cnt--;
	return 0;
}

/* Whether a process that cannot be read may be left out: a name, group or user has found it. One
 * that has been named by its number is an error. */
static bool may_be_left_out(const struct target *t, pid_t pid, int err)
{
	return (err == -EACCES || err == -EPERM) && t->whom && !whom__lists(t->whom, pid);
}

/* Says who has been left out; `err`: why the first one could not be read. Returns it if nobody
 * else is there. */
static int tell_left_out(const struct target *t, int err)
{
	const size_t cnt = t->left_out_cnt;
	const char *first = cnt > 1 ? ", the first one" : "";

	if (cnt && t->processes_cnt)
		log_warn("%zu process%s left out, as what %s mapped cannot be read (process "
			 "%d%s: %s%s)",
			 cnt, cnt > 1 ? "es are" : " is", cnt > 1 ? "they have" : "it has",
			 t->left_out[0], first, strerror(-err), advice());
	if (!cnt || t->processes_cnt)
		return 0;
	if (cnt == 1)
		return collect_failed(t->left_out[0], err);
	log_error("cannot read what any of these %zu processes has mapped (process %d%s: %s%s)",
		  cnt, t->left_out[0], first, strerror(-err), advice());
	return err;
}

/* Objects of every process; `exec` limits probes to one file. */
static int collect_processes(struct target *t, const char *exec)
{
	const size_t meant = t->processes_cnt;
	int err, fd, left_out_err = 0, looks = EXEC_LOOKS;

	if (exec) {
		struct stat st;

		fd = exec_open(exec, &st);
		if (fd < 0)
			return fd;
		close(fd);
		t->only_dev = st.st_dev;
		t->only_ino = st.st_ino;
	}
	for (size_t i = 0; i < t->processes_cnt;) {
		const size_t objects_before = t->objects_cnt;
		const pid_t pid = t->pids[i];

		/* One of several: the run notes its end as it would a moment later. */
		if (meant > 1 && process__has_ended(t->processes[i].pidfd)) {
			i++;
			continue;
		}
		/* A command has not run yet. */
		err = collect_mapped(t, i, &looks);
		/* The number may be another process's by now, and what was read, too. */
		if (!err && !t->launch && process__has_ended(t->processes[i].pidfd))
			err = -ESRCH;
		if (may_be_left_out(t, pid, err)) {
			left_out_err = left_out_err ? left_out_err : err;
			err = leave_out(t, i, objects_before);
		} else {
			i++;
		}
		if (err)
			return collect_failed(pid, err);
	}
	err = tell_left_out(t, left_out_err);
	if (err)
		return err;
	if (exec && !has_main(t)) {
		log_error("process %d does not map %s as code", t->processes[0].pid, exec);
		return -ESRCH;
	}
	if (!t->objects_cnt) {
		log_error("process %d has no files mapped as code (has it ended?)",
			  t->processes[0].pid);
		return -ESRCH;
	}
	return 0;
}

void target__unmap(struct target *t, uint32_t process)
{
	for (size_t i = 0; i < t->objects_cnt; i++) {
		struct target_object *obj = &t->objects[i];
		uint32_t kept = 0;

		for (uint32_t k = 0; k < obj->processes_cnt; k++) {
			if (obj->processes[k] != process)
				obj->processes[kept++] = obj->processes[k];
		}
		obj->processes_cnt = kept;
	}
}

int target__refresh(struct target *t, pid_t pid, bool watched)
{
	size_t process = target__index(t, pid);

	return collect_process(t, process < t->processes_cnt ? process : NO_PROCESS, pid, watched);
}

/*
 * The processes of a server that forks for each connection are listed (pgrep -d, postgres) some
 * milliseconds before they are looked at here, when a few of them may have ended: these are left
 * out, if most are there. A list of which half is gone is another one than was meant.
 */
static bool most_are_there(const pid_t *pids, size_t cnt)
{
	size_t gone = 0;

	for (size_t i = 0; i < cnt; i++)
		gone += process__is_gone(pids[i]);
	return gone * 2 < cnt;
}

static int open_processes(struct target *t, const pid_t *pids, size_t cnt)
{
	bool lenient = cnt > 1 && most_are_there(pids, cnt);

	t->processes = calloc(cnt, sizeof(*t->processes));
	t->pids = calloc(cnt, sizeof(*t->pids));
	if (!t->processes || !t->pids)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		size_t at = t->processes_cnt;
		int err;

		if (lenient && process__is_gone(pids[i])) {
			log_warn("process %d has ended: the others are traced", pids[i]);
			continue;
		}
		err = process__open(pids[i], &t->processes[at].pidfd);
		if (err)
			return err;
		t->processes[at].pid = t->pids[at] = pids[i];
		t->processes_cnt++;
	}
	return 0;
}

/* The processes that belong now, each by a descriptor, as long as it lives. */
static int open_chosen(struct target *t, const struct whom_spec *spec)
{
	pid_t *pids = NULL;
	size_t cnt = 0;
	bool more = false;
	int err = whom__new(spec, &t->whom);

	if (!err)
		err = whom__find(t->whom, &pids, &cnt, &more);
	if (!err && !cnt) {
		whom__nobody(t->whom);
		err = -ESRCH;
	}
	for (size_t i = 0; !err && cnt && i < spec->pids_cnt; i++) {
		if (!whom__has(t->whom, spec->pids[i]))
			log_warn("process %d has ended, or does not meet all options that choose "
				 "processes: the others are traced",
				 spec->pids[i]);
	}
	if (more)
		log_warn("more than %d processes match: the others are not traced", WHOM_MOST);
	if (!err)
		err = open_processes(t, pids, cnt);
	free(pids);
	return err;
}

static int open_exec(struct target *t, const char *exec)
{
	struct target_object *obj;
	struct stat st;
	int err, fd = exec_open(exec, &st);

	if (fd < 0)
		return fd;
	err = object_new(t, exec, "", fd, &obj);
	if (err) {
		close(fd);
		return err;
	}
	obj->is_main = true;
	obj->dev_major = major(st.st_dev);
	obj->dev_minor = minor(st.st_dev);
	obj->ino = st.st_ino;
	obj->st_dev = st.st_dev;
	obj->st_ino = st.st_ino;
	return 0;
}

static int open_command(struct target *t, const struct target_spec *spec)
{
	int err = launch__start(t->launch, spec->command[0], spec->status);
	pid_t pid = launch__pid(t->launch);

	if (!err)
		err = open_processes(t, &pid, 1);
	return err ? err : collect_processes(t, NULL);
}

static int open_spec(struct target *t, const struct target_spec *spec)
{
	int err;

	if (spec->command)
		return open_command(t, spec);
	if (!spec->whom.pids_cnt && !whom__is_open(&spec->whom))
		return open_exec(t, spec->exec);
	err = whom__is_open(&spec->whom) ? open_chosen(t, &spec->whom)
					 : open_processes(t, spec->whom.pids, spec->whom.pids_cnt);
	return err ? err : collect_processes(t, spec->exec);
}

int target__open(const struct target_spec *spec, struct target **out)
{
	struct target *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	debug_fetch__start();
	err = opener__start();
	if (!err && spec->command)
		err = launch__fork(spec->command, &t->launch);
	if (!err) {
		/* Now that the command's process is there, whose limit stays as it is. */
		open_files__allow_most();
		privilege__drop_for_run();
		sandbox__enter_run(spec->output);
		err = open_spec(t, spec);
	}
	if (err) {
		target__free(t);
		return err;
	}
	hazard__look(t);
	*out = t;
	return 0;
}

size_t target__index(const struct target *t, pid_t pid)
{
	size_t i = 0;

	while (i < t->processes_cnt && t->pids[i] != pid)
		i++;
	return i;
}

bool target__has(const struct target *t, pid_t pid)
{
	return target__index(t, pid) < t->processes_cnt;
}

bool target__left_out(const struct target *t, pid_t pid)
{
	for (size_t i = 0; i < t->left_out_cnt; i++) {
		if (t->left_out[i] == pid)
			return true;
	}
	return false;
}

void target__free(struct target *t)
{
	if (!t)
		return;
	opener__stop();
	launch__free(t->launch);
	whom__free(t->whom);
	for (size_t i = 0; i < t->objects_cnt; i++)
		object_clear(&t->objects[i]);
	for (size_t i = 0; i < t->processes_cnt; i++)
		close(t->processes[i].pidfd);
	free(t->objects);
	free(t->processes);
	free(t->pids);
	free(t->left_out);
	free(t);
}
