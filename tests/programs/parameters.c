// SPDX-License-Identifier: GPL-2.0-or-later
/* parameters [TIMES]: calls functions with parameters of all kinds, and prints each call as JSON. */
#include <stdbool.h>
#include <stdint.h>

#include "target.h"

enum mode { MODE_ONE = 1, MODE_TWO, MODE_THREE };

struct pair {
	long first, second;
};

struct request {
	int32_t status;
	unsigned char flags : 3, kind : 5;
	const char *path;
	union {
		struct {
			uint16_t port;
			double load;
		};
		char raw[16];
	};
	uint64_t id;
	float weight;
	struct {
		int16_t level;
		struct {
			char text[12];
		} label;
	} tag;
};
typedef const struct request *request_ref;

struct opaque;

__attribute__((noipa)) void handle(request_ref req, float ratio, int32_t delta, const char *name,
				   bool last, enum mode mode, int8_t tiny, double scale, uint16_t port)
{
	printf("CALL {\"name\": \"handle\", \"delta\": %d, \"text\": \"%s\", \"last\": %d, "
	       "\"mode\": %u, \"tiny\": %d, \"port\": %u, \"status\": %d, \"path\": \"%s\", "
	       "\"member\": %u, \"load\": %.17g, \"id\": %lu, \"weight\": %.17g, \"req\": %lu, "
	       "\"level\": %d, \"label\": \"%s\"}\n",
	       delta, name, last, mode, tiny, port, req->status, req->path, req->port, req->load,
	       req->id, (double)req->weight, (uintptr_t)req, req->tag.level, req->tag.label.text);
}

__attribute__((noipa)) void by_value(long before, struct pair pair, long behind)
{
	printf("CALL {\"name\": \"by_value\", \"before\": %ld, \"behind\": %ld}\n", before,
	       behind + pair.first);
}

__attribute__((noipa)) struct pair returns_pair(long number)
{
	return (struct pair){number, number + 1};
}

__attribute__((noipa)) void declared(struct opaque *what)
{
	printf("CALL {\"name\": \"declared\", \"what\": %lu}\n", (uintptr_t)what);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 8);

	for (unsigned long i = 0; i < times; i++) {
		struct request req = {
			.status = 3 - (int)i,
			.path = i % 2 ? "/odd" : "/even",
			.flags = i % 8,
			.port = 65530 + i,
			.load = i / 3.0,
			.id = ~i,
			.weight = i / 7.0f,
			.tag.level = -(int)i,
		};

		snprintf(req.tag.label.text, sizeof(req.tag.label.text), i % 2 ? "odd" : "");
		handle(&req, i, 2 - (int)i, i % 3 ? "some" : "third", i % 2, MODE_ONE + i % 3, -i,
		       i, 65533 + i);
		by_value(i, (struct pair){1, 2}, 7);
		returns_pair(i);
		declared((struct opaque *)&req);
	}
	return 0;
}
