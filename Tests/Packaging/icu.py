"""Reduces the ICU data in Foundation to the data that the programs use.

The programs print English text, and never sort, split or format text for a locale. The complete data has 33 MB.
"""

import re
import struct
import subprocess

#: The items to leave out: converters for old encodings; rules for sorting and for breaks between words; names of
#: characters, currencies, languages, regions, units and time zones; numbers in words; profiles of identifiers; and the
#: resources of all languages except English.
UNUSED = re.compile(
    r"\.(cnv|dict|spp|cfu)$|/(coll|brkitr|curr|lang|rbnf|region|translit|unit|zone)/|/(cnvalias|unames)\.icu$"
    r"|/langInfo\.res$|/(?!en[_.]|res_index\.)[a-z]{2,3}(_\w+)?\.res$"
)


def items(data):
    """Returns the header of a common data file, and the names and contents of its items."""
    start = struct.unpack_from("<H", data)[0]
    count = struct.unpack_from("<I", data, start)[0]
    entries = [struct.unpack_from("<II", data, start + 4 + 8 * index) for index in range(count)]
    ends = [place for _, place in entries[1:]] + [len(data) - start]
    return data[:start], [
        (data[start + name:data.index(b"\0", start + name)], data[start + place:start + end])
        for (name, place), end in zip(entries, ends)
    ]


def common_data(header, kept):
    """Returns a common data file with these items."""
    names_start = 4 + 8 * len(kept)
    names = b"".join(name + b"\0" for name, _ in kept)
    place = -(-(names_start + len(names)) // 16) * 16
    table, name_place, parts = struct.pack("<I", len(kept)), names_start, []
    for name, content in kept:
        table += struct.pack("<II", name_place, place)
        name_place += len(name) + 1
        content += bytes(-len(content) % 16)
        parts.append(content)
        place += len(content)
    head = table + names
    return header + head + bytes(-len(head) % 16) + b"".join(parts)


def reduced_object(library, folder):
    """Writes an object with the reduced data, to link instead of the library's object with the complete data."""
    member = "icu_packaged_data.cpp.o"
    original, data = folder / member, folder / "icu.dat"
    with original.open("wb") as out:
        subprocess.run(["ar", "p", library, member], stdout=out, check=True)
    symbols = subprocess.run(["nm", original], stdout=subprocess.PIPE, text=True, check=True).stdout
    symbol = re.search(r" R (icudt\d+_dat)$", symbols, re.M)[1]
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.rodata", original, data], check=True)
    header, all_items = items(data.read_bytes())
    kept = [(name, content) for name, content in all_items if not UNUSED.search(name.decode())]
    assert 100 < len(kept) < len(all_items), (len(kept), len(all_items))
    data.write_bytes(common_data(header, kept))
    source, target = folder / "icu.s", folder / "icu.o"
    source.write_text(
        f'.section .rodata\n.globl {symbol}\n.type {symbol}, @object\n.balign 16\n{symbol}:\n.incbin "{data}"\n'
        f'.size {symbol}, . - {symbol}\n.section .note.GNU-stack,"",@progbits\n'
    )
    subprocess.run(["clang", "-c", source, "-o", target], check=True)
    return target
