# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts for the real programs. Their output is the same each time."""

BASH = r'''
set -u
shopt -s extglob nullglob
declare -A count=()
fib() { local n=$1; if ((n < 2)); then echo "$n"; else echo $(($(fib $((n - 1))) + $(fib $((n - 2))))); fi; }
fail() { return 7; }
trap 'echo "trap: $?"' EXIT
trap 'echo usr1' USR1
for word in the quick brown fox jumps over the lazy dog the end; do
	count[$word]=$((${count[$word]:-0} + 1))
done
for word in $(printf '%s\n' "${!count[@]}" | sort); do printf '%s=%d ' "$word" "${count[$word]}"; done
echo; fib 9
kill -USR1 $$
( echo "subshell ${BASH_SUBSHELL}"; exit 3 ); echo "status $?"
fail || echo "failed $?"
echo {1..5}{a,b} "${PATH//[^:]/}" "$(printf 'x%.0s' {1..20})"
while read -r line; do [[ $line =~ ^([a-z]+)-([0-9]+)$ ]] && echo "${BASH_REMATCH[2]} ${BASH_REMATCH[1]}"
done <<< $'abc-1\ndef-22\nbad'
case foobar in foo@(bar|baz)) echo matched;; esac
mapfile -t lines < <(seq 5); echo "${#lines[@]} ${lines[*]}"
eval 'for ((i = 0; i < 200; i++)); do s=$((${s:-0} + i * i)); done'; echo "$s"
unset nosuch; (echo "${nosuch}") 2>/dev/null || echo "unset: $?"
'''

PYTHON = r'''
import contextlib, decimal, functools, hashlib, itertools, json, re, string, sys, threading

def deep(n):
    return deep(n + 1)

words = re.findall(r"[a-z]+", "the quick brown fox jumps over the lazy dog " * 20)
print(json.dumps({w: words.count(w) for w in sorted(set(words))}))
try:
    deep(0)
except RecursionError as error:
    print(type(error).__name__)
for kind in (KeyError, ValueError, OSError):
    try:
        raise kind("raised") from ZeroDivisionError("cause")
    except Exception as error:
        print(repr(error), repr(error.__cause__))

def generator(n):
    try:
        for i in range(n):
            yield i * i
    finally:
        print("closed")

with contextlib.closing(generator(100)) as g:
    print(sum(itertools.islice(g, 20)))
print(decimal.Decimal(2).sqrt(), hashlib.sha256(b"proftrace").hexdigest()[:16])
print(functools.reduce(lambda a, b: a * b, range(1, 60)), "{:>10}|{:<5}".format("x", 3))
results = []
threads = [threading.Thread(target=lambda n=n: results.append(sum(range(n)))) for n in range(20)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(results), string.Template("$a $b").substitute(a=1, b=2))
print(sorted({"b": 1, "a": 2}.items()), eval("1 + 2 * 3"), hash("fixed"))
sys.exit(3)
'''

PERL = r'''
use strict; use warnings;
my %count;
for my $word (split ' ', "the quick brown fox jumps over the lazy dog " x 50) {
	$count{$word}++ if $word =~ /^[a-z]+$/;
}
printf "%s %d\n", $_, $count{$_} for sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
sub deep { my $n = shift; $n ? 1 + deep($n - 1) : die { code => 42 } }
for (1 .. 20) { eval { deep(40) }; print "caught $@->{code}\n" if $_ == 20; }
eval { eval { die "inner\n" }; print "got $@"; die "outer\n" }; print "got $@";
local $SIG{__DIE__} = sub { print "die handler\n" };
local $SIG{USR1} = sub { die "in a handler\n" };
eval { kill USR1 => $$; 1 }; print "got $@";
OUTER: for my $i (1 .. 5) { for my $j (1 .. 5) { next OUTER if $j == 3; last OUTER if $i == 4; print $i * $j, " " } }
print "\n", join(",", map { sprintf "%02x", $_ } sort { $b <=> $a } grep { $_ % 3 } 1 .. 20), "\n";
my $s = "x" x 100; (my $t = $s) =~ s/x{7}/y/g; print "$t\n", scalar reverse("abc"), "\n";
print pack("A3 n C", "abc", 258, 3) eq "abc\x01\x02\x03" ? "packed\n" : "not packed\n";
exit 5;
'''

