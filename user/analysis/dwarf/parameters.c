// SPDX-License-Identifier: GPL-2.0-or-later
/* See the System V ABI's AMD64 supplement, 3.2.3, for how parameters are passed. */
#include "dwarf/parameters.h"

#include <dwarf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "dwarf/die_attributes.h"
#include "dwarf/dwarf_file.h"
#include "dwarf/dwarf_units.h"
#include "elf/elf_image.h"

#define MAX_PARAMETERS 255
#define MAX_MEMBERS    65536 /* looked at for one name */
#define MAX_NESTED     8     /* structures without a name in one another, and base classes */

struct parameters {
	const struct arch *arch;
	struct dwarf_units units;
};

int parameters__open(const struct elf_image *img, const char *root, struct parameters **out)
{
	struct parameters *p = calloc(1, sizeof(*p));
	int err = p ? dwarf_units__open(&p->units, img, root) : -ENOMEM;

	if (err) {
		parameters__free(p);
		return err;
	}
	p->arch = elf_image__arch(img);
	*out = p;
	return 0;
}

void parameters__free(struct parameters *p)
{
	if (p)
		dwarf_units__close(&p->units);
	free(p);
}

/* The arguments of parameters__find(), for the functions that answer it. */
struct question {
	const struct arch *arch;
	struct dwarf_file *file;
	const char *name, *member; /* of the parameter, and of what lies behind it, or NULL */
	char *why;		   /* for the answer, if it is no */
	size_t why_size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct question *q, const char *fmt,
							 ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(q->why, q->why_size, fmt, args);
	va_end(args);
	return false;
}

