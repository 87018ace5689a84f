// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * causes KIND [SESSIONS [EVERY [MS [PATH]]]]: handles SESSIONS requests (200), each in `handle`, of
 * which one in EVERY (50) takes some MS (20) milliseconds longer, for the cause that KIND names: see
 * `kinds` below. What the request waits for is done by the thread "helper", in the function that the
 * table names. PATH: the file or device that "disk" writes to. The last line, as "BEYOND us 400", is
 * by how much the longest of the slow requests exceeds the shortest of these, or the longest of the
 * others the shortest of those, whichever is more: the machine has delayed that one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target.h"

#define MS	  1000000ul
#define PIPE_ROOM 65536

struct message {
	long type;
	char text[8];
};

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t cache_lock = PTHREAD_RWLOCK_INITIALIZER;
struct {
	char name[64];
	pthread_mutex_t lock;
} log_file = {.lock = PTHREAD_MUTEX_INITIALIZER};
pthread_cond_t task_ready = PTHREAD_COND_INITIALIZER, reply_ready = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t task_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
sem_t items;
static sem_t asked, begun;
static int disk = -1, tasks, pipe_fds[2], other_fds[2], unix_fds[2], tcp_fds[2], files[2], event,
	   epoll, queue;
static void (*volatile help)(void);
static volatile unsigned long sink;
static unsigned long extra_ms = 20;
static struct {
	unsigned long least_ns, most_ns;
} took[2]; /* slow: 1 */

static void fail_if(int failed)
{
	if (failed) {
		perror("causes");
		_exit(1);
	}
}

static void pause_ns(unsigned long ns)
{
	struct timespec time = {.tv_nsec = ns};

	while (nanosleep(&time, &time))
		;
}

static void spin(unsigned long rounds)
{
	while (rounds--)
		sink += rounds;
}

static void spin_ns(unsigned long ns)
{
	for (unsigned long until = target_now_ns() + ns; target_now_ns() < until;)
		spin(100);
}

/* The helper's work. */
TRACED void flush_log(void)
{
	pthread_mutex_lock(&table_lock);
	sem_post(&begun);
	pause_ns(extra_ms * MS);
	pthread_mutex_unlock(&table_lock);
}

TRACED void write_log(void)
{
	pthread_mutex_lock(&log_file.lock);
	sem_post(&begun);
	spin_ns(extra_ms * MS);
	pthread_mutex_unlock(&log_file.lock);
}

TRACED void fill_cache(void)
{
	pthread_rwlock_wrlock(&cache_lock);
	sem_post(&begun);
	pause_ns(extra_ms * MS);
	pthread_rwlock_unlock(&cache_lock);
}

TRACED void scan_cache(void)
{
	pthread_rwlock_rdlock(&cache_lock);
	sem_post(&begun);
	pause_ns(extra_ms * MS);
	pthread_rwlock_unlock(&cache_lock);
}

TRACED void lock_file(void)
{
	flock(files[1], LOCK_EX);
	sem_post(&begun);
	pause_ns(extra_ms * MS);
	flock(files[1], LOCK_UN);
}

TRACED void produce(void)
{
	pause_ns(extra_ms * MS);
	pthread_mutex_lock(&task_lock);
	tasks++;
	pthread_cond_signal(&task_ready);
	pthread_mutex_unlock(&task_lock);
}

TRACED void post_item(void)
{
	pause_ns(extra_ms * MS);
	sem_post(&items);
}

TRACED void arrive_late(void)
{
	pause_ns(extra_ms * MS);
	pthread_barrier_wait(&barrier);
}

TRACED void answer_pipe(void)
{
	pause_ns(extra_ms * MS);
	fail_if(write(pipe_fds[1], "", 1) != 1);
}

TRACED void answer_unix(void)
{
	pause_ns(extra_ms * MS);
	fail_if(send(unix_fds[1], "", 1, 0) != 1);
}

TRACED void answer_tcp(void)
{
	pause_ns(extra_ms * MS);
	fail_if(send(tcp_fds[1], "", 1, 0) != 1);
}

