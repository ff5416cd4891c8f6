#!/usr/bin/python3
"""Unpacks the corpus of a fuzzer into a folder, or packs a folder.

  corpus.py unpack ARCHIVE FOLDER
  corpus.py pack FOLDER ARCHIVE

An archive is a compressed tar file. Each input is named by its hash, so equal inputs give equal bytes.
An archive with the same inputs is not written again.
"""

import gzip
import hashlib
import io
import pathlib
import sys
import tarfile


def inputs_of(archive):
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def unpack(archive, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in inputs_of(archive).items():
        (folder / name).write_bytes(data)


def pack(folder, archive):
    inputs = {hashlib.sha256(data).hexdigest()[:12]: data for data in map(pathlib.Path.read_bytes, folder.iterdir())}
    if not inputs:
        sys.exit(f"corpus.py: {folder} is empty")
    if archive.exists() and inputs_of(archive) == inputs:
        return
    with io.BytesIO() as tape:
        with tarfile.open(fileobj=tape, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, data in sorted(inputs.items()):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        archive.write_bytes(gzip.compress(tape.getvalue(), mtime=0))


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    {"pack": pack, "unpack": unpack}[sys.argv[1]](*map(pathlib.Path, sys.argv[2:]))
