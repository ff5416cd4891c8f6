/// Returns a path quoted as one word for a shell, so that a user can paste it. A path with control characters or
/// invisible characters is in the form `$'...'`, which shows them as escapes.
package func shellQuoted(_ path: String) -> String {
  let isPlain = path.utf8.allSatisfy { byte in
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
  if isPlain && !path.isEmpty && !path.hasPrefix("-") { return path }
  if UntrustedText(path).escaped(limit: .max) == path, !path.contains("\\") {
    return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
  let digits = Array("0123456789abcdef")
  var word = "$'"
  for byte in path.utf8 {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\\"): word += "\\" + String(UnicodeScalar(byte))
    case 0x20...0x7E: word.unicodeScalars.append(UnicodeScalar(byte))
    default: word += "\\x\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
  }
  return word + "'"
}
