#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles Debian's python3 while it runs a script, shows the call tree and the summary, and leaves
# the folded stacks and a flame graph in the project's root: demo.folded, demo.svg.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=/usr/bin/python3
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
lines=30

[ "$(id -u)" = 0 ] || { echo "demo: needs root: sudo make demo" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work" # the script runs as the caller of sudo

cat > "$work/words.py" <<'PYTHON'
"""Counts words by regular expression, sorts them, takes them through JSON."""
import json
import re

text = "It was the best of times, it was the worst of times, it was the age of wisdom. " * 200
counts = {}
for word in re.findall(r"[A-Za-z]+", text):
    counts[word.lower()] = counts.get(word.lower(), 0) + 1
ranking = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
again = json.loads(json.dumps({word: {"rank": rank, "count": count}
                               for rank, (word, count) in enumerate(ranking)}, indent=2))
print("most frequent:", ", ".join(word for word in list(again)[:5]))
PYTHON

profile() # FORMAT OUTPUT [OPTION...]
{
	echo "\$ proftrace -f $1${3:+ ${*:3}} -- $python words.py" >&2
	./proftrace -f "$1" -o "$2" "${@:3}" -- "$python" "$work/words.py"
}

show() # FILE: its beginning, and what it says at the end
{
	perl -CSD -e '
		my ($lines, $columns, @all) = (shift, shift, <>);
		my $more = @all - $lines - 3;
		splice @all, $lines, $more, "... and $more more lines\n" if $more > 0;
		chomp @all;
		print substr($_, 0, $columns), "\n" for @all, "";
	' "$lines" "${COLUMNS:-100}" "$1"
}

# Nine levels are enough to see where the time goes, and fit the screen; the others see all.
profile tree "$work/tree" -D 9
show "$work/tree"
profile flat "$work/flat"
show "$work/flat"
profile folded demo.folded
perl "$flamegraph" --title "python3 words.py, by proftrace" --countname ns demo.folded > demo.svg

echo "demo.folded  $(wc -l < demo.folded) call paths with their own time, in nanoseconds"
echo "demo.svg     the flame graph of it: open it in a browser"
