# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that a filter around proftrace refuses, as container engines have one."""

import ctypes
import os
import struct

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO = 0x7fff0000, 5 << 16
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # instructions of classic BPF
NUMBER, FIRST_ARGUMENT = 0, 16  # offsets in struct seccomp_data


def refuse(call, error, first_argument=None):
    """Lets the system call `call` fail with `error` in this process and its children from now on;
    given a first argument, only with that one."""
    steps = [(LOAD, 0, 0, NUMBER), (JUMP_IF_EQUAL, 0, 1 if first_argument is None else 3, call)]
    if first_argument is not None:
        steps += [(LOAD, 0, 0, FIRST_ARGUMENT), (JUMP_IF_EQUAL, 0, 1, first_argument)]
    steps += [(RETURN, 0, 0, SECCOMP_RET_ERRNO | error), (RETURN, 0, 0, SECCOMP_RET_ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(buffer))
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
