/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording in a file of our own, made of a fuzzer's input. */
#ifndef PROFTRACE_FUZZ_RECORDING_FILE_H
#define PROFTRACE_FUZZ_RECORDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reader;

/* The most bytes of a block's content that the input can tell of. */
#define RECORDING_BLOCK_MAX  UINT16_MAX
#define RECORDING_BLOCK_HEAD 4

void check(bool holds); /* ends the fuzzer where it does not */

/*
 * Writes a run of two functions, and behind it the blocks that the input is: type, a byte of
 * nothing, two of length, content. So what a mutation changes needs no checksum. Returns what
 * reader__open() does; *out is to be freed.
 */
int recording_file__open(const uint8_t *data, size_t len, struct reader **out);

#endif