SQL = '''
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT, length INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
INSERT INTO words SELECT i, printf('word %d', i * 7919 % 1000), i % 13 FROM n;
CREATE INDEX by_length ON words (length);
SELECT length, count(*), max(word) FROM words GROUP BY length ORDER BY 2 DESC, 1;
SELECT a.word, b.word FROM words a JOIN words b ON a.length = b.length AND b.id = a.id + 13 LIMIT 5;
BEGIN; UPDATE words SET word = upper(word) WHERE length > 6; ROLLBACK;
INSERT INTO words VALUES (1, 'twice', 0);
SELECT nonsense FROM words;
DELETE FROM words WHERE word LIKE '%9';
SELECT count(*), sum(length), group_concat(DISTINCT length) FROM words;
SELECT json_group_array(word) FROM words WHERE id < 5;
PRAGMA integrity_check;
'''

C_SOURCE = r'''
typedef unsigned long size_t;
struct node { struct node *left, *right; int key; };
static int sum(const struct node *n) { return n ? n->key + sum(n->left) + sum(n->right) : 0; }
int table[16] = { 1, 2, 3 };
double mix(double a, float b, int c) { switch (c & 3) { case 0: return a; case 1: return b; default: return a * b + c; } }
size_t length(const char *s) { size_t n = 0; while (*s++) n++; return n; }
int work(struct node *n) { int total = 0; for (int i = 0; i < 16; i++) total += table[i] * sum(n); return total; }
'''

BAD_CPP = "int main( { if (x) { return }\n"
ODD_CPP = r'''
#include "nothere.h"
template<class T> struct A { A<A<T>> x; };
class Base { public: virtual int f() { return 1; } ~Base() {} };
class Derived : public Base { int *p; public: Derived() { p = new int[3]; } int f() { return p[5]; } };
int leak(int n) { char *p = new char[10]; if (n) return 1; delete p; return p[0]; }
int f() { int a[2]; a[3] = 1; char *q = 0; *q = 1; for (int i = 0; i < 2; i++) ; return a[0]; }
'''
CRASHING_CPP = "template <int N> struct B { enum { v = B<N - 1>::v + } ; };\nvoid g() { x = [ ; }\n"

GIT = [line.split("|") for line in '''
init|-q|-b|main
config|gc.auto|0
add|.
commit|-q|-m|first
log|--stat
mv|a.txt|b.txt
commit|-q|-am|rename a
checkout|-q|-b|side|HEAD~1
rm|-q|dir/c.txt
commit|-q|-m|remove c
checkout|-q|main
merge|-q|-m|merge side|side
log|--graph|--oneline|--name-status
diff|HEAD~1|-M
grep|-nE|l[aeiou]+zy
grep|-nP|(?<=qui)ck
blame|b.txt
fsck|--full
gc|-q
show|HEAD:b.txt
rev-parse|nosuch
status|--short|--branch
'''.strip().splitlines()]

REDIS = '''
SET counter 1
INCRBY counter 41
MSET a 1 b 2 c 3
MGET a b c nosuch
LPUSH list x y z
LRANGE list 0 -1
LPOP nosuch
HSET hash f1 v1 f2 v2
HGETALL hash
ZADD zset 1 one 2 two 3 three
ZRANGEBYSCORE zset 2 +inf WITHSCORES
SADD set m1
SISMEMBER set m1
INCR list
EVAL "return redis.call('get', KEYS[1]) + 1" 1 counter
EVAL "return redis.error_reply('raised')" 0
EVAL "local function d(n) if n == 0 then error('deep') end return 1 + d(n - 1) end return d(50)" 0
EVAL "local t = {} for i = 1, 500 do t[i] = i * i end return #t" 0
XADD stream 1-1 k v
XRANGE stream - +
SETBIT bits 7 1
BITCOUNT bits
PFADD hll a b c
PFCOUNT hll
GEOADD geo 13.361389 38.115556 Palermo
GEOHASH geo Palermo
SORT list ALPHA
DBSIZE
NOSUCH
'''
