// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * thread_context [THREADS [REQUESTS [LIBRARY]]]: loads the library, if one is named, and handles
 * requests on several threads, and publishes the trace and the span of each as SDKs of
 * OpenTelemetry do, in all ways that there are, and some that are wrong. Says of each "REQUEST
 * number trace span"; "- -": it has no valid context. With -DLIBRARY the variable is a library's,
 * which has the number of the request as well.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "target.h"

#include "proftrace.h"

struct record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t attributes_size;
	uint8_t attributes[8];
};

_Static_assert(sizeof(struct record) == 36, "it is packed");

#ifdef LIBRARY
extern __thread struct record *otel_thread_ctx_v1;
extern __thread uint64_t library_number;
extern __thread char library_text[24];
#else
static __thread uint64_t library_number;
static __thread char library_text[24];
/* Other variables that lie before the context in a thread's memory. */
__thread uint64_t before[5] = {1};
__thread struct record *otel_thread_ctx_v1;
#endif

/* A page, behind which there is none. */
#define PAGE   4096
#define HEADER 28 /* bytes of a record before its attributes */
static uint8_t *page;

static unsigned long requests;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned int sink;

TRACED void handle(uint64_t number)
{
	sink += number;
}

static void fill(struct record *r, uint64_t trace, uint64_t span)
{
	uint64_t begin = 0xa1b2c3d4e5f60718;

	*r = (struct record){.flags = 1, .attributes_size = 4, .attributes = {0, 2, 'i', 'd'}};
	memcpy(r->trace, &begin, 8);
	memcpy(r->trace + 8, &trace, 8);
	memcpy(r->span, &span, 8);
	r->valid = 1;
}

static void print(const uint8_t *bytes, size_t cnt)
{
	putchar(' ');
	for (size_t i = 0; i < cnt; i++)
		printf("%02x", bytes[i]);
}

static void request(uint64_t number, const struct record *r)
{
	library_number = number;
	snprintf(library_text, sizeof(library_text), "request %lu", (unsigned long)number);
	PROFTRACE_BEGIN("request");
	handle(number);
	PROFTRACE_END("request");
	pthread_mutex_lock(&lock);
	printf("REQUEST %lu", (unsigned long)number);
	if (r) {
		print(r->trace, sizeof(r->trace));
		print(r->span, sizeof(r->span));
	} else {
		printf(" - -");
	}
	putchar('\n');
	pthread_mutex_unlock(&lock);
}

/* Publishes a context in its own way. Returns what of it counts; NULL: none. */
static const struct record *publish(struct record *r, uint64_t number)
{
	fill(r, number, ~number);
	otel_thread_ctx_v1 = r;
	switch (number % 9) {
	case 0: /* no context */
		otel_thread_ctx_v1 = NULL;
		return NULL;
	case 1: /* being changed */
		r->valid = 0;
		return NULL;
	case 2: /* values that are reserved */
		r->valid = 2;
		return NULL;
	case 3: /* no trace */
		memset(r->trace, 0, sizeof(r->trace) + sizeof(r->span));
		return NULL;
	case 4: /* no memory there */
		otel_thread_ctx_v1 = (struct record *)16;
		return NULL;
	case 5: /* the trace can be read, but not whether it is valid */
		otel_thread_ctx_v1 = (struct record *)(page + PAGE - 24);
		return NULL;
	case 6: /* the kernel's memory */
		otel_thread_ctx_v1 = (struct record *)0xffffffff81000000;
		return NULL;
	case 7: /* a record at the end of memory */
		otel_thread_ctx_v1 = (struct record *)(page + PAGE - HEADER);
		return otel_thread_ctx_v1;
	default:
		return r;
	}
}

static void *work(void *arg)
{
	uint64_t first = (uintptr_t)arg * 1000;
	struct record records[2];

	for (uint64_t i = 0; i < requests; i++) {
		uint64_t number = first + i;
		const struct record *r = publish(&records[i % 2], number);

		request(number, r);
		if (r != &records[i % 2])
			continue;
		/* Another span of the same trace, in the same record. */
		fill(&records[i % 2], number, number << 8);
		request(number + 100000, r);
	}
	otel_thread_ctx_v1 = NULL;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[8];
	struct record last;
	unsigned long cnt;

	if (!strcmp(argv[argc - 1] + strcspn(argv[argc - 1], "."), ".so") &&
	    !dlopen(argv[argc - 1], RTLD_NOW))
		return 1;
	target_begin(&argc, &argv);
	cnt = target_arg(argc, argv, 1, 3);
	requests = target_arg(argc, argv, 2, 18);
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap(page + PAGE, PAGE) || cnt > 8)
		return 1;
	fill(&last, 7, 7);
	memcpy(page + PAGE - HEADER, &last, HEADER);
	for (size_t i = 0; i < cnt; i++) {
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)))
			return 1;
	}
	for (size_t i = 0; i < cnt; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
