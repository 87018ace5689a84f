# SPDX-License-Identifier: GPL-2.0-or-later
"""Target safety: small programs that do to their stack what programs do."""

from engine import Case
from rows import row


def case(title, *args, short=False, needs=(), **more):
    """A row of one program."""
    @row("target safety", title, short=short, needs=needs)
    def run(trial):
        Case(*args, **more).run(trial)


case("throw through 1 frame, rethrow, catch(...)", "throws", 1, 100, hold=True)
case("throw through 10 frames", "throws", 10, 100, hold=True, short=True)
case("throw through 100 frames", "throws", 100, 20, hold=True)
case("nested, rethrown and carried exceptions", "rethrow", 20, hold=True, short=True)
case("exceptions out of signal handlers", "signal_throws", patterns=("divide", "load"))
case("pthread_exit in C", "exits", "pthread_exit", hold=True)
case("pthread_cancel in C", "exits", "cancel", hold=True)
case("cleanups of cancelled threads", "cleanup", patterns=("wait_inside", "end_inside"))
case("cleanups inside libc", "cleanup", options=("-F", "libc.so.6:*", "-F", "*"),
     patterns=("wait_inside", "end_inside"))
case("pthread_exit in C++, with destructors", "thread_ends", "exit", 10, 20, hold=True, short=True)
case("pthread_cancel in C++, with destructors", "thread_ends", "cancel", 10, 20, hold=True)
case("Rust panics, catch_unwind, resume_unwind", "panics", 10, 20, needs=("program panics",))
for kind in ("", "-static"):
    case("exceptions of Free Pascal" + kind.replace("-", ", "), "raises" + kind, 10, 20,
         needs=(f"program raises{kind}",))
case("walks by libunwind, itself traced too", "unwinds", 10, 20,
     options=("-F", "libunwind*:*", "-F", "*"), needs=("program unwinds",), hold=True)
case("longjmp over 3 frames", "longjmp", 3, 100, hold=True)
case("longjmp over 100 frames", "longjmp", 100, 20, hold=True, short=True)
case("siglongjmp out of a handler", "longjmp", 5, 100, "signal", hold=True)
for kind in ("", "-static"):
    case("jumps and looks at return addresses of its own" + kind.replace("-", ", "),
         "own_jumps" + kind, 50, hold=True, short=not kind)
    case("coroutines by setjmp and longjmp" + kind.replace("-", ", "), "jump_swaps" + kind, 50,
         hold=True, returns=False, short=not kind)
    case("a stack that is copied and put back" + kind.replace("-", ", "), "stack_copies" + kind, 20,
         hold=True, returns=False, short=not kind)
    case("a stack that is put back word by word" + kind.replace("-", ", "), "stack_copies" + kind,
         20, "loop", hold=True, returns=False)
    case("gprof's mcount()" + kind.replace("-", ", "), "profiled" + kind, 50, hold=True)
case("functions as people write them in assembly", "odd_code", 50, hold=True, short=True)
case("system calls that are handed to the program itself", "diverted", 100)
for way, how in (("", "loaded"), ("-1", "computed"), ("-2", "by its frame pointer"),
                 ("-3", "as an address"), ("-4", "by a push and a pop")):
    case(f"a switch of stacks of its own, {how}", "own_switch" + way, 100,
         patterns=("inner", "outer"))
case("sigaltstack below the stack", "altstack", "below", 200, hold=True, returns=True)
# Return probes there would kill: where they are used, calls of handlers end when the handler has.
case("sigaltstack above the stack", "altstack", "above", 200, hold=True, short=True)
case("siglongjmp off a stack below", "altstack", "below", 200, "jump", hold=True)
case("siglongjmp off a stack above", "altstack", "above", 200, "jump", hold=True)
case("handlers nested on a thread's own stack", "signals", 200, hold=True, returns=True)
case("nested handlers at 1 kHz on an alternate stack", "nested_handlers", 200, hold=True,
     returns=True, varies=("COUNT",))
