// SPDX-License-Identifier: GPL-2.0-or-later
#include "target/containers.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "security/opener.h"

#define MOST_BYTES (16u << 20) /* of a file; more is not looked at */

/* The text of a file; NULL: there is none. To be freed. */
static char *text_of(const char *path)
{
	FILE *f = opener__fopen(path);
	char *text = f ? malloc(MOST_BYTES + 1) : NULL;

	if (text)
		text[fread(text, 1, MOST_BYTES, f)] = '\0';
	if (f)
		fclose(f);
	return text;
}

/* Ids are of hexadecimal digits. */
static bool take_id(const char *at, char *id, size_t size)
{
	size_t len = strspn(at, "0123456789abcdef");

	if (!len || len >= size || isalnum((unsigned char)at[len]))
		return false;
	memcpy(id, at, len);
	id[len] = '\0';
	return true;
}

/* /var/lib/docker/containers/ID/config.v2.json has "Name":"/web". */
static bool in_docker(const char *path, const char *name, char *id, size_t size)
{
	const char *end = strrchr(path, '/'), *folder = end;
	char *text = text_of(path), wanted[300];
	bool found = false;

	snprintf(wanted, sizeof(wanted), "\"Name\":\"/%s\"", name);
	while (folder > path && folder[-1] != '/')
		folder--;
	if (text && strstr(text, wanted))
		found = take_id(folder, id, size);
	free(text);
	return found;
}

/* containers.json has an object a container: "id":"...","names":["web"]. */
static bool in_podman(const char *path, const char *name, char *id, size_t size)
{
	char *text = text_of(path), wanted[300], *at, *begin = NULL;
	bool found = false;

	snprintf(wanted, sizeof(wanted), "\"names\":[\"%s\"", name);
	at = text ? strstr(text, wanted) : NULL;
	for (char *seen = text; at && (seen = strstr(seen, "\"id\":\"")) && seen < at; seen++)
		begin = seen;
	if (begin)
		found = take_id(begin + strlen("\"id\":\""), id, size);
	free(text);
	return found;
}

/* The file of that name holds the id. */
static bool in_nerdctl(const char *path, const char *name, char *id, size_t size)
{
	char *text = strcmp(strrchr(path, '/') + 1, name) ? NULL : text_of(path);
	bool found = text && take_id(text, id, size);

	free(text);
	return found;
}

bool containers__id(const char *root, const char *name, char *id, size_t size)
{
	static const struct {
		const char *files;
		bool (*look)(const char *path, const char *name, char *id, size_t size);
	} engines[] = {
		{"/var/lib/docker/containers/*/config.v2.json", in_docker},
		{"/var/lib/containers/storage/*-containers/containers.json", in_podman},
		{"/home/*/.local/share/containers/storage/*-containers/containers.json", in_podman},
		{"/var/lib/nerdctl/*/names/*/*", in_nerdctl},
	};
	char pattern[4096];
	bool found = false;

	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines) && !found; i++) {
		glob_t files = {0};

		snprintf(pattern, sizeof(pattern), "%s%s", root, engines[i].files);
		if (!glob(pattern, GLOB_NOSORT, NULL, &files)) {
			for (size_t k = 0; k < files.gl_pathc && !found; k++)
				found = engines[i].look(files.gl_pathv[k], name, id, size);
		}
		globfree(&files);
	}
	return found;
}
