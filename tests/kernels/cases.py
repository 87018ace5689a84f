# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of `make kernels`: its columns and rows, and the part that belongs to the short
form."""

import collections

# `kernel`: a name that fetch knows; `preempt`: its preempt=, None for Debian's default.
Column = collections.namedtuple("Column", "name kernel preempt")
# `tests`: patterns for inside.py; `limit`: seconds until the machine is ended; `steady`: see
# machine.py; `smp`: its processors, if it is not steady; `lacks`: {column: why the row says nothing
# there}.
Row = collections.namedtuple("Row", "name tests limit steady smp lacks",
                             defaults=(3600, True, 2, {}))

COLUMNS = [
    Column("5.10", "5.10", None),
    Column("6.1", "6.1", None),
    Column("6.12", "6.12", None),
    Column("newest", "newest", None),
    Column("newest-full", "newest", "full"),
]
# The last column has one row of its own: see arm64.py.
ARM64 = "arm64"
TREE = "tree of python3"  # is compared with that of this machine

ROWS = [
    Row("short", ["on_kernels.Short.*"]),
    Row("counts -p", ["test_counts.Counts.test_pid_*"]),
    Row("counts -x", ["test_counts.Counts.test_exec_*"]),
    Row("counts of commands", ["test_counts.Counts.test_command_*"]),
    Row("counts, special", ["test_counts.Special.*"]),
    Row("exits", ["test_exits.Exits.*"]),
    Row("emulated by programs", ["on_kernels.Emulation.*"], lacks={
        name: "programs cannot write registers" for name in ("5.10", "6.1", "6.12")}),
    Row("sandboxes", ["test_exits.Sandboxes.*"]),
    Row("whom to trace", ["test_targets.Pids.*", "test_targets.Files.*"]),
    Row("of 32 bits", ["on_kernels.Of32Bits.*"]),
    Row("in a container", ["test_containers.Containers.*"],
        lacks={name: "children are not followed in functions with return probes"
               for name in ("5.10", "6.1", "6.12")}),
    Row("life of processes", ["test_life.Programs.*", "test_life.Loading.test_a_late_plugin*",
                              "test_life.Loading.test_dlopen*", "test_life.Loading.test_only*"],
        lacks={"5.10": "no thread waits there until what it loads is planned"}),
    Row("survival", ["test_survival.*"]),
    Row("regions", ["test_regions.Counts.test_of_*", "test_regions.Counts.test_followed*",
                    "test_regions.Counts.test_wherever*", "test_regions.Counts.test_exceptions"]),
    Row("recordings", ["test_record.Record.test_every*", "on_kernels.Recordings.*"]),
    Row("values", ["test_regions.Values.test_by_value"]),
    Row("lines", ["test_lines.Own.test_command", "test_lines.Own.test_pid",
                  "test_lines.Own.test_recording"]),
    Row("sessions", ["on_kernels.Sessions.*", "test_tail_calls.TailCalls.test_what_goes_on",
                     "test_tail_calls.TailCalls.test_in_a_row"]),
    Row("causes of slow sessions", ["test_why.Why.test_whom_for"],
        lacks={"5.10": "its programs keep no waits"}),
    Row("system calls", ["test_system_calls.SystemCalls.test_command",
                         "test_system_calls.SystemCalls.test_process"]),
    Row("triggers", ["test_triggers.*"]),
    Row("what was open", ["test_seeds.Seeds.test_exact", "test_seeds.Seeds.test_all_functions"],
        lacks={"5.10": "its programs cannot unwind"}),
    Row("asleep from the start", ["test_asleep.Asleep.test_hung",
                                  "test_asleep.Asleep.test_wakes_up"],
        lacks={"5.10": "its programs keep no waits"}),
    Row("preempted amid probes", ["on_kernels.Preempted.*"]),
    Row("python3 and redis", ["on_kernels.RealPrograms.*"]),
    Row(TREE, ["on_kernels.PythonTree.*"]),
    Row("doctor", ["test_doctor.Doctor.*", "on_kernels.Doctor.*"]),
    Row("verifier's limit", ["test_verifier.Verifier.*"],
        lacks={"5.10": "it does not tell how much it looks at"}),
    # In the rows below processors must run at the same time.
    Row("profiler killed", ["on_kernels.Killed.*"], steady=False),
    Row("two return probes", ["on_kernels.SharedReturns.*"], steady=False, lacks={
        name: "its session links, or their records, are others" for name in ("5.10", "6.1",
                                                                             "6.12")}),
    Row("more threads than CPUs", ["on_kernels.Hammer.*"], steady=False),
    Row("eight CPUs", ["on_kernels.ManyCpus.*"], 7200, steady=False, smp=8),
]

# The short form, a part of `make check`, in one machine a kernel: cases whose results cannot depend
# on the machine's speed.
SHORT = {column.name: ["on_kernels.Short.*", "on_kernels.Of32Bits.*",
                       "test_containers.Containers.test_a_container_*"]
         for column in COLUMNS}
for _name in "6.1", "6.12", "newest", "newest-full":
    SHORT[_name].append("test_seeds.Seeds.test_exact")
for _name in "newest", "newest-full":
    SHORT[_name] += ["on_kernels.Emulation.test_returns", "on_kernels.Emulation.test_entries"]
SHORT["newest-full"].append("on_kernels.Preempted.*")
