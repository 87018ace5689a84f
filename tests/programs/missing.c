// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells of mapped files as the dynamic linker does, by calling a notification function of its name,
 * while the page that has the state is not there: whoever reads it waits for a handler
 * (userfaultfd), which there is none. Says "told" when the call has returned, and "unable" if the
 * page cannot be taken away.
 */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "target.h"

#define PAGE 4096

static unsigned long calls;

TRACED void work(void)
{
	calls++;
}

char _r_debug[PAGE] __attribute__((aligned(PAGE))); /* nothing else is on its page */

TRACED void _dl_debug_state(void)
{
	asm volatile("");
}

/* Takes the page away. */
static int take(void *page)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)page, PAGE},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return -1;
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) != page)
		return -1;
	return ioctl(fd, UFFDIO_REGISTER, &range) ? -1 : fd;
}

int main(int argc, char **argv)
{
	const char *said = "told";
	int fd;

	target_begin(&argc, &argv);
	work();
	fd = take(_r_debug);
	if (fd < 0)
		said = "unable";
	else
		_dl_debug_state();
	close(fd);
	target_say(said);
	work();
	target_count("work", calls);
	return 0;
}
