// SPDX-License-Identifier: GPL-2.0-or-later
#include "tables/file_names.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tables/bpf_tables.h"

/* The parts of a path come the innermost first, each with a 0 behind it. */
static char *path_text(const struct wire_file *f, size_t len, char buf[FILE_NAME_LEN])
{
	size_t end = len, to = 0;

	while (end) {
		size_t start = --end; /* the 0 behind the part */

		while (start && f->text[start - 1])
			start--;
		if (to + end - start + 2 > FILE_NAME_LEN)
			break;
		buf[to++] = '/';
		memcpy(buf + to, f->text + start, end - start);
		to += end - start;
		end = start;
	}
	if (!to)
		buf[to++] = '/';
	buf[to] = '\0';
	return buf;
}

static char *peer_text(const struct wire_file *f, const char *protocol, char buf[FILE_NAME_LEN])
{
	char address[INET6_ADDRSTRLEN] = "";

	inet_ntop(f->family, f->address, address, sizeof(address));
	snprintf(buf, FILE_NAME_LEN, f->family == AF_INET6 ? "%s [%s]:%u" : "%s %s:%u", protocol,
		 address, ntohs(f->port));
	return buf;
}

char *file_name__text(const struct wire_file *f, char buf[FILE_NAME_LEN])
{
	const char *protocol = f->type == SOCK_STREAM  ? "tcp"
			       : f->type == SOCK_DGRAM ? "udp"
						       : "ip";
	size_t len = f->len < sizeof(f->text) ? f->len : sizeof(f->text);

	*buf = '\0';
	switch (f->kind) {
	case WIRE_FILE_PATH:
		return path_text(f, len, buf);
	case WIRE_FILE_NAME: /* "[eventfd]" */
		if (len > 2 && *f->text == '[' && f->text[len - 1] == ']')
			snprintf(buf, FILE_NAME_LEN, "%.*s", (int)len - 2, f->text + 1);
		else
			snprintf(buf, FILE_NAME_LEN, "%.*s", (int)len, f->text);
		break;
	case WIRE_FILE_PIPE:
		strcpy(buf, "pipe");
		break;
	case WIRE_FILE_UNIX:
		snprintf(buf, FILE_NAME_LEN, len && !*f->text ? "unix @%.*s" : "unix %.*s",
			 len && !*f->text ? (int)len - 1 : (int)len, f->text + (len && !*f->text));
		break;
	case WIRE_FILE_PEER:
		return peer_text(f, protocol, buf);
	case WIRE_FILE_CLIENTS:
		snprintf(buf, FILE_NAME_LEN, "clients at %s port %u", protocol, ntohs(f->port));
		break;
	case WIRE_FILE_LISTENING:
		snprintf(buf, FILE_NAME_LEN, "connections to %s port %u", protocol, ntohs(f->port));
		break;
	}
	return buf;
}

const char *file_names__at(struct file_names *n, const struct bpf_tables *t, uint32_t number)
{
	char buf[FILE_NAME_LEN];

	if (!t->files || number >= WIRE_FILES ||
	    !__atomic_load_n(&t->files[number].ready, __ATOMIC_ACQUIRE))
		return NULL;
	if (!n->texts)
		n->texts = calloc(WIRE_FILES, sizeof(*n->texts));
	if (n->texts && !n->texts[number])
		n->texts[number] = strdup(file_name__text(&t->files[number], buf));
	return n->texts ? n->texts[number] : NULL;
}

uint64_t file_names__missing(const struct bpf_tables *t)
{
	uint64_t missing = 0;

	for (int i = 0; t->files && i < WIRE_CPUS; i++)
		missing += t->info.file_makers[i].unnamed;
	return missing;
}

void file_names__fini(struct file_names *n)
{
	for (int i = 0; n->texts && i < WIRE_FILES; i++)
		free(n->texts[i]);
	free(n->texts);
	*n = (struct file_names){0};
}
