// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stacks KIND [FIBERS [YIELDS [THREADS]]]: fibers that yield YIELDS times each in the midst of nested
 * calls, run by THREADS threads in turns. Every call returns. KIND is where their stacks are:
 *   bss       static arrays, side by side
 *   heap      each from malloc()
 *   adjacent  side by side in one mapping
 *   local     on the stack of the thread that makes them
 *   nested    on the stack of a fiber that makes them
 *   reused    each fiber is begun anew, on the stack that another has left in a call
 *   asm       mappings of their own, switched by this program: nobody is told where they are
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "target.h"

#define MAX_FIBERS  64
#define MAX_THREADS 4
#define STACK_SIZE  (64 * 1024)
#define GUARD_SIZE  4096

struct fiber {
	ucontext_t here, *back;
	void *sp, **back_sp; /* asm */
	unsigned long left;
};

static struct fiber fibers[MAX_FIBERS];
static unsigned long fibers_cnt, yields, threads_cnt, turn, running, abandoned;
static unsigned long live_cnt, outer_cnt, inner_cnt, leaf_cnt, run_cnt, pause_cnt;
static sem_t turns[MAX_THREADS];
static int by_asm;

/* Saves what a call must keep and goes on where `to` was saved. */
void coro_transfer(void **from, void *to);
__asm__(".text\n"
	".type coro_transfer, @function\n"
	"coro_transfer:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n"
	".size coro_transfer, .-coro_transfer\n");

static void to_fiber(struct fiber *f)
{
	ucontext_t back;
	void *sp;

	f->back = &back;
	f->back_sp = &sp;
	if (by_asm)
		coro_transfer(&sp, f->sp);
	else
		swapcontext(&back, &f->here);
}

static void from_fiber(struct fiber *f)
{
	if (by_asm)
		coro_transfer(&f->sp, *f->back_sp);
	else
		swapcontext(&f->here, f->back);
}

TRACED void leaf(void)
{
	leaf_cnt++;
}

TRACED void inner(struct fiber *self)
{
	inner_cnt++;
	leaf();
	from_fiber(self);
	leaf();
}

TRACED void outer(struct fiber *self)
{
	outer_cnt++;
	inner(self);
}

TRACED void live(struct fiber *self)
{
	live_cnt++;
	while (self->left) {
		self->left--;
		outer(self);
	}
}

static void begin(int index)
{
	live(&fibers[index]);
	running--;
	for (;;)
		from_fiber(&fibers[index]);
}

static void begin_asm(void)
{
	/* A thread that goes to a fiber for the first time has it in turn. */
	begin(turn / threads_cnt % fibers_cnt);
}

static void make(int index, char *stack, size_t size, void (*entry)(int))
{
	struct fiber *f = &fibers[index];

	f->left = yields;
	if (by_asm) {
		void **top = (void **)(stack + size) - 8;

		top[6] = (void *)begin_asm; /* returned to, with the stack aligned as after a call */
		f->sp = top;
		return;
	}
	getcontext(&f->here);
	f->here.uc_stack.ss_sp = stack;
	f->here.uc_stack.ss_size = size;
	makecontext(&f->here, (void (*)(void))entry, 1, index);
}

static char *map(size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Each thread in turn lets the next fiber run up to its next yield. */
static void *work(void *arg)
{
	unsigned long me = (unsigned long)arg, next = (me + 1) % threads_cnt;

	for (;;) {
		sem_wait(&turns[me]);
		if (!running)
			break;
		to_fiber(&fibers[turn / threads_cnt % fibers_cnt]);
		turn++;
		sem_post(&turns[next]);
	}
	sem_post(&turns[next]);
	return NULL;
}

TRACED void run(void)
{
	pthread_t threads[MAX_THREADS];

	run_cnt++;
	running = fibers_cnt;
	for (unsigned long i = 0; i < threads_cnt; i++)
		sem_init(&turns[i], 0, i == 0);
	for (unsigned long i = 1; i < threads_cnt; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	work(0);
	for (unsigned long i = 1; i < threads_cnt; i++)
		pthread_join(threads[i], NULL);
}

TRACED void make_on(char *area)
{
	for (unsigned long i = 0; i < fibers_cnt; i++)
		make(i, area + i * STACK_SIZE, STACK_SIZE, begin);
	run();
}

static void local(void)
{
	char area[fibers_cnt * STACK_SIZE];

	make_on(area);
}

/* A call that nobody comes back to. */
TRACED void pause_for_good(struct fiber *self)
{
	pause_cnt++;
	from_fiber(self);
}

static void abandon(int index)
{
	pause_for_good(&fibers[index]);
}

static ucontext_t main_context, host_context;

static void host(void)
{
	local();
	setcontext(&main_context);
}

static void run_nested(void)
{
	size_t size = (fibers_cnt + 2) * STACK_SIZE;

	getcontext(&host_context);
	host_context.uc_stack.ss_sp = map(size);
	host_context.uc_stack.ss_size = size;
	makecontext(&host_context, host, 0);
	swapcontext(&main_context, &host_context);
}

static void run_reused(char *area)
{
	for (unsigned long i = 0; i < fibers_cnt; i++) {
		make(i, area + i * STACK_SIZE, STACK_SIZE, abandon);
		to_fiber(&fibers[i]);
		abandoned++;
	}
	make_on(area);
}

static void run_apart(int guarded)
{
	for (unsigned long i = 0; i < fibers_cnt; i++) {
		char *stack = guarded ? map(STACK_SIZE + GUARD_SIZE) : malloc(STACK_SIZE);

		if (guarded)
			mprotect(stack, GUARD_SIZE, PROT_NONE);
		make(i, stack + (guarded ? GUARD_SIZE : 0), STACK_SIZE, begin);
	}
	run();
}

int main(int argc, char **argv)
{
	static char area[MAX_FIBERS * STACK_SIZE];

	target_begin(&argc, &argv);
	const char *kind = argc > 1 ? argv[1] : "bss";

	fibers_cnt = target_arg(argc, argv, 2, 5);
	yields = target_arg(argc, argv, 3, 20);
	threads_cnt = target_arg(argc, argv, 4, 1);
	if (fibers_cnt > MAX_FIBERS || threads_cnt > MAX_THREADS)
		return 2;
	by_asm = !strcmp(kind, "asm");
	if (!strcmp(kind, "local"))
		local();
	else if (!strcmp(kind, "nested"))
		run_nested();
	else if (!strcmp(kind, "heap") || by_asm)
		run_apart(by_asm);
	else if (!strcmp(kind, "reused"))
		run_reused(area);
	else
		make_on(!strcmp(kind, "adjacent") ? map(fibers_cnt * STACK_SIZE) : area);
	target_count("live", live_cnt);
	target_count("outer", outer_cnt);
	target_count("inner", inner_cnt);
	target_count("leaf", leaf_cnt);
	target_count("run", run_cnt);
	if (abandoned)
		target_count("pause_for_good", pause_cnt);
	return 0;
}
