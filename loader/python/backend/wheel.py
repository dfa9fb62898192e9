# SPDX-License-Identifier: Apache-2.0
"""make wheel: the program, the library, the preload object and the package in one
file that pip installs anywhere.

    wheel.py STAGE OUT LIBRARY OBJECT

STAGE is a folder for the copies, with the program; OUT is where the wheel goes.
The program has been linked so that it needs nothing but the C library (STAGE/map
is what the linker wrote of it): it is put into bin/, from where no path leads to
a folder that has the version of Python in its name.  Of what LIBRARY needs, all that is not on every Linux is copied beside
it under names that nobody else has, as auditwheel does.  What the files need of
the C library is read from them, and said in the name of the wheel.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import destall_build            # noqa: E402

# What a manylinux system has for certain, of what we could need.
EVERYWHERE = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
              "ld-linux-x86-64.so.2"}
OF_THE_COMPILER = {"libgcc.a", "libc_nonshared.a"}


def ask(*command):
    try:
        return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                              universal_newlines=True).stdout
    except FileNotFoundError:
        sys.exit("wheel: %s is not installed" % command[0])
    except subprocess.CalledProcessError:
        sys.exit("wheel: %s failed" % " ".join(command))


# --- ELF files ---------------------------------------------------------------

def needed(file):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", ask("readelf", "-d", "-W", file))


def foreign(file):
    """(name, path) of what it needs itself and not every system has."""
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", ask("ldd", file), re.M))
    for name in needed(file):
        if name in EVERYWHERE:
            continue
        if name not in paths:
            sys.exit("wheel: %s needs %s, which is not to be found" % (file, name))
        yield name, paths[name]


def glibc(file):
    """The oldest that it runs with, as (2, 34)."""
    found = re.findall(r"GLIBC_(\d+)\.(\d+)", ask("readelf", "-V", "-W", file))
    versions = [(int(a), int(b)) for a, b in found]
    if "GLIBC_ABI_DT_RELR" in ask("readelf", "-V", "-W", file):
        versions.append((2, 36))
    return max(versions, default=(2, 17))


def strip(path):
    ask("strip", "--strip-unneeded", path)
    return path


def copy(file, folder, name):
    return strip(shutil.copyfile(os.path.realpath(file), os.path.join(folder, name)))


def rename(name, path):
    """libpng16.so.16 -> libpng16-0a1b2c3d.so.16: no job has that loaded."""
    with open(path, "rb") as f:
        digest = hashlib.sha256(f.read()).hexdigest()[:8]
    stem, dot, rest = name.partition(".so")
    return "%s-%s%s%s" % (stem, digest, dot, rest)


def bundle(file, found):
    """All that the file needs, beside it; found: name -> (its new name, path)."""
    for name, path in foreign(file):
        if name not in found:
            new = rename(name, path)
            found[name] = new, path
            beside = copy(path, os.path.dirname(file), new)
            ask("patchelf", "--set-soname", new, beside)
            bundle(beside, found)
        ask("patchelf", "--replace-needed", name, found[name][0], file)
        ask("patchelf", "--set-rpath", "$ORIGIN", file)


# --- licences ----------------------------------------------------------------

def archives(map_file):
    """The static libraries in a program, but for the compiler's own."""
    with open(map_file) as f:
        found = set(re.findall(r"^(/\S+\.a)\(", f.read(), re.M))
    return {path for path in found if os.path.basename(path) not in OF_THE_COMPILER}


def owner_of(path):
    """Its package; one that was packed for /lib is found as /usr/lib today."""
    for name in path, path[len("/usr"):]:
        found = subprocess.run(("dpkg-query", "-S", name), stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, universal_newlines=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return None


def notice(path):
    """(a name, the file) of what the makers of a library want told wherever it goes."""
    owner = shutil.which("dpkg-query") and owner_of(os.path.realpath(path))
    text = "/usr/share/doc/%s/copyright" % owner
    if not owner or not os.path.exists(text):
        sys.exit("wheel: the licence of %s is not to be found: only Debian tells where" % path)
    return owner, text


# --- the whole ---------------------------------------------------------------

def write(out, program, files, notices):
    """Its tag says the oldest C library that all of it runs with."""
    oldest = max(glibc(file) for file in [program] + files)
    tag = "py3-none-manylinux_%d_%d_%s" % (oldest + (os.uname().machine,))
    wheel = destall_build.Wheel(os.path.join(out, destall_build.name_of(tag)), tag)
    for name, file in destall_build.package():
        wheel.add(name, file)
    for file in files:
        wheel.add("destall/lib/" + os.path.basename(file), file, 0o755)
    wheel.add("destall-%s.data/scripts/destall" % destall_build.version(), program, 0o755)
    for owner, text in notices:
        wheel.add("%s/licenses/%s" % (wheel.info, owner), text)
    wheel.close()
    print(destall_build.name_of(tag))


def main(stage, out, library, object_):
    program = strip(os.path.join(stage, "destall"))
    library = copy(library, stage, "libdestall.so.0")
    object_ = copy(object_, stage, "libdestall-preload.so")
    for file in program, object_:
        for name, _ in foreign(file):
            sys.exit("wheel: %s still needs %s" % (file, name))
    found = {}
    bundle(library, found)
    files = [library, object_] + [os.path.join(stage, new) for new, _ in found.values()]
    libraries = archives(os.path.join(stage, "map")).union(path for _, path in found.values())
    write(out, program, files, sorted(set(map(notice, libraries))))


main(*sys.argv[1:])
