// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * picture PIECES BATCHES: somebody else's C code at work, built in different ways to be compared.
 * A piece of work is to write a small picture as PNG and as JPEG and to read both. Says "ready" and
 * waits for a line on stdin; then makes a batch to warm up and BATCHES batches of PIECES pieces,
 * and prints "ns N" a piece for each, then "pieces N", the number of all pieces. Ends with its
 * stdin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>

#include "batches.h"

enum { SIDE = 48, COLOURS = 3 };

static struct {
	unsigned char bytes[1 << 16];
	int len;
} file;

static void append(void *context, void *data, int size)
{
	if (size > (int)sizeof(file.bytes) - file.len)
		abort();
	memcpy(file.bytes + file.len, data, size);
	file.len += size;
}

static unsigned long read_back(void)
{
	int width, height, colours;
	unsigned long sum = 0;
	unsigned char *pixels =
		stbi_load_from_memory(file.bytes, file.len, &width, &height, &colours, COLOURS);

	if (!pixels || width != SIDE || height != SIDE)
		abort();
	for (int i = 0; i < SIDE * SIDE * COLOURS; i++)
		sum += pixels[i];
	stbi_image_free(pixels);
	file.len = 0;
	return sum;
}

static unsigned long piece(void)
{
	static unsigned char pixels[SIDE * SIDE * COLOURS];
	unsigned long sum;

	for (int i = 0; i < SIDE * SIDE * COLOURS; i++)
		pixels[i] = i / 7 * (i % COLOURS + 1) + (i * i >> 9);
	stbi_write_png_to_func(append, NULL, SIDE, SIDE, COLOURS, pixels, SIDE * COLOURS);
	sum = read_back();
	stbi_write_jpg_to_func(append, NULL, SIDE, SIDE, COLOURS, pixels, 80);
	return sum + read_back();
}

static double batch(unsigned long pieces)
{
	double start = own_ns();
	volatile unsigned long sum = 0;

	for (unsigned long i = 0; i < pieces; i++)
		sum += piece();
	return (own_ns() - start) / pieces;
}

int main(int argc, char **argv)
{
	unsigned long pieces = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long batches = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;

	if (!pieces || !batches) {
		fprintf(stderr, "usage: picture PIECES BATCHES\n");
		return 2;
	}
	setlinebuf(stdout);
	printf("ready\n");
	if (!wait_line())
		return 0;
	batch(pieces);
	for (unsigned long i = 0; i < batches; i++)
		printf("ns %.0f\n", batch(pieces));
	printf("pieces %lu\n", pieces * (batches + 1));
	while (wait_line())
		;
	return 0;
}
