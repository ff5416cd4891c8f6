#!/usr/bin/python3
"""Fails when a target imports what it does not declare, or what its place in the house forbids.

The compiler lets a target import any module that happens to have been built; this does not. Run it where
Package.swift is. A module counts when it is a target of the package or shares its name with a product some
target declares; the modules of the toolchain (Foundation, Glibc, ...) need no declaration.
"""

import json
import pathlib
import re
import subprocess
import sys

# Pure targets: values in, values out. Not even Foundation.
PURE = {
    "PeerWire": set(),
    "Whiteboard": set(),
    "WhiteboardExport": {"Whiteboard", "WhiteboardRendering"},
    "WhiteboardRendering": {"Whiteboard"},
}
# Modules that are seen by these targets only (and by tests).
CONFINED = {
    "GRDB": {"WhiteboardDocument"},
    "NIOHTTP1": {"RelayOperations"},
    "NIOSSL": {"PeerSession"},
    "X509": {"PeerSession"},
    "CAvahi": {"AvahiDiscovery"},
    "CCairo": {"WhiteboardPictures"},
    "CMalloc": {"WhiteboardCommands"},
    "CChafa": {"WhiteboardPictures"},
    "CTurboJPEG": {"WhiteboardPictures"},
    "CWebP": {"WhiteboardPictures"},
    # The libraries behind it are for the programs that draw.
    "WhiteboardPictures": {"WhiteboardTerminal", "whiteboard-peer", "whiteboard-replay"},
    "CQRCode": {"QRCode"},
}
IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*"
    r"(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)[ \t]+)?(\w+)",
    re.MULTILINE,
)


def main():
    described = subprocess.run(
        ["swift", "package", "describe", "--type", "json"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    targets = {target["name"]: target for target in json.loads(described[described.index("{"):])["targets"]}
    products = {name for target in targets.values() for name in target.get("product_dependencies", [])}
    known = targets.keys() | products
    complaints, imports = [], 0
    for name, target in sorted(targets.items()):
        declared = {name, *target.get("target_dependencies", []), *target.get("product_dependencies", [])}
        for source in target["sources"]:
            path = pathlib.Path(target["path"], source)
            if path.suffix != ".swift":
                continue
            for module in sorted(set(IMPORT.findall(path.read_text(encoding="utf-8")))):
                imports += 1
                if module in known and module not in declared:
                    complaints.append(f"{path}: imports {module}, which {name} does not declare")
                if name in PURE and module not in PURE[name]:
                    complaints.append(f"{path}: imports {module}, but {name} is pure")
                if target["type"] != "test" and name not in CONFINED.get(module, {name}):
                    complaints.append(f"{path}: imports {module}, which is not for {name}")
    print(*complaints, sep="\n", end="\n" if complaints else "")
    print(f"{imports} imports in {len(targets)} targets, {len(complaints)} wrong")
    return 1 if complaints or not imports else 0


if __name__ == "__main__":
    sys.exit(main())
