# SPDX-License-Identifier: GPL-2.0-or-later
"""Folders with the files of other machines, for programs that take them for their root."""

import glob
import importlib.machinery
import importlib.util
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Mounts are this process's own, and gone with it; processes have the numbers that they have here.
ENTER = """
root=$1; shift
mount -t proc proc "$root/proc"
for folder in sys dev; do mount --rbind /$folder "$root/$folder"; done
exec chroot "$root" "$@"
"""


def load_fetch():
    """The script that downloads kernels: it knows the mirror, and how to use apt apart."""
    path = os.path.join(HERE, "..", "kernels", "fetch")
    loader = importlib.machinery.SourceFileLoader("fetch", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch", loader))
    loader.exec_module(module)
    return module


def run(*argv, **options):
    """Returns the program's output; raises RuntimeError, with all output, if the program fails."""
    done = subprocess.run(list(map(str, argv)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=1200, check=False, text=True,
                          errors="replace", **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit status {done.returncode}\n"
                           f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


class Machine:
    def __init__(self, root):
        self.root = root
        for name in ("proc", "sys", "dev", "tmp"):
            os.makedirs(self.path(name), exist_ok=True)

    def path(self, *names):
        return os.path.join(self.root, *names)

    def run(self, *argv):
        environment = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8",
                       "DEBIAN_FRONTEND": "noninteractive", "HOME": "/root", "TERM": "dumb"}
        return run("unshare", "--mount", "sh", "-ec", ENTER, "sh", self.root, *argv,
                   env=environment)


def cached(name, make):
    """A file of the cache, which `make(folder)` returns the path of if it is not there."""
    folder = load_fetch().cache_folder().replace("kernels", "packages")
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="part-", dir=folder) as part:
            os.rename(make(part), path)
    return path


def libc_of(suite):
    """Debian's package of a suite's libc."""
    def download(folder):
        fetch = load_fetch()
        apart = fetch.private_apt(folder, suite)
        fetch.run(["apt-get", *apart, "update"])
        fetch.run(["apt-get", *apart, "download", "libc6"], cwd=folder)
        return glob.glob(os.path.join(folder, "libc6_*.deb"))[0]

    return cached(f"libc6-{suite}.deb", download)


def with_libc(suite, root):
    """A machine that has nothing but a libc."""
    run("dpkg-deb", "-x", libc_of(suite), root)
    for name in ("lib", "lib64"):  # newer releases have them in /usr
        if not os.path.exists(os.path.join(root, name)):
            os.symlink(f"usr/{name}", os.path.join(root, name))
    return Machine(root)


def fresh(suite, root):
    """A machine with Debian just installed."""
    mirror = load_fetch().mirror()
    packages = cached(f"{suite}.tar", lambda folder: bootstrap(
        f"--make-tarball={folder}/packages", suite, f"{folder}/root", mirror, f"{folder}/packages"))
    bootstrap(f"--unpack-tarball={packages}", suite, root, mirror)
    return Machine(root)


def bootstrap(how, suite, root, mirror, made=None):
    run("debootstrap", "--variant=minbase", how, suite, root, mirror)
    return made
