// SPDX-License-Identifier: GPL-2.0-or-later
/* A file for each kind of programs that BPF may have loaded; its first line says what it is about.
 */
#include "calibrate/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/costs.h"

#define MAX_COST 1000000 /* ns; nothing is that dear */

/* The key that figures are kept by: this boot, this program, this way to attach. */
static bool make_key(const char *programs, char *key, size_t size)
{
	char boot[40] = "";
	struct stat st;
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(boot, sizeof(boot), f) && !stat("/proc/self/exe", &st);
	fclose(f);
	boot[strcspn(boot, "\n")] = '\0';
	if (ok)
		snprintf(key, size, "%s %s %llx.%llx.%lld.%ld", programs, boot,
			 (unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
			 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return ok;
}

/* Returns false if the name is too long. */
static bool make_path(const char *directory, const char *programs, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/costs-%s", directory, programs) < PATH_MAX;
}

/* Nobody else may have put it there. */
static bool is_ours(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

static bool read_costs(FILE *f, const char *key, struct probe_costs *out)
{
	char line[256];

	if (!fgets(line, sizeof(line), f) || strncmp(line, key, strlen(key)) ||
	    line[strlen(key)] != '\n')
		return false;
	if (fscanf(f, "%lf %lf %lf", &out->spread, &out->cold_gain, &out->burden) != 3 ||
	    !(out->burden >= 1 && out->burden < MAX_COST) ||
	    !(out->cold_gain >= 0 && out->cold_gain < MAX_COST) ||
	    !(out->spread >= 0 && out->spread <= CACHE_MAX_SPREAD))
		return false;
	for (int i = 0; i < WIRE_COST_CLASSES; i++) {
		int64_t inside_ns, outside_ns; /* wide, as numbers that do not fit are cut */

		if (fscanf(f, "%" SCNd64 " %" SCNd64, &inside_ns, &outside_ns) != 2 ||
		    inside_ns < -MAX_COST || inside_ns > MAX_COST || outside_ns < -MAX_COST ||
		    outside_ns > MAX_COST)
			return false;
		out->classes[i] = (struct wire_cost){inside_ns, outside_ns};
	}
	/* A last number without its end may be half of one. */
	return fgetc(f) == '\n' && fgetc(f) == EOF;
}

bool cache__read(const char *directory, const char *programs, struct probe_costs *out)
{
	char key[160], path[PATH_MAX];
	bool ok = false;
	FILE *f;
	int fd;

	memset(out, 0, sizeof(*out));
	if (!make_key(programs, key, sizeof(key)) || !make_path(directory, programs, path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	f = fd >= 0 && is_ours(fd) ? fdopen(fd, "r") : NULL;
	if (f) {
		ok = read_costs(f, key, out);
		fclose(f);
	} else if (fd >= 0) {
		close(fd);
	}
	if (!ok)
		memset(out, 0, sizeof(*out));
	return ok;
}

static bool write_costs(FILE *f, const char *key, const struct probe_costs *costs)
{
	fprintf(f, "%s\n%.6f %.6f %.6f\n", key, costs->spread, costs->cold_gain, costs->burden);
	for (int i = 0; i < WIRE_COST_CLASSES; i++)
		fprintf(f, "%" PRId32 " %" PRId32 "\n", costs->classes[i].inside_ns,
			costs->classes[i].outside_ns);
	return !fflush(f) && !ferror(f);
}

void cache__write(const char *directory, const char *programs, const struct probe_costs *costs)
{
	char key[160], path[PATH_MAX], new[PATH_MAX + 8];
	bool ok = false;
	FILE *f;
	int fd;

	if (costs->spread > CACHE_MAX_SPREAD || !make_key(programs, key, sizeof(key)) ||
	    !make_path(directory, programs, path) || (mkdir(directory, 0755) && errno != EEXIST))
		return;
	snprintf(new, sizeof(new), "%s.XXXXXX", path);
	fd = mkostemp(new, O_CLOEXEC);
	f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (f) {
		ok = write_costs(f, key, costs);
		ok = !fclose(f) && ok;
	} else if (fd >= 0) {
		close(fd);
	}
	if (fd >= 0 && (!ok || rename(new, path)))
		unlink(new);
}
