// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/config.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/config_check.h"
#include "agent/config_errors.h"
#include "agent/config_keys.h"
#include "util/array.h"
#include "util/log.h"

#define LINE_MAX_BYTES 1000
#define FILE_MAX_BYTES (1 << 20)
#define TOLD_MAX       100  /* errors that are told one by one */
#define SECTIONS_MAX   1000 /* services, and receivers: each has a process */

struct parser {
	struct config *c;
	char *at; /* what is left */
	unsigned int line;
	bool taken; /* the line was understood */
	bool blank; /* it says nothing */
	enum config_section section;
	unsigned int section_line;
	int err;
};

/* The struct that holds the section's members. */
static void *section_struct(const struct parser *p)
{
	struct config *c = p->c;

	switch (p->section) {
	case SECTION_AGENT:
		return c;
	case SECTION_METRICS:
		return &c->metrics;
	case SECTION_SERVICE:
		return &c->services[c->services_cnt - 1];
	default:
		return &c->receivers[c->receivers_cnt - 1];
	}
}

/* Names become those of folders and files. */
static bool is_name(const char *name)
{
	return *name && *name != '.' && *name != '-' && strlen(name) <= CONFIG_NAME_MAX &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-")];
}

static void add_service(struct parser *p, char *name)
{
	struct config *c = p->c;
	struct config_service *grown =
		reallocarray(c->services, c->services_cnt + 1, sizeof(*grown));

	if (!grown || !name) {
		free(name);
		p->err = -ENOMEM;
		return;
	}
	c->services = grown;
	grown[c->services_cnt++] =
		(struct config_service){.name = name, .line = p->line, .overhead = 1};
}

static void add_receiver(struct parser *p, char *name)
{
	struct config *c = p->c;
	struct config_receiver *grown =
		reallocarray(c->receivers, c->receivers_cnt + 1, sizeof(*grown));

	if (!grown || !name) {
		free(name);
		p->err = -ENOMEM;
		return;
	}
	c->receivers = grown;
	grown[c->receivers_cnt++] = (struct config_receiver){.name = name, .line = p->line};
}

/* Sections without names, each of which is there once. */
static bool begin_only(struct parser *p, const char *title)
{
	const bool agent = !strcmp(title, "agent"), metrics = !strcmp(title, "metrics");
	unsigned int *line = agent ? &p->c->agent_line : &p->c->metrics.line;

	if (!agent && !metrics)
		return false;
	if (*line) {
		config__complain(p->c, p->line,
				 "[%s]: is there already, in line %u; put what is here there",
				 title, *line);
		return true;
	}
	*line = p->line;
	p->section = agent ? SECTION_AGENT : SECTION_METRICS;
	return true;
}

/* Whether there may be a service or receiver of that name; says why not. */
static bool may_begin(struct parser *p, const char *title, const char *name, bool service)
{
	struct config *c = p->c;
	unsigned int before;

	if (!is_name(name)) {
		config__complain(
			c, p->line,
			"[%s %s]: needs a name of letters, digits, '.', '_' and '-', at most %d, "
			"as [%s web]",
			title, name, CONFIG_NAME_MAX, title);
		return false;
	}
	if ((service ? c->services_cnt : c->receivers_cnt) == SECTIONS_MAX) {
		config__complain(c, p->line,
				 "[%s %s]: there are %d such sections already; leave "
				 "some out",
				 title, name, SECTIONS_MAX);
		return false;
	}
	before = config__section_line(c, service ? SECTION_SERVICE : SECTION_RECEIVER, name);
	if (before)
		config__complain(c, p->line,
				 "[%s %s]: is there already, in line %u; put what is here there",
				 title, name, before);
	return !before;
}

