/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangled names of C++ and Rust, as text. */
#ifndef PROFTRACE_UTIL_CXX_NAME_H
#define PROFTRACE_UTIL_CXX_NAME_H

/*
 * Cuts `demangled` in place to its qualified name without the parameter list and what follows:
 * "ns::f(int) const" -> "ns::f", "operator()(int)" -> "operator()", "(anonymous namespace)::f()" ->
 * "(anonymous namespace)::f". Template return types are dropped: "void f<int>(int)" -> "f<int>".
 * Returns the start of the name within `demangled`.
 */
char *cxx_name__cut_parameters(char *demangled);

#endif