TRACED void answer_event(void)
{
	unsigned long one = 1;

	pause_ns(extra_ms * MS);
	fail_if(write(event, &one, sizeof(one)) != sizeof(one));
}

TRACED void send_message(void)
{
	struct message message = {.type = 1};

	pause_ns(extra_ms * MS);
	fail_if(msgsnd(queue, &message, sizeof(message.text), 0));
}

TRACED void drain_pipe(void)
{
	static char room[PIPE_ROOM];

	pause_ns(extra_ms * MS);
	fail_if(read(other_fds[0], room, sizeof(room)) <= 0);
}

TRACED void burn(void)
{
	sem_post(&begun);
	spin_ns(2 * extra_ms * MS);
}

/* The work of a request. `slow`: this one is to take longer. */
TRACED void lock_table(int slow)
{
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
}

/* By another operation of the kernel than a lock without a deadline, and that of Rust's. */
TRACED void lock_in_time(int slow)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 60;
	pthread_mutex_timedlock(&table_lock, &end);
	pthread_mutex_unlock(&table_lock);
}

TRACED void lock_log(int slow)
{
	pthread_mutex_lock(&log_file.lock);
	pthread_mutex_unlock(&log_file.lock);
}

TRACED void read_cache(int slow)
{
	pthread_rwlock_rdlock(&cache_lock);
	pthread_rwlock_unlock(&cache_lock);
}

TRACED void write_cache(int slow)
{
	pthread_rwlock_wrlock(&cache_lock);
	pthread_rwlock_unlock(&cache_lock);
}

TRACED void own_file(int slow)
{
	flock(files[0], LOCK_EX);
	flock(files[0], LOCK_UN);
}

TRACED void take_task(int slow)
{
	pthread_mutex_lock(&task_lock);
	while (slow && !tasks)
		pthread_cond_wait(&task_ready, &task_lock);
	tasks = 0;
	pthread_mutex_unlock(&task_lock);
}

TRACED void await_late_reply(int slow)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += extra_ms * MS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&task_lock);
	while (slow && !err)
		err = pthread_cond_timedwait(&reply_ready, &task_lock, &until);
	pthread_mutex_unlock(&task_lock);
}

TRACED void take_item(int slow)
{
	while (slow && sem_wait(&items))
		;
}

TRACED void meet(int slow)
{
	if (slow)
		pthread_barrier_wait(&barrier);
}

static void *side_work(void *arg)
{
	pthread_setname_np(pthread_self(), "side");
	pause_ns(extra_ms * MS);
	return arg;
}

TRACED void join_side(int slow)
{
	pthread_t side;

	if (!slow)
		return;
	pthread_create(&side, NULL, side_work, NULL);
	pthread_join(side, NULL);
}

TRACED void read_pipe(int slow)
{
	char byte;

	fail_if(slow && read(pipe_fds[0], &byte, 1) != 1);
}

TRACED void receive_unix(int slow)
{
	char byte;

	fail_if(slow && recv(unix_fds[0], &byte, 1, 0) != 1);
}

TRACED void receive_tcp(int slow)
{
	char byte;

	fail_if(slow && recv(tcp_fds[0], &byte, 1, 0) != 1);
}

TRACED void read_event(int slow)
{
	unsigned long count;

	fail_if(slow && read(event, &count, sizeof(count)) != sizeof(count));
}

TRACED void poll_two(int slow)
{
	struct pollfd fds[] = {{.fd = pipe_fds[0], .events = POLLIN},
			       {.fd = unix_fds[0], .events = POLLIN}};
	char byte;

	fail_if(slow && (poll(fds, 2, 10000) != 1 || read(pipe_fds[0], &byte, 1) != 1));
}

TRACED void wait_events(int slow)
{
	struct epoll_event got;
	char byte;

	fail_if(slow &&
		(epoll_wait(epoll, &got, 1, 10000) != 1 || read(pipe_fds[0], &byte, 1) != 1));
}

