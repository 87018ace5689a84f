/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of C++ and Rust, by libiberty, and of OCaml. */
#ifndef PROFTRACE_SYMBOL_DEMANGLE_H
#define PROFTRACE_SYMBOL_DEMANGLE_H

/*
 * The demangled form of `symbol`, or NULL if it is not a mangled name: C++ with parameters
 * ("ns::f(int)"), Rust without its hash, OCaml as "Stdlib.List.map_480". Clone suffixes (".part.0",
 * ".constprop.0", ".isra.0", ".cold", ".llvm.123") are kept as libiberty prints them ("f(int)
 * [clone .part.0]"). The caller frees it. Input over 4096 bytes, and output over 64 KiB, gives
 * NULL.
 */
char *demangle(const char *symbol);

#endif
