// SPDX-License-Identifier: GPL-2.0-or-later
/* Bounds of what the checksums cost by which separate debug files are found. */
#include "elf_fixture.h"

#include "elf/debug_file.c"

/* A stripped library without a build id, whose debug file is as large as that. */
static int make(const char *size)
{
	sh("echo 'void work(void) {}' > a.c && gcc -shared -g -Wl,--build-id=none -o a.so a.c && "
	   "objcopy --only-keep-debug a.so a.debug && truncate -s %s a.debug && "
	   "strip --remove-section=.gnu_debuglink a.so && "
	   "objcopy --add-gnu-debuglink=a.debug a.so",
	   size);
	return 0;
}

static int find(void)
{
	struct elf_image *img, *debug = NULL;
	int fd = open("a.so", O_RDONLY | O_CLOEXEC), err;

	assert_int_equal(elf_image__open(fd, "a.so", &img), 0);
	err = debug_file__find(img, "", &debug);
	elf_image__free(debug);
	elf_image__free(img);
	close(fd);
	return err;
}

static void checksums_of_many_files(void **state)
{
	make("+0");
	debug_file__renew();
	assert_int_equal(find(), 0);
	crc_sum = MAX_CRC_SUM - 1;
	assert_int_equal(find(), -ENOENT);
	assert_int_equal(find(), -ENOENT);
	debug_file__renew();
	assert_int_equal(find(), 0);
}

static void files_of_holes(void **state)
{
	make("32M");
	debug_file__renew();
	assert_int_equal(find(), 0);
	make("512M");
	assert_int_equal(find(), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksums_of_many_files),
		cmocka_unit_test(files_of_holes),
	};

	return cmocka_run_group_tests(tests, fixture_make, fixture_clean);
}
