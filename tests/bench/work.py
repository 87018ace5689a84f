# SPDX-License-Identifier: GPL-2.0-or-later
"""Does the same piece of work again and again, and says "done" after each: for ever, or so many
times as the first argument says."""
import json
import re
import sys

TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom. " * 20


class Word:
    def __init__(self, text):
        self.text = text

    def __lt__(self, other):
        return self.text < other.text


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def work():
    counts = {}
    for word in re.findall(r"[A-Za-z]+", TEXT):
        counts[word.lower()] = counts.get(word.lower(), 0) + 1
    sorted(map(Word, counts))
    assert json.loads(json.dumps(counts, indent=1)) == counts
    try:
        counts["missing"]
    except KeyError as error:
        repr(error)
    sum(i * i for i in range(2000))
    fibonacci(14)
    ["%d %s %.4f" % (i, bin(i), i ** 0.5) for i in range(300)]
    [*zip(range(500), reversed(range(500)))].sort(key=lambda pair: pair[1])
    str(3 ** 2000)


left = int(sys.argv[1]) if len(sys.argv) > 1 else -1
while left:
    left -= 1
    for _ in range(5):
        work()
    print("done", flush=True)