/* The request waits for a reply, which is not the only one that could come. */
TRACED void await_reply(int slow)
{
	struct epoll_event got;
	char byte;

	fail_if(slow &&
		(epoll_wait(epoll, &got, 1, 10000) != 1 || recv(tcp_fds[0], &byte, 1, 0) != 1));
}

TRACED void receive_message(int slow)
{
	struct message message;

	fail_if(slow && msgrcv(queue, &message, sizeof(message.text), 0, 0) < 0);
}

TRACED void fill_pipe(int slow)
{
	static char room[PIPE_ROOM];

	if (slow)
		fail_if(write(other_fds[1], room, sizeof(room)) != sizeof(room) ||
			write(other_fds[1], room, 1) != 1 || read(other_fds[0], room, 1) != 1);
}

TRACED void nap(int slow)
{
	if (slow)
		pause_ns(extra_ms * MS);
}

TRACED void tick(int slow)
{
	struct itimerspec time = {.it_value.tv_nsec = extra_ms * MS};
	unsigned long expired;
	int timer;

	if (!slow)
		return;
	timer = timerfd_create(CLOCK_MONOTONIC, 0);
	timerfd_settime(timer, 0, &time, NULL);
	fail_if(read(timer, &expired, sizeof(expired)) != sizeof(expired));
	close(timer);
}

TRACED void save(int slow)
{
	unsigned long until = target_now_ns() + extra_ms * MS;

	static char block[4096] __attribute__((aligned(4096)));

	while (slow && target_now_ns() < until)
		fail_if(pwrite(disk, block, sizeof(block), 0) != sizeof(block));
}

TRACED void run_child(int slow)
{
	pid_t pid = slow ? fork() : -1;

	if (!pid) {
		pause_ns(extra_ms * MS);
		_exit(0);
	}
	if (slow)
		waitpid(pid, NULL, 0);
}

