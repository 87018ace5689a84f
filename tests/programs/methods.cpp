// SPDX-License-Identifier: GPL-2.0-or-later
/* methods [TIMES]: submits tasks to a queue and runs them; prints each call as JSON. */
#include "target.h"

namespace
{
struct Counted {
	long count;
};

struct Task : Counted {
	unsigned id;
	void run(int depth);
};
} // namespace

class Queue
{
	long submitted = 0;

public:
	void submit(const Task &task, char priority);
};

__attribute__((noipa)) void Queue::submit(const Task &task, char priority)
{
	printf("CALL {\"name\": \"submit\", \"submitted\": %ld, \"id\": %u, \"count\": %ld, "
	       "\"priority\": %d}\n",
	       submitted++, task.id, task.count, priority);
}

__attribute__((noipa)) void Task::run(int depth)
{
	printf("CALL {\"name\": \"run\", \"id\": %u, \"depth\": %d}\n", id, depth);
}

__attribute__((noipa)) static void session(Queue *queue, Task *task)
{
	queue->submit(*task, task->id % 2 ? -1 : 1);
}

int main(int argc, char **argv)
{
	target_begin(&argc, &argv);
	unsigned long times = target_arg(argc, argv, 1, 8);
	Queue queue;

	for (unsigned i = 0; i < times; i++) {
		Task task;

		task.count = -(long)i;
		task.id = 4000000000u + i;
		session(&queue, &task);
		task.run(i);
	}
	return 0;
}
