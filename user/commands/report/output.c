// SPDX-License-Identifier: GPL-2.0-or-later
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls/profile.h"
#include "cli/options.h"
#include "report/pager.h"
#include "sink/accounts.h"
#include "util/fold.h"
#include "util/io.h"
#include "util/log.h"
#include "util/text.h"

static int failed(const struct output *out, int err)
{
	if (err == -ELOOP)
		log_error("cannot write %s: it is a link", out->name);
	else if (err == -ENXIO)
		log_error("cannot write %s: nobody reads at its other end", out->name);
	else if (err == -ESPIPE)
		log_error("cannot write %s: %s needs a file, and this is none", out->name,
			  out->sink->name);
	else if (err != -EPIPE)
		log_error("cannot write %s: %s", out->name, strerror(-err));
	return err;
}

static void on_signal(int signal_number)
{
	io__uncreate_last();
	raise(signal_number); /* comes as this returns, and has its usual effect */
}

/* Removes a file that was made, and is still empty, if a signal ends us. A run has a handler of its
 * own, which does that; and nohup has SIGHUP ignored. */
static void uncreate_at_signals(void)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};
	struct sigaction now;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (!sigaction(ends[i], NULL, &now) && now.sa_handler == SIG_DFL)
			sigaction(ends[i], &action, NULL);
	}
}

/* Opens the output; a file's old content stays until there is something to write. Nothing waits for
 * the other end of a named pipe: signals would have to. `flags`: more of open(2)'s. */
static int open_file(struct output *out, const char *path, int flags)
{
	int fd, err;

	uncreate_at_signals();
	fd = err = io__create(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | flags, &out->made);
	out->name = path;
	out->file = fd >= 0 && !fcntl(fd, F_SETFL, 0) ? fdopen(fd, "w") : NULL;
	if (out->file)
		return 0;
	if (fd >= 0)
		err = -errno;
	if (fd >= 0)
		close(fd);
	return failed(out, err);
}

int output__begin(struct output *out)
{
	struct stat st;

	out->made = false;
	if (fstat(fileno(out->file), &st) || out->file == stdout || !S_ISREG(st.st_mode))
		return 0;
	return ftruncate(fileno(out->file), 0) ? failed(out, -errno) : 0;
}

static bool to_terminal(const struct options *o)
{
	return !o->output && isatty(STDOUT_FILENO);
}

static const struct sink *sink_of(const struct options *o)
{
	return o->sink ? o->sink : to_terminal(o) ? &sink_tree : &sink_folded;
}

void output__page(struct output *out, const struct options *o)
{
	if (to_terminal(o) && sink_of(o)->accounts && !o->interval_ns && !o->no_pager)
		out->pager = pager__new();
}

int output__open(struct output *out, const struct options *o)
{
	const char *no_color = getenv("NO_COLOR");
	bool terminal = to_terminal(o);

	*out = (struct output){
		.file = stdout,
		.name = o->output ? o->output : "stdout",
		.sink = sink_of(o),
		.opts = o->sink_opts,
		.pager = out->pager,
	};
	/* Whoever writes to flame.png may expect something else. */
	if (o->output && !o->sink && strchr(path_base(o->output), '.'))
		log_info("no format ends its files like %s: these are folded stacks (-f chooses)",
			 path_base(o->output));
	if (o->hists_cnt && out->sink != &sink_tree && out->sink != &sink_flat)
		log_warn("--hist: %s draws no histograms; tree and flat do (-f)", out->sink->name);
	if (out->opts.reverse && out->sink != &sink_folded)
		log_warn("--reverse: folded stacks are reversed (-f folded), %s is not",
			 out->sink->name);
	if (out->opts.weight != WEIGHT_WALL && !out->sink->weighs && o->verb != VERB_DIFF)
		log_warn("-w: %s shows the same for all weights; what folded stacks weigh is "
			 "chosen by it (-f folded)",
			 out->sink->name);
	if (out->opts.weight == WEIGHT_CALLS && out->sink == &sink_tree && o->verb != VERB_DIFF)
		log_warn("-w calls: a tree goes by time, as calls do not add up along its paths; "
			 "the flat list goes by calls (-f flat)");
	out->opts.interval = o->interval_ns != 0;
	/* -v leaves nothing out of tables, however long their lines become. */
	out->opts.prose_columns = o->output ? 0 : fold__columns(STDOUT_FILENO);
	out->opts.columns = o->verbose ? 0 : out->opts.prose_columns;
	out->opts.color = o->color == COLOR_ALWAYS ||
			  (o->color == COLOR_AUTO && terminal && !(no_color && *no_color));
	return o->output ? open_file(out, o->output, 0) : 0;
}

