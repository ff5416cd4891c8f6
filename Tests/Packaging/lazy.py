"""Libraries that the programs load when they first call one of their functions.

Most runs of a program use few of its libraries: a relay draws no pictures, and `--version` needs none at all. Loading all
of them takes longer than the rest of a short run. So the executable contains a stub for each function of a
library, which loads the library and then jumps to the function.
"""

import re
import subprocess

#: The libraries, by their names for the linker.
LIBRARIES = [
    "avahi-client", "avahi-common", "brotlidec", "cairo", "chafa", "glib-2.0", "gobject-2.0", "nats", "pango-1.0",
    "pangocairo-1.0", "png16", "qrencode", "turbojpeg", "webp",
]

#: A stub, and the record that it shares with whiteboard_load in load.c: the address to jump to, the name of the function,
#: and the library. Each is in a section of its own, so that the linker leaves out the stubs of other functions.
STUB = """
.section .text.{name},"ax",@progbits
.globl {name}
.hidden {name}
.type {name}, @function
{name}:
  jmp *whiteboard_lazy_{name}(%rip)
1:
  leaq whiteboard_lazy_{name}(%rip), %r11
  jmp whiteboard_load_and_jump
.size {name}, . - {name}
.section .data.{name},"aw",@progbits
.type whiteboard_lazy_{name}, @object
.balign 8
whiteboard_lazy_{name}:
  .quad 1b, 2f, {library}
.size whiteboard_lazy_{name}, . - whiteboard_lazy_{name}
.section .rodata.{name},"aMS",@progbits,1
2:
  .string "{name}"
"""


def run(*words):
    return subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, text=True, check=True).stdout


def library_file(name):
    return run("clang", f"-print-file-name=lib{name}.so").strip()


def stubs(source, folder):
    """Writes objects with the stubs of all functions, and with the code that loads a library; returns their files.

    Also writes a file for each library without any contents, so that the linker does not use the library itself.
    """
    text, known = [], set()
    for number, library in enumerate(LIBRARIES):
        file = library_file(library)
        (folder / f"lib{library}.so").write_text("/* see lazy.py */\n")
        soname = re.search(r"\(SONAME\).*\[(.*)\]", run("readelf", "-d", file))[1]
        text.append(f'.section .rodata.name{number},"a",@progbits\nlibrary{number}:\n  .string "{soname}"\n')
        names = re.findall(r" [TW] (\w+)(?:@@\S+)?$", run("nm", "-D", "--defined-only", file), re.M)
        text += [STUB.format(name=name, library=f"library{number}") for name in names if name not in known]
        known.update(names)
    assembly, target = folder / "lazy.s", folder / "lazy.o"
    assembly.write_text("".join(text) + '\n.section .note.GNU-stack,"",@progbits\n')
    run("clang", "-c", assembly, "-o", target)
    loader = folder / "load.o"
    run("clang", "-c", "-Os", "-fPIE", source, "-o", loader)
    return [target, loader]


def users(program, folder):
    """Writes a library that needs the same functions as a program, which has symbols; returns its file.

    Tools that look for the libraries of a program find them in this library.
    """
    names = re.findall(r" [dD] whiteboard_lazy_(\w+)$", run("nm", program), re.M)
    assert len(names) > 50, names
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program))
    assert not [name for name in needed if re.match("lib(cairo|avahi|glib)", name)], needed
    assembly, target = folder / "users.s", folder / "libusers.so"
    assembly.write_text(".data\n" + "".join(f".quad {name}\n" for name in names))
    run("clang", "-shared", "-fuse-ld=lld", assembly, "-o", target, "-Wl,--as-needed", *(f"-l{name}" for name in LIBRARIES))
    return target