/* "agent", "service web", "metrics" */
static void begin_section(struct parser *p, char *title)
{
	char *name = title + strcspn(title, " \t"), *end = name + strlen(name);
	bool service, receiver;

	p->taken = true;
	p->section = SECTION_NONE;
	p->section_line = p->line;
	while (end > name && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = '\0';
	if (*name)
		*name++ = '\0';
	name += strspn(name, " \t");
	service = !strcmp(title, "service");
	receiver = !strcmp(title, "receiver");
	if (!*name && begin_only(p, title))
		return;
	if (!service && !receiver) {
		config__complain(
			p->c, p->line,
			"[%s%s%s]: no such section; write [agent], [service NAME], [receiver "
			"NAME] or [metrics]",
			title, *name ? " " : "", name);
		return;
	}
	if (!may_begin(p, title, name, service))
		return;
	p->section = service ? SECTION_SERVICE : SECTION_RECEIVER;
	if (service)
		add_service(p, strdup(name));
	else
		add_receiver(p, strdup(name));
}

static void judge_line(struct parser *p)
{
	if (p->line && !p->taken && !p->blank)
		config__complain(p->c, p->line,
				 "neither 'key = value' nor '[section]' nor a comment (#)");
}

/* Whether there is a control character other than a tab in a line; a NUL has become 1. */
static bool has_no_text(const char *line)
{
	for (; *line; line++) {
		if (((unsigned char)*line < ' ' && *line != '\t') || *line == 0x7f)
			return true;
	}
	return false;
}

/* Hands inih the next line. It tells no lines of errors but the first one's. */
static char *next_line(char *str, int num, void *ctx)
{
	struct parser *p = ctx;
	size_t len;
	char *line = p->at;

	judge_line(p);
	if (!*line || p->err || p->c->no_memory)
		return NULL;
	len = strcspn(line, "\n");
	p->at = line + len + (line[len] == '\n');
	line[len] = '\0';
	p->line++;
	p->taken = false;
	line += strspn(line, " \t\r");
	len = strlen(line);
	while (len && strchr(" \t\r", line[len - 1]))
		line[--len] = '\0';
	p->blank = !len || *line == '#' || *line == ';';
	if ((int)len + 3 > num || (!p->blank && has_no_text(line))) {
		if ((int)len + 3 > num)
			config__complain(
				p->c, p->line,
				"longer than %d characters; write the key once more for more "
				"values",
				num - 3);
		else
			config__complain(
				p->c, p->line,
				"a NUL byte or another control character is in the line; is the "
				"file text?");
		p->blank = true;
		len = 0;
		*line = '\0';
	}
	snprintf(str, num, "%.*s\n", (int)len, line);
	if (*line == '[' && line[len - 1] == ']') {
		line[len - 1] = '\0';
		begin_section(p, line + 1 + strspn(line + 1, " \t"));
	} else if (*line == '[') {
		p->section = SECTION_NONE; /* what follows cannot be judged */
		p->section_line = p->line;
	}
	return str;
}

static bool note_given(struct parser *p, const struct config_key *k, const char *value)
{
	struct config *c = p->c;
	char *copy;

	for (size_t i = 0; i < c->given_cnt && !k->repeats; i++) {
		const struct config_given *g = &c->given[i];

		if (g->key == k && g->section_line == p->section_line) {
			config__complain(p->c, p->line,
					 "'%s' is given already, in line %u; leave one out",
					 k->name, g->line);
			return false;
		}
	}
	copy = strdup(value);
	if (!copy || ARRAY_RESERVE(&c->given, c->given_cnt, &c->given_cap)) {
		free(copy);
		p->err = -ENOMEM;
		return false;
	}
	c->given[c->given_cnt++] = (struct config_given){k, p->section_line, p->line, copy};
	return true;
}

static void add_words(struct parser *p, const struct config_key *k, const char *value)
{
	struct config_service *s = section_struct(p);
	char **grown = reallocarray(s->words, s->words_cnt + 2, sizeof(*grown));

	if (!grown) {
		p->err = -ENOMEM;
		return;
	}
	s->words = grown;
	grown[s->words_cnt] = strdup(k->option);
	s->words_cnt += grown[s->words_cnt] != NULL;
	if (k->kind == KIND_SWITCH)
		return;
	grown[s->words_cnt] = strdup(value);
	s->words_cnt += grown[s->words_cnt] != NULL;
}

static void unknown_key(struct parser *p, const char *name)
{
	static const char *const titles[] = {"", "[agent]", "[service]", "[receiver]", "[metrics]"};
	const char *like = config_key__like(p->section, name);
	char list[512];

	config_key__list(p->section, list, sizeof(list));
	if (like)
		config__complain(p->c, p->line, "'%s' is no key of %s: is '%s' meant?", name,
				 titles[p->section], like);
	else
		config__complain(p->c, p->line, "'%s' is no key of %s; these are: %s", name,
				 titles[p->section], list);
}

/* Comments and quotes that would become part of a value, as other formats have them. */
static const char *foreign_syntax(const struct config_key *k, const char *value)
{
	const size_t len = strlen(value);

	if (len >= 2 && (*value == '"' || *value == '\'') && value[len - 1] == *value)
		return "the quotes would be part of the value; leave them out";
	for (const char *c = value; k->kind != KIND_TEXT && (c = strchr(c, '#')); c++) {
		if (c > value && (c[-1] == ' ' || c[-1] == '\t'))
			return "'#' begins a comment only where a line begins, and would be "
			       "part of the value; write ' ;' or a line of its own";
	}
	return NULL;
}

static int take_line(void *ctx, const char *section, const char *name, const char *value)
{
	struct parser *p = ctx;
	const struct config_key *k;
	const char *wrong;

	p->taken = true;
	if (!p->section_line)
		config__complain(p->c, p->line, "'%s' is in no section; write [agent] above it",
				 name);
	if (p->section == SECTION_NONE)
		return 1; /* of which that is told already */
	k = config_key__find(p->section, name);
	if (!k) {
		unknown_key(p, name);
		return 1;
	}
	if (!note_given(p, k, value))
		return 1;
	if (!*value) {
		config__complain(p->c, p->line,
				 "'%s' has no value; leave the line out, or write one", name);
		return 1;
	}
	wrong = foreign_syntax(k, value);
	if (!wrong)
		wrong = config_key__take(k, value, section_struct(p));
	if (wrong)
		config__complain(p->c, p->line, "%s = %s: %s", name, value, wrong);
	else if (k->option && !(k->kind == KIND_SWITCH && !strcmp(value, "no")))
		add_words(p, k, value);
	return 1;
}

int config__parse(char *text, struct config *c)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	const bool marked = !strncmp(text, byte_order_mark, strlen(byte_order_mark));
	struct parser p = {.c = c, .at = marked ? text + strlen(byte_order_mark) : text};

	*c = (struct config){
		.ring = strdup("/var/lib/proftrace"),
		.status = strdup("/run/proftrace/agent.json"),
		.interval_ns = 60000000000ull,
		.keep_s = 86400,
		.size = 1ull << 30,
		.memory = 150ull << 20,
		.overhead = 1,
		.metrics.max = 100,
	};
	net_address__parse("9464", &c->metrics.address);
	if (!c->ring || !c->status)
		return -ENOMEM;
	ini_allow_multiline = false;
	/* A line is read as a whole, and its room does not grow. */
	ini_max_line = ini_initial_alloc = LINE_MAX_BYTES;
	ini_use_stack = false;
	if (ini_parse_stream(next_line, &p, take_line, &p) == -2)
		p.err = -ENOMEM;
	if (!p.err)
		config__check(c);
	return c->no_memory ? -ENOMEM : p.err;
}

