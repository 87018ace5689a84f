#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles a busy redis-server with no options but its process id and five seconds, within the
# budget: shows the tree's begin and what is said at its end on one screen, and leaves the folded
# stacks and a flame graph in the project's root: demo.folded, demo.svg.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

lines=30

[ "$(id -u)" = 0 ] || { echo "demo: needs root: sudo make demo" >&2; exit 1; }

work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

redis-server --port 0 --unixsocket "$work/socket" --save "" > "$work/log" &
server=$!
until redis-cli -s "$work/socket" ping > "$work/log" 2>&1; do sleep 0.1; done
redis-benchmark -s "$work/socket" -t set,get,lpush,zadd -r 100000 -n 100000000 > "$work/log" 2>&1 &

echo "\$ proftrace -p redis-server -d 5      # under redis-benchmark"
./proftrace record -q -p "$server" -d 5 -o "$work/data"
./proftrace report -q -f tree "$work/data" > "$work/tree"
./proftrace report -q -f folded "$work/data" > demo.folded
./proftrace report -q -f svg -o demo.svg "$work/data"

# The tree's begin, how much more there is, and what follows it but for the table of drops.
perl -CSD -e '
	my ($lines, $columns, @all) = (shift, shift, <>);
	my ($end) = grep { $all[$_] eq "\n" } 0 .. $#all;
	my ($drops) = grep { $all[$_] =~ /dropped to keep to the budget; exact/ } 0 .. $#all;
	my @tree = splice @all, 0, $end + 1;
	splice @all, $drops - $end - 1 if defined $drops;
	my $more = @tree - $lines - 1;
	splice @tree, $lines, $more, "... and $more more rows\n" if $more > 0;
	chomp(@tree, @all);
	print substr($_, 0, $columns), "\n" for @tree, @all;
' "$lines" "${COLUMNS:-100}" "$work/tree"

echo
echo "demo.folded  $(wc -l < demo.folded) call paths with their own time, in nanoseconds"
echo "demo.svg     the flame graph of it: open it in a browser"
