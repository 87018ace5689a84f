// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "agent/state.h"
#include "target/process.h"
#include "util/json.h"
#include "util/log.h"

/* Adds CPU time, of all threads, and memory of a process that runs. `pid` 0: there is none. */
static void add_process(pid_t pid, uint64_t *cpu_ns, uint64_t *memory)
{
	unsigned long kib = 0;
	char path[64], line[256];
	uint64_t ns;
	FILE *f;

	if (!pid)
		return;
	*cpu_ns += process__cpu_ns(pid, &ns) ? 0 : ns;
	/* Pss counts memory that several processes share once. */
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Pss: %lu kB", &kib) == 1)
			*memory += kib * 1024;
	}
	if (f)
		fclose(f);
}

/* Bytes of a BPF map by what /proc says of a descriptor of it; 0: it is none, or its memory counts
 * as that of the process that has mapped it. */
static uint64_t map_bytes(const char *path)
{
	unsigned long bytes = 0, flags = 0;
	bool map = false;
	char line[128];
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		map |= !strncmp(line, "map_type:", 9);
		sscanf(line, "map_flags: %lx", &flags);
		sscanf(line, "memlock: %lu", &bytes);
	}
	if (f)
		fclose(f);
	return map && !(flags & BPF_F_MMAPABLE) ? bytes : 0;
}

/* Adds the tables that a recorder has in the kernel. */
static void add_tables(pid_t pid, uint64_t *kernel)
{
	char path[64 + NAME_MAX];
	struct dirent *entry;
	DIR *dir;

	if (!pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, entry->d_name);
		if (entry->d_name[0] != '.')
			*kernel += map_bytes(path);
	}
	if (dir)
		closedir(dir);
}

/* Adds a process and its children: a recording process has a link holder. */
static void add_family(pid_t pid, uint64_t *cpu_ns, uint64_t *memory)
{
	char path[64];
	pid_t child;
	FILE *f;

	add_process(pid, cpu_ns, memory);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		add_process(child, cpu_ns, memory);
	if (f)
		fclose(f);
}

void status__measure(struct agent *a, double span_s)
{
	uint64_t cpu_ns = 0, memory = 0, kernel = 0;
	struct rusage ended;

	getrusage(RUSAGE_CHILDREN, &ended);
	cpu_ns += (ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) * 1000000000ull +
		  (ended.ru_utime.tv_usec + ended.ru_stime.tv_usec) * 1000ull;
	add_process(getpid(), &cpu_ns, &memory);
	for (size_t i = 0; i < a->services_cnt; i++) {
		add_family(a->services[i].run.pid, &cpu_ns, &memory);
		add_family(a->services[i].old.pid, &cpu_ns, &memory);
		add_tables(a->services[i].run.pid, &kernel);
		add_tables(a->services[i].old.pid, &kernel);
	}
	for (size_t i = 0; i < a->senders_cnt; i++)
		add_process(a->senders[i].pid, &cpu_ns, &memory);
	add_family(a->exporter.pid, &cpu_ns, &memory);
	if (span_s > 0)
		a->cpu_percent =
			(double)(cpu_ns > a->cpu_ns ? cpu_ns - a->cpu_ns : 0) / 1e7 / span_s;
	a->cpu_ns = cpu_ns;
	a->memory = memory;
	a->kernel = kernel;
}

static void put_service(struct json *j, const struct service *sv)
{
	const struct service_sums sums = service__sums(sv);

	json_open(j, '{');
	json_member_string(j, "name", sv->name);
	json_member_string(j, "state",
			   sv->run.pid	  ? "recording"
			   : sv->failures ? "failed"
					  : "waiting");
	json_member_u64(j, "pid", sv->run.pid);
	json_member_u64(j, "starts", sv->starts);
	json_member_u64(j, "failures", sv->failures);
	json_member_u64(j, "recordings", sums.recordings);
	json_member_u64(j, "unwritten", sums.unwritten);
	json_member_u64(j, "probe_ns", sums.probe_ns);
	json_member_u64(j, "cpu_ns", sums.cpu_ns);
	json_close(j, '}');
}

