// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tells of mapped files as the dynamic linker does, by calling its notification function, while the
 * page that has its state is not there: whoever reads it waits for a handler (userfaultfd), which
 * there is none. Says "told" when the call has returned, and "unable" if the page cannot be taken
 * away.
 */
#include <fcntl.h>
#include <link.h>
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

static struct r_debug *find_state(void)
{
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_DEBUG)
			return (struct r_debug *)d->d_un.d_ptr;
	}
	return NULL;
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
	struct r_debug *state = find_state();
	void *page = (void *)((uintptr_t)&state->r_state & ~(uintptr_t)(PAGE - 1));
	void (*tell)(void) = (void (*)(void))state->r_brk;
	static char saved[PAGE];
	const char *said = "told";
	int fd;

	target_begin(&argc, &argv);
	work();
	memcpy(saved, page, PAGE);
	fd = take(page);
	if (fd < 0)
		said = "unable";
	else
		tell();
	/* Back, as it was. */
	close(fd);
	mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memcpy(page, saved, PAGE);
	target_say(said);
	work();
	target_count("work", calls);
	return 0;
}
