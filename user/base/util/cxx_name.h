/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangled names of C++ and Rust, as text. */
#ifndef PROFTRACE_UTIL_CXX_NAME_H
#define PROFTRACE_UTIL_CXX_NAME_H

#include <stddef.h>

/* Behind the names of functions that are inlined in others. */
#define INLINED_MARK " (inlined)"

/*
 * Cuts `demangled` in place to its qualified name without the parameter list and what follows:
 * "ns::f(int) const" -> "ns::f", "operator()(int)" -> "operator()", "(anonymous namespace)::f()" ->
 * "(anonymous namespace)::f". Template return types are dropped: "void f<int>(int)" -> "f<int>".
 * Returns the start of the name within `demangled`.
 */
char *cxx_name__cut_parameters(char *demangled);

/*
 * Makes `demangled` shorter, in place, if it has more than `columns` characters: parameters go
 * first ("f(…)"), then arguments of templates ("std::map<…>::at(…)"), the return type, the mark of
 * the compiler's copies (" [clone .isra.0]") and outer scopes ("…map<…>::at(…)"). It may still be
 * longer than that. Names of other languages stay as they are.
 */
void cxx_name__fit(char *demangled, size_t columns);

#endif
