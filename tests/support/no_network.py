"""`python -m tests.support.no_network COMMAND...`: run it where the kernel ends it with SIGSYS once it uses a network.

That is `connect` to anything, and a socket for datagrams, which a name look-up needs. It may listen and answer. Linux's
seccomp does it: no root, no tool, and native code is held to it as well.
"""

import ctypes
import os
import platform
import struct
import sys

SYSTEM_CALLS = {"x86_64": (0xC000003E, 41, 42), "aarch64": (0xC00000B7, 198, 203)}  # architecture, socket, connect
SET_NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
ALLOW, KILL_PROCESS = 0x7FFF0000, 0x80000000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, SECOND_ARGUMENT = 0, 4, 16, 24  # where struct seccomp_data has them
LOAD, EQUALS, MASK, RETURN = 0x20, 0x15, 0x54, 0x06  # BPF
UNIX, DATAGRAM, TYPE_BITS = 1, 2, 0xF


class Program(ctypes.Structure):
    """struct sock_fprog."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def instructions(architecture: int, socket: int, connect: int) -> list[tuple[int, int, int, int]]:
    """(operation, instructions to skip if true, if false, operand)."""
    return [
        (LOAD, 0, 0, ARCHITECTURE),
        (EQUALS, 0, 9, architecture),
        (LOAD, 0, 0, NUMBER),
        (EQUALS, 7, 0, connect),
        (EQUALS, 0, 5, socket),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (EQUALS, 3, 0, UNIX),
        (LOAD, 0, 0, SECOND_ARGUMENT),
        (MASK, 0, 0, TYPE_BITS),
        (EQUALS, 1, 0, DATAGRAM),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, KILL_PROCESS),
    ]


def cut_off() -> None:
    """Hold this process, and what it becomes and starts, to it for good. Raises `OSError` where the kernel refuses."""
    packed = b"".join(struct.pack("HBBI", *each) for each in instructions(*SYSTEM_CALLS[platform.machine()]))
    program = Program(len(packed) // 8, packed)
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0)):
        if libc.prctl(*call):
            raise OSError(ctypes.get_errno(), "the kernel does not take the filter")


if __name__ == "__main__":
    cut_off()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606  the command of a test
