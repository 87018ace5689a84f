// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/sender.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "agent/ring.h"
#include "agent/service.h"
#include "fleet/receiver.h"
#include "util/log.h"

#define SECRET_MAX  4096
#define IDLE_S	    2
#define BACKOFF_MAX 60 /* seconds */
#define ASKED_MAX   3600
#define NOTE_MAX    256

struct sending {
	const struct config_receiver *config;
	const struct config *c;
	struct sender_share *share;
	struct receiver *receiver;
	unsigned int backoff_s; /* 0: the last one was taken */
	char note[NOTE_MAX];	/* that was told last */
};

static bool is_asked_for(const struct config_receiver *r, const char *service)
{
	const char *at = r->services;
	size_t len = strlen(service);

	if (!at)
		return true;
	while (*at) {
		at += strspn(at, ", \t");
		if (!strncmp(at, service, len) && (!at[len] || strchr(", \t", at[len])))
			return true;
		at += strcspn(at, ", \t");
	}
	return false;
}

/* Logs a receiver's remark on a recording that it has taken, unless it is the same as last time. */
static void tell_note(struct sending *s, const char *path)
{
	const char *note = receiver__note(s->receiver);

	if (!*note || !strncmp(note, s->note, sizeof(s->note) - 1))
		return;
	snprintf(s->note, sizeof(s->note), "%s", note);
	log_warn("%s: %s", path, note);
}

static void note_failure(struct sending *s)
{
	uint32_t asked_s = receiver__retry_s(s->receiver);

	if (!s->backoff_s)
		log_warn("%s", receiver__error(s->receiver));
	s->backoff_s = s->backoff_s ? s->backoff_s * 2 : 1;
	if (s->backoff_s > BACKOFF_MAX)
		s->backoff_s = BACKOFF_MAX;
	/* A receiver may ask for a longer wait than ours. */
	if (asked_s <= ASKED_MAX && asked_s > s->backoff_s)
		s->backoff_s = asked_s;
	atomic_store(&s->share->away, true);
}

/* Sends one recording, and notes how far we are. Returns whether there may be more to send. */
static bool send_one(struct sending *s, const struct config_service *sv, const char *folder,
		     uint64_t *waiting)
{
	struct recording_labels labels = {.service = sv->name, .version = sv->version};
	struct ring_place place;
	char path[PATH_MAX];
	uint64_t number;
	enum receiver_result result;

	*waiting = 0;
	if (ring__load_place(folder, s->config->name, &place))
		return false;
	number = ring__next(folder, &place, path, sizeof(path), waiting);
	if (!number)
		return false;
	labels.fresh = place.tried < number;
	place.tried = number;
	/* `tried` is stored first: after a crash the recording does not count as new to the
	 * receiver. */
	if (ring__store_place(folder, s->config->name, &place))
		return false;
	result = receiver__send(s->receiver, path, &labels);
	atomic_store(&s->share->bytes, receiver__bytes(s->receiver));
	if (access(path, F_OK) && result != RECEIVER_SENT)
		return true; /* it has gone meanwhile, and counts as missed at the next look */
	if (result == RECEIVER_LATER) {
		note_failure(s);
		return false;
	}
	if (s->backoff_s)
		log_warn("%s takes recordings again", receiver__name(s->receiver));
	s->backoff_s = 0;
	atomic_store(&s->share->away, false);
	if (result == RECEIVER_REFUSED)
		log_warn("%s is refused: %s", path, receiver__error(s->receiver));
	else
		tell_note(s, path);
	place.sent += result == RECEIVER_SENT;
	place.refused += result == RECEIVER_REFUSED;
	place.number = number;
	return !ring__store_place(folder, s->config->name, &place);
}

static void add_up(struct sending *s)
{
	struct ring_place sum = {0}, p;
	char folder[PATH_MAX];

	for (size_t i = 0; i < s->c->services_cnt; i++) {
		snprintf(folder, sizeof(folder), "%s/%s", s->c->ring, s->c->services[i].name);
		if (ring__load_place(folder, s->config->name, &p))
			continue;
		sum.sent += p.sent;
		sum.refused += p.refused;
		sum.missed += p.missed;
	}
	atomic_store(&s->share->sent, sum.sent);
	atomic_store(&s->share->refused, sum.refused);
	atomic_store(&s->share->missed, sum.missed);
}

static void send_all(struct sending *s)
{
	for (;;) {
		uint64_t waiting, all = 0;
		bool more = false;

		for (size_t i = 0; i < s->c->services_cnt; i++) {
			const struct config_service *sv = &s->c->services[i];
			char folder[PATH_MAX];

			if (!is_asked_for(s->config, sv->name))
				continue;
			snprintf(folder, sizeof(folder), "%s/%s", s->c->ring, sv->name);
			more |= send_one(s, sv, folder, &waiting);
			all += waiting;
		}
		atomic_store(&s->share->waiting, all);
		add_up(s);
		if (!more)
			sleep(s->backoff_s ? s->backoff_s : IDLE_S);
	}
}

/* The first line of a file; NULL: none, which is told. The caller frees it. */
static char *read_secret(const char *path)
{
	char *text = calloc(1, SECRET_MAX);
	FILE *f = text ? fopen(path, "re") : NULL;

	if (!f || !fgets(text, SECRET_MAX, f)) {
		log_error("cannot read the secret in %s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	} else {
		text[strcspn(text, "\r\n")] = '\0';
	}
	if (f)
		fclose(f);
	return text;
}

static const char *speaker;

static void say_as(enum log_level level, const char *line)
{
	if (level <= LOG_WARN)
		fprintf(stderr, "proftrace: receiver %s: %s\n", speaker, line);
}

static int run(struct sending *s)
{
	struct receiver_options options = {.ca_file = s->config->ca_file};
	char *secret = NULL;

	if (s->config->secret_file) {
		secret = read_secret(s->config->secret_file);
		options.secret = secret;
		if (!secret)
			return 1;
	}
	if (receiver__open(s->config->url, &options, &s->receiver))
		return 1;
	free(secret);
	send_all(s);
	return 1;
}

int sender__begin(struct sender *s, const struct config *c)
{
	struct sending sending = {.config = s->config, .c = c};
	pid_t parent = getpid();

	if (!s->share) {
		s->share = mmap(NULL, sizeof(*s->share), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (s->share == MAP_FAILED) {
			s->share = NULL;
			return -errno;
		}
	}
	s->pid = fork();
	if (s->pid < 0) {
		s->pid = 0;
		return -errno;
	}
	if (!s->pid) {
		service__become_child(parent, c->lock, c->memory);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		speaker = s->config->name;
		log_divert(say_as);
		sending.share = s->share;
		_exit(run(&sending));
	}
	return 0;
}

void sender__fini(struct sender *s)
{
	if (s->share)
		munmap(s->share, sizeof(*s->share));
	*s = (struct sender){0};
}