static bool is_integer_size(uint64_t bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static enum parameter_class class_of_base(const Dwarf_Die *type, uint64_t bytes)
{
	switch (die_number(type, DW_AT_encoding, 0)) {
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return is_integer_size(bytes) ? PARAMETER_SIGNED : PARAMETER_OTHER;
	case DW_ATE_address:
	case DW_ATE_boolean:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return is_integer_size(bytes) ? PARAMETER_UNSIGNED : PARAMETER_OTHER;
	case DW_ATE_float: /* neither long double, which is passed in memory, nor what is like it */
		return bytes == 4 || bytes == 8 ? PARAMETER_FLOAT : PARAMETER_OTHER;
	default:
		return PARAMETER_OTHER;
	}
}

static bool is_character(const Dwarf_Die *type)
{
	uint64_t encoding = die_number(type, DW_AT_encoding, 0);

	return dwarf_tag((Dwarf_Die *)type) == DW_TAG_base_type &&
	       die_number(type, DW_AT_byte_size, 0) == 1 &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

/* Sets class and size of a parameter by its type. */
static void classify(Dwarf_Die *type, struct parameter *out)
{
	uint64_t bytes = die_number(type, DW_AT_byte_size, 0);
	Dwarf_Die target;

	out->class = PARAMETER_OTHER;
	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		out->class = class_of_base(type, bytes);
		break;
	case DW_TAG_enumeration_type:
		if (die_type(type, &target))
			out->class = class_of_base(&target, bytes);
		else if (is_integer_size(bytes))
			out->class = PARAMETER_UNSIGNED;
		break;
	case DW_TAG_pointer_type:
		bytes = 8;
		out->class = die_type(type, &target) && is_character(&target) ? PARAMETER_TEXT
									      : PARAMETER_POINTER;
		break;
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		bytes = 8;
		out->class = PARAMETER_POINTER;
		break;
	default:
		break;
	}
	out->bytes = out->class == PARAMETER_OTHER ? 0 : bytes;
}

/* Whether the function takes its parameters as it is written: what it returns may need a place that
 * is passed as a first one, and a compiler that knows all callers may leave some out. */
static bool is_plain(const struct question *q, const Dwarf_Die *function)
{
	struct parameter result;
	Dwarf_Attribute attr;
	Dwarf_Die type;

	/* Other languages may pass parameters in another way (Rust's and D's compilers do). */
	if (!die_is_c(function))
		return refuse(q, "only of C and C++ it is known how parameters are passed; "
				 "use arg1, arg2");
	if (die_number(function, DW_AT_calling_convention, DW_CC_normal) != DW_CC_normal)
		return refuse(q, "the compiler has changed how its parameters are passed");
	if (!dwarf_file__attribute(function, DW_AT_type, &attr))
		return true;
	if (!die_type(function, &type)) {
		/* A void with a name or a qualifier, or damage. */
		return refuse(q, "the type of its result is not known");
	}
	classify(&type, &result);
	if (result.class == PARAMETER_OTHER && dwarf_tag(&type) != DW_TAG_base_type)
		return refuse(q, "it returns a structure, so where its parameters lie is "
				 "not known; use arg1, arg2");
	return true;
}

/* Goes through the parameters in order. */
struct passing {
	const struct arch *arch;
	unsigned int integers, floats; /* so far */
	bool unknown;		       /* where all that follows lies */
	bool stack_unknown;	       /* ... on the stack */
};

/* Takes the next parameter. Returns NULL, or why it cannot be read. */
static const char *pass(struct passing *at, Dwarf_Die *die, Dwarf_Die *type, struct parameter *out)
{
	const char *name = die_name(die);
	/* The compiler's own ones, but for `this`, are not always passed. */
	bool hidden = die_flag(die, DW_AT_artificial) && (!name || strcmp(name, "this"));

	*out = (struct parameter){.class = PARAMETER_OTHER};
	if (!hidden && die_type(die, type))
		classify(type, out);
	if (out->class == PARAMETER_OTHER || at->unknown) {
		const char *why = at->unknown ? "comes behind one that is passed by value, so "
						"where it lies is not known; use argN"
					      : "is no integer and no pointer, but passed by value";

		at->unknown = true;
		return why;
	}
	if (out->class == PARAMETER_FLOAT) {
		at->stack_unknown |= ++at->floats > at->arch->float_arguments_cnt;
		return "is passed in a floating-point register, which the kernel does not show to "
		       "probes";
	}
	out->number = ++at->integers;
	if (out->number > at->arch->arguments_cnt && at->stack_unknown)
		return "comes behind floating-point numbers on the stack";
	return NULL;
}

static bool find_parameter(const struct question *q, Dwarf_Die *function, struct parameter *out,
			   Dwarf_Die *type)
{
	struct passing passing = {.arch = q->arch};
	const char *name = q->name;
	char names[160] = "";
	size_t len = 0;
	Dwarf_Die die;
	int left = MAX_PARAMETERS;
	bool more = !dwarf_child(function, &die);

	for (; more && left; more = dwarf_file__sibling(q->file, &die)) {
		const char *problem, *is;

		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		left--;
		problem = pass(&passing, &die, type, out);
		is = die_name(&die);
		if (!is)
			continue;
		if (!strcmp(is, name))
			return problem ? refuse(q, "%s %s", name, problem) : true;
		if (len < sizeof(names))
			len += snprintf(names + len, sizeof(names) - len, "%s%s", len ? ", " : "",
					is);
	}
	if (!len)
		return refuse(q, "it has no parameter %s, nor any other", name);
	return refuse(q, "it has no parameter %s, but: %s%s", name, names,
		      len < sizeof(names) ? "" : "...");
}

/* A search for a member; it goes on in structures without a name and in base classes. */
struct member_search {
	struct dwarf_file *file;
	const char *name; /* the first `len` bytes */
	size_t len;
	unsigned int left; /* entries that may still be looked at */
	int64_t offset;
	Dwarf_Die die; /* what was found */
};

static bool is_inner(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_inheritance ||
	       (dwarf_tag(die) == DW_TAG_member && !die_name(die));
}

static bool search_member(struct member_search *s, Dwarf_Die *structure, int64_t offset, int depth)
{
	Dwarf_Die die, inner;
	bool more = depth < MAX_NESTED && !dwarf_child(structure, &die);

	for (; more && s->left; more = dwarf_file__sibling(s->file, &die)) {
		uint64_t at = die_number(&die, DW_AT_data_member_location, 0);
		Dwarf_Attribute attr;
		const char *is;

		s->left--;
		/* Virtual bases have an expression there. */
		if (at > INT32_MAX || (dwarf_tag(&die) == DW_TAG_inheritance &&
				       dwarf_attr(&die, DW_AT_virtuality, &attr)))
			continue;
		if (is_inner(&die)) {
			if (die_type(&die, &inner) &&
			    search_member(s, &inner, offset + at, depth + 1))
				return true;
			continue;
		}
		is = dwarf_tag(&die) == DW_TAG_member ? die_name(&die) : NULL;
		if (!is || strncmp(is, s->name, s->len) || is[s->len])
			continue;
		s->offset = offset + at;
		s->die = die;
		return true;
	}
	return false;
}

/* Whether a member lies at whole bytes, at a place that is known. */
static bool is_whole(const Dwarf_Die *member)
{
	Dwarf_Attribute attr;
	Dwarf_Word at;

	if (dwarf_file__attribute(member, DW_AT_bit_size, &attr) ||
	    die_flag(member, DW_AT_external))
		return false;
	return !dwarf_file__attribute(member, DW_AT_data_member_location, &attr) ||
	       !dwarf_formudata(&attr, &at);
}

static bool is_text(Dwarf_Die *type)
{
	Dwarf_Die element;

	return dwarf_tag(type) == DW_TAG_array_type && die_type(type, &element) &&
	       is_character(&element);
}

/* `type` is the parameter's; `out` is as of it. `member` may be one of a member: "head.id". */
static bool find_member(const struct question *q, Dwarf_Die *type, struct parameter *out)
{
	const char *name = q->name, *member = q->member;
	struct member_search s = {.file = q->file, .name = member, .left = MAX_MEMBERS};
	Dwarf_Die structure;

	if (out->class != PARAMETER_POINTER || !die_type(type, &structure))
		return refuse(q, "%s points to no structure", name);
	if (die_flag(&structure, DW_AT_declaration))
		return refuse(q,
			      "where the function is compiled, what %s points to is only "
			      "declared; use arg1+16",
			      name);
	for (*type = structure;; s.name += s.len + 1) {
		int shown;

		s.len = strcspn(s.name, ".");
		shown = s.name + s.len - member;
		structure = *type;
		if (!search_member(&s, &structure, s.offset, 0))
			return refuse(q, "%s has no member %.*s", name, shown, member);
		if (!is_whole(&s.die) || s.offset > INT32_MAX || !die_type(&s.die, type))
			return refuse(q, "%s->%.*s does not lie at bytes of its own", name, shown,
				      member);
		if (!s.name[s.len])
			break;
	}
	classify(type, out);
	if (is_text(type))
		*out = (struct parameter){
			.class = PARAMETER_CHARACTERS, .bytes = 8, .number = out->number};
	if (out->class == PARAMETER_OTHER)
		return refuse(q, "%s->%s is no number and no pointer", name, member);
	out->behind = true;
	out->offset = s.offset;
	return true;
}

/* An instance has its parameters in the order in which the compiler needed them; what it is an
 * instance of has them as they are written. */
static bool find_written(const Dwarf_Die *function, Dwarf_Die *die)
{
	Dwarf_Attribute ref;

	*die = *function;
	for (int i = 0; i < DWARF_CHAIN && dwarf_attr(die, DW_AT_abstract_origin, &ref); i++) {
		if (!dwarf_formref_die(&ref, die))
			return false;
	}
	return true;
}

static bool find_function(struct parameters *p, uint64_t vaddr, Dwarf_Die *die)
{
	const struct die_range *range;

	return !dwarf_units__function_at(&p->units, vaddr, &range) && range &&
	       range->begin == vaddr && dwarf_offdie(p->units.file.dwarf, range->die, die);
}

bool parameters__find(struct parameters *p, uint64_t vaddr, const struct parameter_path *path,
		      struct parameter *out, char *why, size_t size)
{
	struct dwarf_file *f = &p->units.file;
	const struct question question = {p->arch, f, path->name, path->member, why, size},
			      *q = &question;
	Dwarf_Die function, written, type;
	bool found;

	if (!find_function(p, vaddr, &function) || !find_written(&function, &written))
		return refuse(q, "its parameters have no names without debug information; "
				 "use arg1, arg2");
	dwarf_budget__enter(&f->budget);
	found = is_plain(q, &function) && find_parameter(q, &written, out, &type) &&
		(!path->member || find_member(q, &type, out));
	dwarf_budget__leave(&f->budget);
	return found;
}
