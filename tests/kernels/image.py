# SPDX-License-Identifier: GPL-2.0-or-later
"""The file system that a test machine starts with: an archive of this machine's own files (cpio,
"newc"), which the kernel unpacks into memory.

It holds, under the paths they have here: the built proftrace, the end-to-end tests and their
programs, python3 with its library, redis, nginx, bpftool, busybox for all other commands, and the
libraries of all these. It is made once for a build: its name has a digest of what is in it."""

import functools
import glob
import hashlib
import os
import re
import shlex
import shutil
import stat
import subprocess
import sysconfig
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# Busybox has most commands that tests call; these programs are taken as they are.
COMMANDS = ("bpftool", "python3", "redis-server", "redis-cli", "nginx", "setpriv", "unshare")
BUSYBOX = "/usr/bin/busybox"
# Parts of the python library that no test imports: 75 MB of 110.
UNUSED = ("config-", "test", "idlelib", "lib2to3", "pydoc_data", "ensurepip", "turtledemo",
          "tkinter")
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
FOREIGN_FOLDERS = ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu", "lib")


class ImageError(Exception):
    pass


class Archive:
    """Entries by path. A path is added with the folders and symbolic links that lead to it."""

    def __init__(self):
        self.entries = {}  # path: (mode, content or None, file to read or None)

    def folder(self, path, mode=0o755):
        if path != "/":
            self.entries.setdefault(path, (stat.S_IFDIR | mode, b"", None))

    def text(self, path, content, mode=0o644):
        self.parents(path)
        self.entries[path] = (stat.S_IFREG | mode, content.encode(), None)

    def copy(self, path, source):
        """Adds a file of this machine under another path."""
        self.parents(path)
        self.entries[path] = (stat.S_IFREG | stat.S_IMODE(os.stat(source).st_mode), None, source)

    def link(self, path, target):
        if path not in self.entries:
            self.parents(path)
            self.entries[path] = (stat.S_IFLNK | 0o777, target.encode(), None)

    def parents(self, path):
        while (path := os.path.dirname(path)) != "/":
            self.folder(path)

    def file(self, path):
        """Adds a file, and each symbolic link on the way to it. Returns its real path."""
        at, rest = "/", path.strip("/").split("/")
        while rest:
            here = os.path.join(at, rest.pop(0))
            if os.path.islink(here):
                target = os.readlink(here)
                self.entries[here] = (stat.S_IFLNK | 0o777, target.encode(), None)
                full = os.path.normpath(os.path.join(os.path.dirname(here), target))
                return self.file(os.path.join(full, *rest))
            if os.path.isdir(here):
                self.folder(here)
            else:
                mode = stat.S_IMODE(os.stat(here).st_mode)
                self.entries[here] = (stat.S_IFREG | mode, None, here)
            at = here
        return at

    def tree(self, top, leave_out=lambda path: False):
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders
                                if not leave_out(os.path.join(folder, name)))
            for name in sorted(files):
                path = os.path.join(folder, name)
                if not leave_out(path) and os.path.exists(path):
                    self.file(path)

    def digest(self):
        text = hashlib.sha256()
        for path, (mode, content, source) in sorted(self.entries.items()):
            text.update(f"{path} {mode} {content} ".encode())
            if source:
                status = os.stat(source)
                text.update(f"{status.st_size} {status.st_mtime_ns} {status.st_ino}\n".encode())
        return text.hexdigest()[:16]

    def write(self, file):
        """https://docs.kernel.org/driver-api/early-userspace/buffer-format.html"""
        for number, (path, entry) in enumerate(sorted(self.entries.items()), 1):
            self._write_entry(file, number, path.lstrip("/"), entry)
        self._write_entry(file, 0, "TRAILER!!!", (0, b"", None))

    @staticmethod
    def _write_entry(file, number, name, entry):
        mode, content, source = entry
        modified = 0
        if content is None:
            with open(source, "rb") as opened:
                content = opened.read()
            # Python compiles what seems to be older than what it was compiled from.
            modified = int(os.stat(source).st_mtime)
        fields = [number, mode, 0, 0, 1, modified, len(content), 0, 0, 0, 0, len(name) + 1, 0]
        header = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        file.write(header + bytes(-len(header) % 4))
        file.write(content + bytes(-len(content) % 4))


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


@functools.cache
def libraries(path):
    """The files that a program or library needs to start, by ldd."""
    done = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False, timeout=60)
    found = []
    for line in done.stdout.decode(errors="replace").splitlines():
        words = line.replace("=>", " ").split()
        found += [word for word in words if word.startswith("/")][:1]
    return found


def add_with_libraries(archive, path):
    real = archive.file(path)
    if is_elf(real):
        for library in libraries(real):
            archive.file(library)


def add_commands(archive):
    for name in COMMANDS:
        path = shutil.which(name, path=PATH)
        if not path:
            raise ImageError(f"there is no {name}: run scripts/install-deps.sh build test kernels")
        add_with_libraries(archive, path)
    if not os.path.exists(BUSYBOX):
        raise ImageError("there is no busybox: run scripts/install-deps.sh kernels")
    add_with_libraries(archive, BUSYBOX)
    add_applets(archive)


