import PeerCore
import Whiteboard

/// A namespace for files that contain an Excalidraw drawing in a form other than an Excalidraw document.
enum ExcalidrawSource {
  /// Returns the document in a note of Obsidian (`.excalidraw.md`), or a document made from a bare list of elements;
  /// nil for other content.
  static func document(in bytes: [UInt8]) -> [UInt8]? {
    guard let first = bytes.first(where: { $0 > 0x20 && $0 < 0x80 }) else { return nil }
    if first == UInt8(ascii: "[") {
      // Some programs copy elements as a bare list, without the surrounding file.
      guard contains(bytes[...], "\"type\"") != nil else { return nil }
      return Array("{\"type\":\"excalidraw\",\"elements\":".utf8) + bytes + [UInt8(ascii: "}")]
    }
    if let block = block("```compressed-json", in: bytes) { return LZString.decompress(block) }
    return block("```json", in: bytes).map { Array($0) }
  }

  private static func block(_ start: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
    guard let begin = contains(bytes[...], start), let end = contains(bytes[begin...], "```") else { return nil }
    return bytes[begin..<(end - 3)]
  }

  /// Returns the index after the first occurrence of a text.
  private static func contains(_ bytes: ArraySlice<UInt8>, _ text: String) -> Int? {
    let pattern = Array(text.utf8)
    var index = bytes.startIndex
    while index + pattern.count <= bytes.endIndex {
      guard let next = bytes[index...].firstIndex(of: pattern[0]) else { return nil }
      if bytes[next...].starts(with: pattern) { return next + pattern.count }
      index = next + 1
    }
    return nil
  }
}

/// The compression of the JavaScript library `lz-string`, as base64, which notes of Obsidian use.
enum LZString {
  /// Returns the text as UTF-8; nil if the input is malformed or the text is longer than a file that can be imported.
  static func decompress(_ base64: some Sequence<UInt8>) -> [UInt8]? {
    var bits = Bits(base64)
    guard let kind = bits.code(width: 2) else { return nil }
    if kind == 2 { return [] }
    guard let first = bits.unit(kind) else { return nil }
    // Codes 0 and 1 announce a new UTF-16 unit, and code 2 is the end. The entries from 3 on are ranges of the output.
    var output = [first]
    var entries: [Range<Int>] = [0..<0, 0..<0, 0..<0, 0..<1]
    var last = 0..<1
    var (width, room) = (3, 4)
    func count(_ room: inout Int, _ width: inout Int) {
      room -= 1
      guard room == 0 else { return }
      room = 1 << width
      width += 1
    }
    while let code = bits.code(width: width), code != 2 {
      let start = output.count
      if code < 2 {
        guard let unit = bits.unit(code) else { return nil }
        entries.append(start..<(start + 1))
        output.append(unit)
        count(&room, &width)
      } else if code < entries.count {
        output += Array(output[entries[code]])
      } else if code == entries.count {
        output += Array(output[last])
        output.append(output[last.lowerBound])
      } else {
        return nil
      }
      guard output.count <= ImportedBoard.byteLimit else { return nil }
      // The new entry consists of the previous entry and the first unit of this entry, which are adjacent in the
      // output.
      entries.append(last.lowerBound..<(last.upperBound + 1))
      last = start..<output.count
      count(&room, &width)
    }
    return Array(String(decoding: output, as: UTF16.self).utf8)
  }

  /// A reader of bits, the lowest bit of a number first.
  private struct Bits {
    private let values: [UInt8]
    private var position = 0

    init(_ base64: some Sequence<UInt8>) {
      values = base64.compactMap { byte in
        switch byte {
        case 0x41...0x5A: byte - 0x41
        case 0x61...0x7A: byte - 0x61 + 26
        case 0x30...0x39: byte - 0x30 + 52
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
      }
    }

    mutating func code(width: Int) -> Int? {
      guard width <= 32, position + width <= values.count * 6 else { return nil }
      var number = 0
      for bit in 0..<width {
        if values[position / 6] >> (5 - UInt8(position % 6)) & 1 == 1 { number |= 1 << bit }
        position += 1
      }
      return number
    }

    mutating func unit(_ kind: Int) -> UInt16? {
      guard kind < 2 else { return nil }
      return code(width: kind == 0 ? 8 : 16).flatMap { UInt16(exactly: $0) }
    }
  }
}