static void put_receiver(struct json *j, const struct sender *s)
{
	json_open(j, '{');
	json_member_string(j, "name", s->config->name);
	json_member_bool(j, "away", atomic_load(&s->share->away));
	json_member_u64(j, "sent", atomic_load(&s->share->sent));
	json_member_u64(j, "refused", atomic_load(&s->share->refused));
	json_member_u64(j, "missed", atomic_load(&s->share->missed));
	json_member_u64(j, "waiting", atomic_load(&s->share->waiting));
	json_member_u64(j, "bytes", atomic_load(&s->share->bytes));
	json_close(j, '}');
}

static void put_metrics(struct json *j, const struct agent *a)
{
	char address[320];

	json_member_open(j, "metrics", '{');
	json_member_string(j, "address",
			   net_address__name(&a->config.metrics.address, address, sizeof(address)));
	json_member_u64(j, "pid", a->exporter.pid);
	json_member_u64(j, "profiles", atomic_load(&a->exporter.share->profiles));
	json_member_u64(j, "missed", atomic_load(&a->exporter.share->missed));
	json_close(j, '}');
}

static void put_all(struct json *j, const struct agent *a)
{
	json_open(j, '{');
	json_member_u64(j, "schema", 1);
	json_member_string(j, "proftrace", PROFTRACE_VERSION);
	json_member_u64(j, "pid", getpid());
	json_member_u64(j, "time", time(NULL));
	json_member_u64(j, "cpu_ns", a->cpu_ns);
	json_member_double(j, "cpu_percent", a->cpu_percent);
	json_member_u64(j, "memory_bytes", a->memory);
	json_member_u64(j, "kernel_bytes", a->kernel);
	json_member_double(j, "budget_scale", a->budget.scale);
	json_member_open(j, "ring", '{');
	json_member_string(j, "path", a->config.ring);
	json_member_u64(j, "bytes", a->ring.bytes);
	json_member_u64(j, "recordings", a->ring.recordings);
	json_member_u64(j, "removed", a->ring.removed);
	json_close(j, '}');
	json_member_open(j, "services", '[');
	for (size_t i = 0; i < a->services_cnt; i++)
		put_service(j, &a->services[i]);
	json_close(j, ']');
	json_member_open(j, "receivers", '[');
	for (size_t i = 0; i < a->senders_cnt; i++) {
		if (a->senders[i].share)
			put_receiver(j, &a->senders[i]);
	}
	json_close(j, ']');
	if (a->exporter.share)
		put_metrics(j, a);
	json_close(j, '}');
	fputc('\n', j->out);
}

/* Whether a text begins as put_all() does: {"schema":1,"proftrace":"1.0","pid":123, */
static bool is_status(const char *text)
{
	static const char begin[] = "{\"schema\":1,\"proftrace\":\"", next[] = "\",\"pid\":";
	const char *version = text + strlen(begin);

	return !strncmp(text, begin, strlen(begin)) &&
	       !strncmp(version + strcspn(version, "\""), next, strlen(next));
}

const char *status__wrong_file(const char *path)
{
	static const char other[] = "another file is there, which no agent has written; name "
				    "another one, or remove it";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char text[256] = "";
	struct stat st;
	ssize_t len = 0;

	if (fd < 0)
		return errno == ENOENT || geteuid() ? NULL : other;
	if (fstat(fd, &st))
		st.st_mode = 0;
	if (S_ISREG(st.st_mode))
		len = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (S_ISDIR(st.st_mode))
		return "is a directory, not a file";
	return !S_ISREG(st.st_mode) || (len && !is_status(text)) ? other : NULL;
}

void status__write(const struct agent *a)
{
	static bool told;
	const char *wrong = status__wrong_file(a->config.status);
	char made[PATH_MAX];
	struct json j;
	FILE *f;
	int err = 0;

	if (wrong) {
		if (!told)
			log_warn("status is not written: %s: %s", a->config.status, wrong);
		told = true;
		return;
	}
	snprintf(made, sizeof(made), "%s.new", a->config.status);
	f = fopen(made, "we");
	if (f) {
		j = JSON_INIT(f);
		put_all(&j, a);
		if (ferror(f))
			err = -EIO;
		if (fclose(f) || err || rename(made, a->config.status))
			err = -errno;
	} else {
		err = -errno;
	}
	if (err && !told)
		log_warn("cannot write %s: %s", a->config.status, strerror(-err));
	told = err != 0;
}

void status__notify(const char *message)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, len);
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, message, strlen(message), MSG_NOSIGNAL, (struct sockaddr *)&to,
	       offsetof(struct sockaddr_un, sun_path) + len);
	close(fd);
}