def add_applets(archive):
    listed = subprocess.run([BUSYBOX, "--list"], stdout=subprocess.PIPE, check=True, timeout=60)
    for applet in listed.stdout.decode().split():
        archive.link(f"/usr/bin/{applet}", "busybox")
    archive.link("/bin", "usr/bin")
    archive.link("/sbin", "usr/sbin")


def add_python(archive):
    library = sysconfig.get_path("stdlib")
    archive.tree(library, lambda path: path.removeprefix(library + "/").startswith(UNUSED))
    for module in glob.glob(os.path.join(library, "lib-dynload", "*.so")):
        add_with_libraries(archive, module)
    # pthread_cancel() loads it by name.
    for path in glob.glob("/usr/lib/*-linux-gnu/libgcc_s.so.1"):
        archive.file(path)


def add_tests(archive, build):
    add_with_libraries(archive, os.path.join(ROOT, "proftrace"))
    for folder in (os.path.join(ROOT, "tests"), os.path.join(ROOT, "include"),
                   os.path.join(build, "programs")):
        archive.tree(folder, lambda path: os.path.basename(path) in ("__pycache__", "fuzz"))
    for path in glob.glob(os.path.join(build, "programs", "*")):
        if os.access(path, os.X_OK) and os.path.isfile(path) and is_elf(path):
            add_with_libraries(archive, path)


def add_settings(archive):
    archive.text("/etc/passwd", "root:x:0:0:root:/root:/bin/sh\n"
                 "www-data:x:33:33::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    archive.text("/etc/group", "root:x:0:\nwww-data:x:33:\nnogroup:x:65534:\n")
    archive.text("/etc/hosts", "127.0.0.1 localhost\n")
    archive.text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
    for folder in ("/proc", "/sys", "/dev", "/run", "/root", "/var", "/var/lib", "/var/log",
                   "/mnt"):
        archive.folder(folder)
    archive.folder("/tmp", 0o1777)
    with open(os.path.join(HERE, "init"), encoding="utf-8") as file:
        archive.text("/init", file.read(), 0o755)


def base(build):
    """The path of the archive for this build; writes it if it is not there yet."""
    archive = Archive()
    add_commands(archive)
    add_python(archive)
    add_tests(archive, build)
    add_settings(archive)
    if os.path.exists("/etc/ld.so.cache"):
        archive.file("/etc/ld.so.cache")
    return written(archive, build)


def written(archive, build):
    """The path of the archive, which is made once."""
    folder = os.path.join(build, "kernels")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"base-{archive.digest()}.cpio")
    if not os.path.exists(path):
        for old in glob.glob(os.path.join(folder, "base-*.cpio")):
            os.unlink(old)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            archive.write(file)
        os.rename(file.name, path)
    return path


def foreign_libraries(path, root):
    """The files below `root` that a program of another architecture needs to start; ldd would have
    to run it. The dynamic linker is among them, as libc needs it."""
    found, rest = {}, [path]
    while rest:
        listed = subprocess.run(["readelf", "-d", rest.pop()], stdout=subprocess.PIPE, check=True,
                                timeout=60)
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", listed.stdout.decode()):
            places = [place for folder in FOREIGN_FOLDERS
                      if os.path.exists(place := os.path.join(root, folder, name))]
            if name not in found and places:
                found[name] = places[0]
                rest.append(places[0])
    return found


def foreign_base(build):
    """The base of a machine with arm64's processors: the programs of `make cross`, and busybox."""
    done = subprocess.run([os.path.join(ROOT, "scripts", "cross-libraries"), "arm64"], check=False,
                          stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    root = done.stdout.decode().strip()
    if done.returncode or not os.path.exists(os.path.join(build, "proftrace")):
        raise ImageError("there is no proftrace for arm64: run `make cross`")
    archive = Archive()
    programs = [path for path in [os.path.join(build, "proftrace"),
                                  *glob.glob(os.path.join(build, "programs", "*"))]
                if os.access(path, os.X_OK) and is_elf(path)]
    for path in programs:
        archive.file(path)
        for name, source in foreign_libraries(path, root).items():
            folder = "/lib" if name.startswith("ld-") else "/lib/aarch64-linux-gnu"
            archive.copy(os.path.join(folder, name), source)
    archive.copy(BUSYBOX, os.path.join(root, "bin", "busybox"))
    add_applets(archive)
    add_settings(archive)
    return written(archive, build)


def job(command, environment, extra=()):
    """A small archive for one machine, to be put behind the base: what it is to run, and more
    programs or files that the command needs."""
    archive = Archive()
    exports = "".join(f"export {name}={shlex.quote(value)}\n"
                      for name, value in environment.items())
    archive.text("/job", f"cd {shlex.quote(ROOT)}\n{exports}{shlex.join(command)}\n")
    for path in extra:
        add_with_libraries(archive, os.path.abspath(path))
    return archive
