// SPDX-License-Identifier: GPL-2.0-or-later
/* Other people's code, in one file: an image goes through a PNG writer and a reader, rectangles are
 * packed, numbers printed, tables filled. gcov counts its lines as well: see
 * tests/e2e/test_lines.py. Takes the image's width. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STB_IMAGE_IMPLEMENTATION
#define STBI_NO_SIMD
#define STBI_ONLY_PNG
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#define STB_RECT_PACK_IMPLEMENTATION
#include <stb/stb_rect_pack.h>
#define STB_SPRINTF_IMPLEMENTATION
#define STB_SPRINTF_NOUNALIGNED
#include <stb/stb_sprintf.h>
#define STB_DS_IMPLEMENTATION
#include <stb/stb_ds.h>

static unsigned char file[1 << 16];
static int file_len;

static void append(void *context, void *data, int size)
{
	memcpy(file + file_len, data, size);
	file_len += size;
}

static unsigned int images(int width)
{
	int height = width / 2 + 1, w, h, channels;
	unsigned char *pixels = malloc(width * height * 3), *read;
	unsigned int sum = 0;

	for (int i = 0; i < width * height * 3; i++)
		pixels[i] = i % 7 ? i * i >> 3 : i;
	stbi_write_png_to_func(append, NULL, width, height, 3, pixels, width * 3);
	read = stbi_load_from_memory(file, file_len, &w, &h, &channels, 4);
	for (int i = 0; read && i < w * h * 4; i++)
		sum = sum * 31 + read[i];
	stbi_image_free(read);
	free(pixels);
	return sum + file_len;
}

static unsigned int rectangles(int cnt)
{
	stbrp_context context;
	stbrp_node nodes[64];
	stbrp_rect rects[20];
	unsigned int sum = 0;

	stbrp_init_target(&context, 64, 64, nodes, 64);
	for (int i = 0; i < cnt; i++)
		rects[i] = (stbrp_rect){.id = i, .w = i % 7 + 3, .h = i % 5 + 4};
	stbrp_pack_rects(&context, rects, cnt);
	for (int i = 0; i < cnt; i++)
		sum = sum * 31 + rects[i].x + 64 * rects[i].y + rects[i].was_packed;
	return sum;
}

static unsigned int texts(void)
{
	char text[256];
	unsigned int sum = 0;

	stbsp_snprintf(text, sizeof(text), "%d|%08x|%-12s|%.3f|%e|%'lld|%c|%p|%5.1f%%", -42, 0xbeef,
		       "text", 3.14159, 1.5e-9, 123456789ll, 'c', NULL, 99.5);
	for (const char *s = text; *s; s++)
		sum = sum * 31 + *s;
	return sum;
}

struct pair {
	char *key;
	int value;
};

static unsigned int tables(int cnt)
{
	struct pair *map = NULL;
	unsigned int sum = 0;
	char key[16];

	stbds_rand_seed(1);
	sh_new_strdup(map);
	for (int i = 0; i < cnt; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		shput(map, key, i);
	}
	for (int i = 0; i < cnt; i += 2) {
		snprintf(key, sizeof(key), "key%d", i);
		(void)shdel(map, key);
	}
	for (int i = 0; i < shlen(map); i++)
		sum += map[i].value;
	shfree(map);
	return sum;
}

int main(int argc, char **argv)
{
	int width = argc > 1 ? atoi(argv[1]) : 8;
	unsigned int sum = images(width);

	sum = sum * 31 + rectangles(20);
	sum = sum * 31 + texts();
	sum = sum * 31 + tables(width * 2);
	printf("%u\n", sum);
	return 0;
}
