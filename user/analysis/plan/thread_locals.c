// SPDX-License-Identifier: GPL-2.0-or-later
#include "plan/thread_locals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"
#include "plan/object.h"
#include "plan/options.h"
#include "plan/plan.h"
#include "plan/static_tls.h"
#include "select/filter.h"
#include "select/thread_context.h"
#include "symbol/thread_variable.h"
#include "target/target.h"
#include "util/glob.h"
#include "util/otel_context.h"

/* One process, and what is looked for in it. */
struct look {
	const struct thread_locals *of;
	uint32_t process; /* index */
	const char *library, *name;
};

static bool has_process(const struct target_object *obj, uint32_t process)
{
	for (uint32_t i = 0; i < obj->processes_cnt; i++) {
		if (obj->processes[i] == process)
			return true;
	}
	return false;
}

/* The image of the process's object with that number; NULL: it is another's, or cannot be read. */
static const struct elf_image *image_at(const struct look *l, size_t i)
{
	return has_process(&l->of->target->objects[i], l->process) ? l->of->plan->objects[i].img
								   : NULL;
}

/* Gives a variable of library `i` its place in the process. Returns NULL, or why there is none. */
static const char *place(const struct look *l, uint32_t i, struct thread_variable *v)
{
	const struct plan *p = l->of->plan;
	const struct elf_image **images = calloc(p->objects_cnt + 1, sizeof(*images));
	int err = -ENOMEM;

	for (size_t k = 0; images && k < p->objects_cnt; k++)
		images[k] = image_at(l, k);
	if (images)
		err = static_tls__place(l->of->target, l->process, images, i, v);
	free(images);
	if (err == -ENOTSUP)
		return "only glibc's dynamic linker tells where a library has it";
	if (err == -ERANGE)
		return "the library was loaded by dlopen(), so each thread has it elsewhere: only "
		       "those that are loaded as the program starts are read";
	return err ? "the dynamic linker's list of libraries does not tell where" : NULL;
}

/* Whether the object is of those that are looked in. */
static bool is_asked(const struct look *l, size_t i)
{
	const struct filter_object names =
		plan_object__names(&l->of->plan->objects[i], &l->of->target->objects[i]);

	return !l->library || glob__matches_object(l->library, names.path) ||
	       (names.soname[0] && glob__matches_object(l->library, names.soname));
}

static bool find_in(const struct look *l, struct thread_variable *out, char *why, size_t size)
{
	const size_t cnt = l->of->target->objects_cnt;
	bool mapped = false;

	for (size_t i = 0; i < cnt && !l->library; i++) {
		const struct elf_image *img = image_at(l, i);

		if (img && thread_variable__find(img, l->name, out))
			return true;
	}
	for (size_t i = 0; i < cnt; i++) {
		const struct elf_image *img = image_at(l, i);
		const char *problem;

		if (!img || !is_asked(l, i))
			continue;
		mapped = true;
		if (!thread_variable__in_library(img, l->name, out))
			continue;
		problem = place(l, i, out);
		snprintf(why, size, "cannot be read: %s", problem ? problem : "");
		return !problem;
	}
	if (!l->library)
		snprintf(why, size,
			 "is not there: neither the program nor a library has a "
			 "thread-local variable of that name");
	else if (mapped)
		snprintf(why, size, "is not there: the library has no such thread-local variable");
	else
		snprintf(why, size, "is not there: no such library is loaded");
	return false;
}

static bool find(const struct thread_values *at, const char *library, const char *name,
		 struct thread_variable *out, char *why, size_t size)
{
	const struct thread_locals *of = at->ctx;
	const struct target_object *obj = &of->target->objects[of->object];
	struct thread_variable other;

	if (!obj->processes_cnt)
		snprintf(why, size,
			 "is not there: only of a process that runs it is known where "
			 "libraries have theirs; name one, with -p");
	for (uint32_t i = 0; i < obj->processes_cnt; i++) {
		const struct look l = {of, obj->processes[i], library, name};

		if (!find_in(&l, i ? &other : out, why, size))
			return false;
		if (i && (other.offset != out->offset || other.size != out->size)) {
			snprintf(why, size, "lies elsewhere in each process: trace one, with -p");
			return false;
		}
	}
	return obj->processes_cnt;
}

void thread_locals__init(struct thread_locals *l, const struct plan *p, const struct target *t,
			 uint32_t object)
{
	*l = (struct thread_locals){
		.values = {.img = p->objects[object].img, .find = find, .ctx = l},
		.plan = p,
		.target = t,
		.object = object,
	};
}

void thread_locals__look(const struct plan *p, const struct plan_options *opts)
{
	struct thread_variable v;

	if (!opts->arguments || opts->new_programs || !thread_context__is_wanted(opts->arguments))
		return;
	for (size_t i = 0; i < p->objects_cnt; i++) {
		const struct elf_image *img = p->objects[i].img;

		if (img && (thread_variable__find(img, OTEL_CONTEXT, &v) ||
			    thread_variable__in_library(img, OTEL_CONTEXT, &v)))
			return;
	}
	thread_context__forget(opts->arguments);
}