case("ucontext", "coroutine", 200, hold=True, short=True)
case("ucontext, switched by a signal handler", "preempt", patterns=("leaf",))
case("fibers that move between threads", "fibers", 20, 20, hold=True, returns=True, short=True)
case("boost.context", "boost_fibers", 10, 20, hold=True, returns=False,
     needs=("program boost_fibers",))
case("C++20 coroutines", "generators", 200, hold=True)
case("seccomp strict", "seccomp", "strict", 200, hold=True, returns=True, short=True)
case("seccomp allow-list that kills", "seccomp", "filter", 200, hold=True, returns=True)
case("killed by its seccomp filter in the end", "seccomp", "killed", 200)
case("recursion 63", "recursion", 63, 10, hold=True, returns=True)
case("recursion 64", "recursion", 64, 10, hold=True)
case("recursion 65", "recursion", 65, 10, hold=True)
case("recursion 10,000", "recursion", 10000, 3, hold=True)
case("tail-call chains", "tailcall", 100, hold=True, short=True)
case("loops back to the entry, and entries of all kinds", "entries", 100, hold=True, short=True)
case("cold pieces", "cold", 100, hold=True)
case("data and overlaps inside functions", "inline_data", patterns=("sum_table", "call_over"))
case("an exchange that looks like a nop", "exchange")
case("aliases and indirect functions", "aliases", 100, hold=True)
case("backtrace(), frame pointers, return addresses", "backtraces", 50, hold=True, short=True)
case("backtrace() found by dlsym()", "backtraces-name", 50, hold=True)
case("AddressSanitizer", "asan", 200)
case("red-zone leaf functions", "redzone", 500, hold=True, returns=True)
case("red-zone leaf functions, five nops at the entry", "redzone-nops", 500, hold=True,
     returns=True)
case("red-zone leaf functions, nop5 at the entry", "redzone-nop5", 500, hold=True, returns=True,
     short=True)
for how, options in (("", ()), (", no functions", ("-F", "region:*"))):
    case("regions of all kinds" + how, "regions", 50, options=options, hold=True, short=not how)
case("regions in red-zone leaf functions", "regions-plain", 50,
     options=("-F", "region:*"), hold=True)
case("regions that exceptions leave", "region_throws", 50, options=("-F", "region:*"), hold=True)
case("C++ names and constructors", "names", 100, hold=True)
case("a C++ plug-in that throws through a C program", "plugin_host", 100, hold=True, short=True)
for ending in ("exit", "_exit", "signal", "abort"):
    case(f"end inside calls by {ending}", "exits", ending)


def go_case(title, name, *args, options=()):
    """Made by Go's toolchain."""
    case(f"Go: {title}", "go" + name, *args, options=options, needs=(f"program go{name}",))


go_case("stack growth", "stack", 10, 200)
go_case("10,000 goroutines while garbage is collected", "many", 10000, 10,
        options=("-F", "main.*"))
go_case("500 goroutines, the runtime traced too", "many", 500, 5)
go_case("panic and recover", "panic", 100, 50)
go_case("functions of every kind", "kinds", 200)
go_case("stripped, at any address", "kinds-pie-stripped", 200)


def burst_case(title, *args, short=False):
    """A row of one program that runs long enough for bursts."""
    @row("target safety", f"in bursts: {title}", short=short)
    def run(trial):
        Case(*args).run_in_bursts(trial)


burst_case("throw through 10 frames", "throws", 10, 60000, short=True)
burst_case("nested, rethrown and carried exceptions", "rethrow", 20000)
burst_case("longjmp over 100 frames", "longjmp", 100, 600000)
burst_case("sigaltstack above the stack", "altstack", "above", 200000)
burst_case("ucontext", "coroutine", 2000000, short=True)
burst_case("fibers that move between threads", "fibers", 20, 10000)
burst_case("tail-call chains", "tailcall", 3000000)
