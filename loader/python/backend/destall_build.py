# SPDX-License-Identifier: Apache-2.0
"""What pip asks to make a wheel of this folder (PEP 517), of the standard library
alone, so that nothing is downloaded."""

import base64
import glob
import hashlib
import io
import os
import tarfile
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

METADATA = """\
Metadata-Version: 2.1
Name: destall
Version: %s
Summary: Several training jobs share one cache and every prepared batch
License: Apache-2.0
Requires-Python: >=3.8
"""

WHEEL = """\
Wheel-Version: 1.0
Generator: destall
Root-Is-Purelib: %s
Tag: %s
"""


def _path(name):
    return os.path.join(ROOT, name)


def version():
    """Without importing anything."""
    names = {}
    with open(_path("destall/_version.py")) as f:
        exec(f.read(), names)
    return names["VERSION"]


def licence():
    """In an unpacked sdist it is beside us, in the tree at the top."""
    for name in ("LICENSE", "../../LICENSE"):
        if os.path.exists(_path(name)):
            return _path(name)
    raise FileNotFoundError("there is no LICENSE beside " + ROOT)


def package():
    """(name in the wheel, file) of all that is Python."""
    for file in sorted(glob.glob(_path("destall/*.py"))):
        yield "destall/" + os.path.basename(file), file
    yield "destall/site/sitecustomize.py", _path("site/sitecustomize.py")
    yield "destall.pth", _path("destall.pth")


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel:
    """A file that grows; the same contents give the same bytes."""

    def __init__(self, path, tag):
        self.info = "destall-%s.dist-info" % version()
        self.tag = tag
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add_bytes(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)
        self._record.append("%s,sha256=%s,%d" % (name, _digest(data), len(data)))

    def add(self, name, file, mode=0o644):
        with open(file, "rb") as f:
            self.add_bytes(name, f.read(), mode)

    def close(self):
        pure = "true" if self.tag.endswith("-any") else "false"
        self.add(self.info + "/licenses/LICENSE", licence())
        self.add_bytes(self.info + "/METADATA", (METADATA % version()).encode())
        self.add_bytes(self.info + "/WHEEL", (WHEEL % (pure, self.tag)).encode())
        name = self.info + "/RECORD"
        self._record.append(name + ",,")
        self._zip.writestr(zipfile.ZipInfo(name), "\n".join(self._record) + "\n")
        self._zip.close()


def name_of(tag):
    return "destall-%s-%s.whl" % (version(), tag)


# --- the hooks ---------------------------------------------------------------

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag = "py3-none-any"
    wheel = Wheel(os.path.join(wheel_directory, name_of(tag)), tag)
    for name, file in package():
        wheel.add(name, file)
    wheel.close()
    return name_of(tag)


def build_sdist(sdist_directory, config_settings=None):
    top = "destall-" + version()
    with tarfile.open(os.path.join(sdist_directory, top + ".tar.gz"), "w:gz") as tar:
        for name in ("destall", "site", "backend"):
            for file in sorted(glob.glob(_path(name + "/*.py"))):
                tar.add(file, "%s/%s/%s" % (top, name, os.path.basename(file)))
        for name in ("destall.pth", "pyproject.toml"):
            tar.add(_path(name), "%s/%s" % (top, name))
        tar.add(licence(), top + "/LICENSE")
        info = tarfile.TarInfo(top + "/PKG-INFO")
        text = (METADATA % version()).encode()
        info.size, info.mtime = len(text), int(time.time())
        tar.addfile(info, io.BytesIO(text))
    return top + ".tar.gz"