TRACED void get_stopped(int slow)
{
	pid_t pid = slow ? fork() : -1;

	if (pid < 0)
		return;
	while (!pid) { /* perhaps before we are stopped, so again */
		pause_ns(extra_ms * MS);
		kill(getppid(), SIGCONT);
	}
	raise(SIGSTOP);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TRACED void compute(int slow)
{
	spin_ns(slow ? extra_ms * MS / 2 : MS / 10);
}

TRACED void parse(int slow)
{
	spin(slow ? 2000000 * extra_ms : 10000);
}

TRACED void rehash(void)
{
	spin(1000000);
}

TRACED void insert(int slow)
{
	for (unsigned long i = 0; i < (slow ? 2 * extra_ms + 1 : 2); i++)
		rehash();
}

TRACED void fetch(void)
{
	pause_ns(MS);
}

TRACED void fetch_all(int slow)
{
	for (unsigned long i = 0; i < (slow ? extra_ms + 1 : 1); i++)
		fetch();
}

static const struct kind {
	const char *name;
	void (*act)(int slow);
	void (*help)(void); /* what the helper does meanwhile; NULL: nothing */
	int waits;	    /* until it has begun */
} kinds[] = {
	{"mutex", lock_table, flush_log, 1},
	{"timed_mutex", lock_in_time, flush_log, 1},
	{"busy_holder", lock_log, write_log, 1},
	{"rwlock", read_cache, fill_cache, 1},
	{"rwlock_writer", write_cache, fill_cache, 1},
	{"rwlock_readers", write_cache, scan_cache, 1},
	{"file_lock", own_file, lock_file, 1},
	{"condition", take_task, produce, 0},
	{"deadline", await_late_reply, NULL, 0},
	{"semaphore", take_item, post_item, 0},
	{"barrier", meet, arrive_late, 0},
	{"join", join_side, NULL, 0},
	{"pipe", read_pipe, answer_pipe, 0},
	{"full_pipe", fill_pipe, drain_pipe, 0},
	{"unix", receive_unix, answer_unix, 0},
	{"tcp", receive_tcp, answer_tcp, 0},
	{"event", read_event, answer_event, 0},
	{"poll", poll_two, answer_pipe, 0},
	{"epoll", wait_events, answer_pipe, 0},
	{"reply", await_reply, answer_tcp, 0},
	{"messages", receive_message, send_message, 0},
	{"sleep", nap, NULL, 0},
	{"timer", tick, NULL, 0},
	{"disk", save, NULL, 0},
	{"child", run_child, NULL, 0},
	{"stopped", get_stopped, NULL, 0},
	{"cpu", compute, burn, 1},
	{"slower", parse, NULL, 0},
	{"more_work", insert, NULL, 0},
	{"more_waits", fetch_all, NULL, 0},
};

static void *helper(void *arg)
{
	pthread_setname_np(pthread_self(), "helper");
	for (;;) {
		while (sem_wait(&asked))
			;
		help();
	}
	return arg;
}

TRACED void handle(const struct kind *kind, int slow)
{
	kind->act(slow);
}

static void request(const struct kind *kind, int slow)
{
	if (slow && kind->help) {
		help = kind->help;
		sem_post(&asked);
		while (kind->waits && sem_wait(&begun))
			;
	}
	unsigned long ns = target_now_ns();

	handle(kind, slow);
	ns = target_now_ns() - ns;
	if (!took[slow].least_ns || ns < took[slow].least_ns)
		took[slow].least_ns = ns;
	if (ns > took[slow].most_ns)
		took[slow].most_ns = ns;
}

static unsigned long beyond_us(int slow)
{
	return (took[slow].most_ns - took[slow].least_ns) / 1000;
}

static void connect_tcp(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(at);

	fail_if(bind(listener, (void *)&at, size) || listen(listener, 1) ||
		getsockname(listener, (void *)&at, &size));
	tcp_fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	fail_if(connect(tcp_fds[1], (void *)&at, size));
	tcp_fds[0] = accept(listener, NULL, NULL);
	fail_if(tcp_fds[0] < 0);
}

static void open_all(const char *disk_path)
{
	char path[] = "/tmp/causes.XXXXXX";
	struct epoll_event wanted = {.events = EPOLLIN};

	fail_if(pipe(pipe_fds) || pipe(other_fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, unix_fds));
	connect_tcp();
	if (disk_path)
		disk = open(disk_path, O_WRONLY | O_DIRECT);
	files[0] = mkstemp(path);
	files[1] = open(path, O_RDWR);
	fail_if(files[0] < 0 || files[1] < 0 || unlink(path));
	event = eventfd(0, 0);
	epoll = epoll_create1(0);
	fail_if(event < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, pipe_fds[0], &wanted) ||
		epoll_ctl(epoll, EPOLL_CTL_ADD, tcp_fds[0], &wanted));
	queue = msgget(IPC_PRIVATE, 0600);
	fail_if(queue < 0);
	fail_if(fcntl(other_fds[1], F_SETPIPE_SZ, PIPE_ROOM) < 0);
	sem_init(&items, 0, 0);
	sem_init(&asked, 0, 0);
	sem_init(&begun, 0, 0);
	pthread_barrier_init(&barrier, NULL, 2);
}

/* Puts both threads on one CPU. */
static void share_cpu(void)
{
	cpu_set_t all, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

int main(int argc, char **argv)
{
	const struct kind *kind = NULL;
	unsigned long sessions, every;
	pthread_t thread;

	target_begin(&argc, &argv);
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(kinds[i].name, argv[1]))
			kind = &kinds[i];
	}
	if (!kind)
		return 2;
	sessions = target_arg(argc, argv, 2, 200);
	every = target_arg(argc, argv, 3, 50);
	extra_ms = target_arg(argc, argv, 4, extra_ms);
	open_all(argc > 5 ? argv[5] : NULL);
	if (kind->act == compute)
		share_cpu();
	pthread_create(&thread, NULL, helper, NULL);
	for (unsigned long i = 1; i <= sessions; i++)
		request(kind, every && i % every == 0);
	msgctl(queue, IPC_RMID, NULL);
	target_count("handle", sessions);
	printf("BEYOND us %lu\n", beyond_us(0) > beyond_us(1) ? beyond_us(0) : beyond_us(1));
	return 0;
}
