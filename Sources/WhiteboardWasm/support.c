// Multiplies two 128-bit numbers; the compiler calls it, and Embedded Swift has no library with it.
__int128 __multi3(__int128 a, __int128 b) {
  typedef unsigned long long word;
  word a0 = (word)a, a1 = (word)(a >> 64), b0 = (word)b, b1 = (word)(b >> 64);
  word low = 0xffffffff, c = (a0 & low) * (b0 & low), d = (a0 >> 32) * (b0 & low);
  word e = (a0 & low) * (b0 >> 32), middle = (c >> 32) + (d & low) + (e & low);
  word high = (a0 >> 32) * (b0 >> 32) + (d >> 32) + (e >> 32) + (middle >> 32) + a0 * b1 + a1 * b0;
  return (__int128)high << 64 | (middle << 32 | (c & low));
}
