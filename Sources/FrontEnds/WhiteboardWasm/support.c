// Functions that the Swift compiler and its library expect from the system.

// Fills memory with random bytes; the page implements it with crypto.getRandomValues.
__attribute__((import_module("whiteboard"), import_name("random")))
void fill_with_random_bytes(void *start, unsigned long count);

// The C library's `arc4random_buf` has the same effect, but contains printf.
void arc4random_buf(void *start, unsigned long count) { fill_with_random_bytes(start, count); }

// Parses a number, and returns the end of it; NULL if there is none.
double strtod(const char *text, char **end);
const char *_swift_stdlib_strtod_clocale(const char *text, double *number) {
  char *end;
  *number = strtod(text, &end);
  return end == text ? 0 : end;
}

// Multiplies two numbers of 128 bits.
__int128 __multi3(__int128 a, __int128 b) {
  typedef unsigned long long word;
  word a0 = (word)a, a1 = (word)(a >> 64), b0 = (word)b, b1 = (word)(b >> 64);
  word low = 0xffffffff, c = (a0 & low) * (b0 & low), d = (a0 >> 32) * (b0 & low);
  word e = (a0 & low) * (b0 >> 32), middle = (c >> 32) + (d & low) + (e & low);
  word high = (a0 >> 32) * (b0 >> 32) + (d >> 32) + (e >> 32) + (middle >> 32) + a0 * b1 + a1 * b0;
  return (__int128)high << 64 | (middle << 32 | (c & low));
}
