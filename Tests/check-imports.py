#!/usr/bin/python3
"""Fails if a target imports a module that it does not declare, or that its layer forbids, or depends on a higher layer.

The compiler lets a target import any module that happens to be built; this script does not. Run it in the directory of
Package.swift. A module is checked if it is a target of the package, or has the name of a product that some
target declares. The modules of the toolchain (Foundation, Glibc, ...) need no declaration.

The packages of the fuzzers compile the same code, but are seldom built. Their targets must declare what they import, too.
"""

import json
import pathlib
import re
import subprocess
import sys

# Pure targets, which compute values from values. They do not even import Foundation. Files in folders called Hosted are
# not part of the WebAssembly, and may import the C library.
PURE = {
    "PeerCore": set(),
    "PeerWire": {"PeerCore"},
    "Whiteboard": {"PeerCore"},
    "WhiteboardRendering": {"PeerCore", "Whiteboard"},
}
# The folders of Sources, from the lowest layer to the highest.
LAYERS = ["System", "Network", "Board", "Kit", "FrontEnds", "Programs"]
C_LIBRARIES = {"Darwin", "Glibc", "Musl"}
# Modules that only these targets (and tests) may import.
CONFINED = {
    "GRDB": {"WhiteboardDocument"},
    "NIOHTTP1": {"WhiteboardRelay", "WhiteboardWeb"},
    "NIOSSL": {"PeerSession", "WhiteboardWeb"},
    "NIOWebSocket": {"WhiteboardWeb"},
    "X509": {"PeerSession", "WhiteboardWeb"},
    "CAvahi": {"AvahiDiscovery"},
    "CBrotli": {"whiteboard-replay"},
    "CCairo": {"WhiteboardPictures"},
    "CMalloc": {"WhiteboardPrograms"},
    "CNats": {"RelayCluster"},
    "CVersion": {"WhiteboardPrograms"},
    "CChafa": {"WhiteboardPictures"},
    "CTurboJPEG": {"WhiteboardPictures"},
    "CWebP": {"WhiteboardPictures"},
    "CWebPage": {"WhiteboardWeb", "whiteboard-replay"},
    "CZlib": {"WhiteboardKit", "WhiteboardWeb", "whiteboard-replay"},
    # The libraries of this module are only for the programs that draw.
    "WhiteboardPictures": {"WhiteboardTerminal", "whiteboard-peer", "whiteboard-replay"},
    "CQRCode": {"QRCode"},
}
IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*"
    r"(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)[ \t]+)?(\w+)",
    re.MULTILINE,
)


def of_fuzzers(known):
    """Returns the faults in the packages of the fuzzers. Reading a package this way resolves no dependency."""
    complaints, fuzzing = [], pathlib.Path("Tests/Fuzzing")
    for package in [fuzzing / "Package.swift", *sorted(fuzzing.glob("*/Package.swift"))]:
        dumped = subprocess.run(
            ["swift", "package", "--package-path", package.parent, "dump-package"], stdout=subprocess.PIPE, check=True
        ).stdout
        for target in json.loads(dumped)["targets"]:
            folder = package.parent / target["path"]
            declared = {target["name"], *(name for each in target["dependencies"] for name, *_ in each.values())}
            parts = [folder / source for source in target.get("sources", [""])]
            sources = {path for part in parts for path in ([part] if part.is_file() else part.rglob("*.swift"))}
            imported = {module for path in sources for module in IMPORT.findall(path.read_text(encoding="utf-8"))}
            complaints += [f"{package}: {target['name']} imports {module}, and does not declare it"
                           for module in sorted(imported & known - declared)]
    return complaints


def main():
    described = subprocess.run(
        ["swift", "package", "describe", "--type", "json"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    targets = {target["name"]: target for target in json.loads(described[described.index("{"):])["targets"]}
    products = {name for target in targets.values() for name in target.get("product_dependencies", [])}
    known = targets.keys() | products
    layer = {name: LAYERS.index(pathlib.Path(target["path"]).parts[1]) for name, target in targets.items()
             if target["path"].startswith("Sources/")}
    complaints, imports = [], 0
    for name, own in layer.items():
        complaints += [f"{name} is in {LAYERS[own]}, and depends on {other}, which is in {LAYERS[layer[other]]}"
                       for other in targets[name].get("target_dependencies", []) if layer[other] > own]
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
                if name in PURE and module not in PURE[name] | (C_LIBRARIES if "Hosted" in path.parts else set()):
                    complaints.append(f"{path}: imports {module}, but {name} is pure")
                if target["type"] != "test" and name not in CONFINED.get(module, {name}):
                    complaints.append(f"{path}: imports {module}, which is not for {name}")
    complaints += of_fuzzers(known)
    for other in pathlib.Path("Tests").glob("*/**/Package.swift"):
        for path in re.findall(r'path: "([^"]+)"', other.read_text(encoding="utf-8")):
            if not (other.parent / path).exists():
                complaints.append(f"{other}: there is no {path}")
    print(*complaints, sep="\n", end="\n" if complaints else "")
    print(f"{imports} imports in {len(targets)} targets, {len(complaints)} wrong")
    return 1 if complaints or not imports else 0


if __name__ == "__main__":
    sys.exit(main())
