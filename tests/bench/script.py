# SPDX-License-Identifier: GPL-2.0-or-later
"""The script whose calls scripts/bench counts: the same in every run, and of many kinds."""
import json
import os
import re
import sys


class Word:
    def __init__(self, text):
        self.text = text

    def __lt__(self, other):
        return self.text < other.text

    def __repr__(self):
        return f"Word({self.text!r})"


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


text = "It was the best of times, it was the worst of times, it was the age of wisdom. " * 10
counts = {}
for word in re.findall(r"[A-Za-z]+", text):
    counts[word.lower()] = counts.get(word.lower(), 0) + 1
print(sorted(map(Word, counts))[:3], json.loads(json.dumps(counts, indent=1)) == counts)
try:
    counts["missing"]
except KeyError as error:
    print(repr(error))
squares = (i * i for i in range(100))
print(sum(squares), fibonacci(10), "%.4f" % 2 ** 0.5, set("abc") & set("bcd") == {"b", "c"})
print(b"bytes".hex(), str(3 ** 100)[:9], [*zip("ab", range(2))], "a,b".split(","), hash("fixed"))
# Not the interpreter's own end: how often that compares objects depends on their addresses, which
# are others under valgrind.
sys.stdout.flush()
os._exit(0)