int output__fold(struct output *out, FILE **stream)
{
	*stream = out->file;
	if (out->pager)
		*stream = out->page = open_memstream(&out->text, &out->text_len);
	if (!*stream)
		return -ENOMEM;
	/* Formats for programs keep their lines unfolded. */
	if (!out->opts.columns || !out->sink->accounts)
		return 0;
	return fold__open(*stream, out->opts.columns, stream);
}

/* Shows what was written for the pager: by it, or as it is. */
static int turn_page(struct output *out)
{
	int err = fclose(out->page) ? -ENOMEM : 0;

	out->page = NULL;
	if (!err && !(pager__is_long(out->text, out->text_len) &&
		      pager__show(out->pager, out->text, out->text_len)))
		fwrite(out->text, 1, out->text_len, out->file);
	free(out->text);
	out->text = NULL;
	/* The pager shows one result. */
	pager__free(out->pager);
	out->pager = NULL;
	return err;
}

int output__unfold(struct output *out, FILE *stream, int err)
{
	errno = 0;
	if (stream != out->file && stream != out->page && fclose(stream) && !err)
		err = errno ? -errno : -EIO;
	if (out->page) {
		int page_err = turn_page(out);

		err = err ? err : page_err;
	}
	if (!err && fflush(out->file))
		err = -errno;
	return err ? failed(out, err) : 0;
}

int output__write(struct output *out, const struct profile *p)
{
	FILE *stream;
	int err = output__fold(out, &stream);

	if (err)
		return failed(out, err);
	err = out->sink->write_file ? out->sink->write_file(p, &out->opts, out->name)
				    : out->sink->write(p, &out->opts, stream);
	return output__unfold(out, stream, err);
}

int output__shot(struct output *out, uint32_t number, char *buf, size_t size, struct output *shot)
{
	int err;

	if (!out->sink->whole && (!out->sink->sums || out->opts.interval)) {
		out->opts.interval = true; /* from now on it is one of several */
		*shot = *out;
		shot->pager = NULL;
		return 0;
	}
	if (out->file == stdout) {
		log_warn("a snapshot in the format %s needs a file of its own: name one with -o",
			 out->sink->name);
		return -EINVAL;
	}
	*shot = *out;
	shot->pager = NULL;
	shot->name = buf;
	if (snprintf(buf, size, "%s.%u", out->name, number) >= (int)size)
		return -ENAMETOOLONG;
	/* Nobody has named this file: a link there is somebody else's. */
	err = open_file(shot, buf, O_NOFOLLOW);
	return err ? err : output__begin(shot);
}

int output__shot_done(const struct output *out, struct output *shot)
{
	return shot->file == out->file ? 0 : output__close(shot);
}

int output__write_diff(struct output *out, const struct diff *d)
{
	FILE *stream;
	int err = output__fold(out, &stream);

	if (err)
		return failed(out, err);
	err = out->sink->write_diff(d, &out->opts, stream);
	return output__unfold(out, stream, err);
}

void output__account(const struct output *out, const struct profile *p, size_t dropped)
{
	char line[ACCOUNTS_LINE];

	if (out->sink && out->sink->accounts)
		return;
	log_info("%s", accounts__calls(p, line, sizeof(line)));
	if (*accounts__cost(p, out->opts.raw, line, sizeof(line)))
		log_info("%s", line);
	if (dropped)
		log_info("%zu function%s dropped for the budget, for good or for a while; "
			 "-f json lists them",
			 dropped, dropped == 1 ? " was" : "s were");
}

int output__close(struct output *out)
{
	FILE *f = out->file;

	if (out->page)
		fclose(out->page);
	free(out->text);
	pager__free(out->pager);
	out->page = NULL;
	out->text = NULL;
	out->pager = NULL;
	out->file = NULL;
	if (f && out->made)
		io__uncreate(fileno(f), out->name);
	if (!f || (f == stdout ? fflush(f) : fclose(f)) == 0)
		return 0;
	return failed(out, -errno);
}
