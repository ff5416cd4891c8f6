/** Conversions of the ids of members and objects. */

const DIGITS = "abcdefghijklmnopqrstuvwxyz234567";

export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

export const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** Returns bytes as lower-case base32 without padding (RFC 4648). */
export function base32(bytes) {
  let [text, bits, count] = ["", 0, 0];
  for (const byte of bytes) {
    bits = (bits & 31) << 8 | byte;
    for (count += 8; count >= 5; count -= 5) text += DIGITS[bits >>> (count - 5) & 31];
  }
  return count ? text + DIGITS[bits << (5 - count) & 31] : text;
}

/** Decodes base32; returns null if the text has other characters. */
export function fromBase32(text) {
  const bytes = [];
  let [bits, count] = [0, 0];
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    if (digit < 0) return null;
    bits = (bits & 255) << 5 | digit;
    count += 5;
    if (count >= 8) bytes.push(bits >>> (count -= 8) & 255);
  }
  return Uint8Array.from(bytes);
}

/** Returns a name without characters that are invisible or change the direction of text, like `UntrustedText.displayed`. */
export const visible = (name) => name.replace(/[\p{White_Space}\u2800]/gu, " ").replace(/[\p{C}\p{DI}]/gu, "")
  .replace(/(^| )\p{M}+|(\p{M}\p{M})\p{M}+/gu, "$1$2").replace(/ +/g, " ").trim();

/** Isolates a name, so that its direction does not change the order of the words around it. */
export const isolated = (name) => `\u2068${name}\u2069`;

const known = new Map();

/** Converts the id of a member from the JSON of the program to hexadecimal digits; null stays null. */
export function memberID(text) {
  if (!text) return null;
  if (!known.has(text)) known.set(text, hex(fromBase32(text)));
  return known.get(text);
}

// The bright colors of the terminal's pens, without its gray.
const HUES = ["#e69f00", "#56b4e9", "#1fae84", "#f0e442", "#3b8fd9", "#e8601c", "#cc79a7", "#9a7be0"];

/** Returns the colors of members by id, as in the terminal: two members have the same color only if there are more members than colors. */
export function memberColors(ids) {
  let free = [...HUES];
  return new Map([...ids].sort().map((id) => {
    if (!free.length) free = [...HUES];
    let sum = 5381;
    for (const character of base32(fromHex(id))) sum = Math.imul(sum, 33) + character.charCodeAt(0) >>> 0;
    return [id, free.splice(Math.max(free.indexOf(HUES[sum % HUES.length]), 0), 1)[0]];
  }));
}

/** Returns the sort key of the id of an object, `SEQUENCE-INCARNATION`. */
export function sortKey(id) {
  const [sequence, incarnation] = id.split("-");
  return hex(fromBase32(incarnation)) + sequence.padStart(16, "0");
}
