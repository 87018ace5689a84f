# SPDX-License-Identifier: GPL-2.0-or-later
# Does the same piece of work so many times as the first argument says.
use strict;
use warnings;

my $text = "It was the best of times, it was the worst of times, it was the age of wisdom. " x 50;

for my $round (1 .. $ARGV[0]) {
	my %counts;
	$counts{lc $1}++ while $text =~ /([A-Za-z]+)/g;
	my @words = sort { $counts{$b} <=> $counts{$a} || $a cmp $b } keys %counts;
	my $joined = join ",", map { sprintf "%s=%d", $_, $counts{$_} } @words;
	my ($squares, %squares) = (0);
	$squares += $squares{$_} = $_ * $_ for 1 .. 500;
	(my $shouted = $text) =~ s/(\w+)/\u$1/g;
	my @parts = split /,\s*/, $shouted;
	my @found = grep { /Worst|Wisdom/ } @parts;
	printf "%d %d %d %s\n", length $joined, $squares, scalar @found, substr $joined, 0, 9;
}
