// Replaces the Unicode tables of the Swift library, which would be a sixth of the download. The replica does not need
// them, because it compares texts by their code points, and the browser lays out the text. Case matters only for
// ASCII letters, which the library handles without tables.

typedef unsigned char byte;
typedef unsigned int word;

// No code point has a decomposition.
unsigned short _swift_stdlib_getNormData(word scalar) { return 0; }
word _swift_stdlib_getDecompositionEntry(word scalar) { return 0; }
word _swift_stdlib_getComposition(word first, word second) { return ~0u; }
const byte *const _swift_stdlib_nfd_decompositions = 0;

// Every code point is a grapheme cluster of its own, and counts as a letter without case.
byte _swift_stdlib_getGraphemeBreakProperty(word scalar) { return 0xFF; }
_Bool _swift_stdlib_isInCB_Consonant(word scalar) { return 0; }
_Bool _swift_stdlib_isExtendedPictographic(word scalar) { return 0; }
unsigned long long _swift_stdlib_getBinaryProperties(word scalar) { return 0; }
byte _swift_stdlib_getGeneralCategory(word scalar) { return 4; }
int _swift_stdlib_getMapping(word scalar, byte mapping) { return 0; }
const byte *_swift_stdlib_getSpecialMapping(word scalar, byte mapping, long *length) { return 0; }
