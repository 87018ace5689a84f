// SPDX-License-Identifier: GPL-2.0-or-later
/* Users, files and folders that a configuration names, looked up on this machine. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config.h"
#include "agent/config_errors.h"
#include "agent/config_keys.h"
#include "agent/status.h"
#include "target/whom.h"

#define CERTIFICATES_MAX (4 << 20) /* of a file; all that systems trust are some 200 KiB */

static const char *wrong_user(const char *user)
{
	uid_t uid;
	int err = whom__user(user, &uid);

	return err == -ERANGE ? "users have numbers from 0 to 4294967294"
	       : err	      ? "there is no such user"
			      : NULL;
}

/* The begin of a file, ended with NUL, in memory that the caller frees. *wrong: why there is
 * none; NULL: it may be readable to the agent, which is root. */
static char *read_begin(const char *path, size_t max, const char **wrong)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text = NULL;
	struct stat st;
	ssize_t len;

	*wrong = NULL;
	if (fd < 0) {
		*wrong = geteuid() && errno == EACCES ? NULL : strerror(errno);
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		*wrong = S_ISDIR(st.st_mode) ? "is a directory, not a file" : "is no regular file";
	} else {
		text = calloc(1, max + 1);
		len = text ? read(fd, text, max) : -1;
		if (len < 0)
			*wrong = strerror(errno);
	}
	close(fd);
	return text;
}

static const char *wrong_secret(const char *path)
{
	const char *wrong;
	char *text = read_begin(path, 1, &wrong);

	if (text && !wrong && (!*text || strchr("\r\n", *text)))
		wrong = "its first line, which is to be the password or token, is empty";
	free(text);
	return wrong;
}

static const char *wrong_certificates(const char *path)
{
	const char *wrong;
	char *text = read_begin(path, CERTIFICATES_MAX, &wrong);

	if (text && !wrong && !strstr(text, "-----BEGIN CERTIFICATE-----") &&
	    !strstr(text, "-----BEGIN TRUSTED CERTIFICATE-----"))
		wrong = "there is no certificate in it (PEM, '-----BEGIN CERTIFICATE-----')";
	free(text);
	return wrong;
}

static const char *wrong_ring(const char *path)
{
	struct stat st;

	return stat(path, &st) || S_ISDIR(st.st_mode) ? NULL : "is there, and is no directory";
}

/* "clickhouse://user:password@host/database" */
static const char *wrong_url(const char *url)
{
	const char *host = strstr(url, "://"), *at, *colon;

	host = host ? host + 3 : url;
	at = memchr(host, '@', strcspn(host, "/"));
	colon = at ? memchr(host, ':', at - host) : NULL;
	return colon ? "whoever reads the configuration sees the password; write it into a file, "
		       "and name that by secret-file"
		     : NULL;
}

static const struct {
	const char *key;
	const char *(*wrong)(const char *value);
	bool quiet; /* the value is not for everybody */
} looks[] = {
	{"user", wrong_user, false},
	{"secret-file", wrong_secret, false},
	{"ca-file", wrong_certificates, false},
	{"ring", wrong_ring, false},
	{"status", status__wrong_file, false},
	{"url", wrong_url, true},
};

static bool has_error(const struct config *c, unsigned int line)
{
	for (size_t i = 0; i < c->errors_cnt; i++) {
		if (c->errors[i].line == line)
			return true;
	}
	return false;
}

int config__look(struct config *c)
{
	for (size_t i = 0; i < c->given_cnt; i++) {
		const struct config_given *g = &c->given[i];

		for (size_t j = 0; j < sizeof(looks) / sizeof(*looks); j++) {
			const bool concerned =
				!strcmp(looks[j].key, g->key->name) && !has_error(c, g->line);
			const char *wrong = concerned ? looks[j].wrong(g->value) : NULL;

			if (wrong)
				config__complain(c, g->line, "%s%s%s: %s", g->key->name,
						 looks[j].quiet ? "" : " = ",
						 looks[j].quiet ? "" : g->value, wrong);
		}
	}
	return c->no_memory ? -ENOMEM : 0;
}