/* Does not wait for whoever may write to a FIFO: that is told to be no file. */
static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct stat st;

	if (!f)
		log_error("cannot read the configuration %s: %s", path, strerror(errno));
	if (!f && fd >= 0)
		close(fd);
	if (!f || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return f;
	log_error("%s is no regular file: the configuration cannot be read", path);
	fclose(f);
	return NULL;
}

int config__read(const char *path, struct config *c)
{
	FILE *f = open_file(path);
	char *text = f ? calloc(1, FILE_MAX_BYTES + 1) : NULL;
	size_t len = text ? fread(text, 1, FILE_MAX_BYTES, f) : 0;
	int err = text ? 0 : -ENOMEM;

	*c = (struct config){0};
	if (!f)
		return -EINVAL;
	if (text && ferror(f))
		err = -errno;
	else if (len == FILE_MAX_BYTES)
		err = -EFBIG;
	fclose(f);
	if (err)
		log_error("cannot read the configuration %s: %s", path, strerror(-err));
	/* Text behind a NUL would not be seen: has_no_text() finds the 1 that a NUL becomes. */
	for (size_t i = 0; !err && i < len; i++)
		text[i] = text[i] ? text[i] : 1;
	if (!err)
		err = config__parse(text, c);
	free(text);
	return err;
}

static void clear_texts(struct config_texts *t)
{
	for (size_t i = 0; i < t->cnt; i++)
		free(t->items[i]);
	free(t->items);
}

void config__clear(struct config *c)
{
	for (size_t i = 0; i < c->services_cnt; i++) {
		for (size_t j = 0; j < c->services[i].words_cnt; j++)
			free(c->services[i].words[j]);
		free(c->services[i].words);
		free(c->services[i].name);
		free(c->services[i].version);
	}
	for (size_t i = 0; i < c->receivers_cnt; i++) {
		free(c->receivers[i].name);
		free(c->receivers[i].url);
		free(c->receivers[i].services);
		free(c->receivers[i].secret_file);
		free(c->receivers[i].ca_file);
	}
	for (size_t i = 0; i < c->errors_cnt; i++)
		free(c->errors[i].text);
	clear_texts(&c->metrics.functions);
	clear_texts(&c->metrics.sessions);
	for (size_t i = 0; i < c->given_cnt; i++)
		free(c->given[i].value);
	free(c->given);
	free(c->services);
	free(c->receivers);
	free(c->errors);
	free(c->ring);
	free(c->status);
	*c = (struct config){0};
}

size_t config__tell(const struct config *c, const char *path)
{
	for (size_t i = 0; i < c->errors_cnt && i < TOLD_MAX; i++) {
		if (c->errors[i].line)
			log_error("%s:%u: %s", path, c->errors[i].line, c->errors[i].text);
		else
			log_error("%s: %s", path, c->errors[i].text);
	}
	if (c->errors_cnt > TOLD_MAX)
		log_error("%s: and %zu more errors", path, c->errors_cnt - TOLD_MAX);
	return c->errors_cnt;
}

void config__warn(struct config *c, const char *path)
{
	config__look(c);
	for (size_t i = 0; i < c->errors_cnt; i++) {
		log_warn("%s:%u: %s", path, c->errors[i].line, c->errors[i].text);
		free(c->errors[i].text);
	}
	c->errors_cnt = 0;
}
