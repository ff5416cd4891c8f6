import CZlib
import PeerCore
import Whiteboard
import WhiteboardRendering

/// A drawing of Excalidraw inside a PNG or SVG, so that the picture can be edited again. Excalidraw stores the document
/// as JSON that contains a string with one character for each byte. In a PNG, that JSON is a text chunk; in an SVG, it
/// is base64 between comments.
enum EmbeddedDrawing {
  /// The type of the document, which is also the keyword of its chunk in a PNG.
  private static let type = "application/vnd.excalidraw+json"
  private static let start = "<!-- payload-start -->"
  private static let end = "<!-- payload-end -->"

  struct Damaged: Error {}

  // MARK: - Reading

  /// Returns the document inside a picture; nil if the file is not a PNG or SVG, or contains no document. Throws if the
  /// document is longer than `limit`.
  static func document(in bytes: [UInt8], limit: Int = ImportedBoard.byteLimit) throws(Damaged) -> [UInt8]? {
    if bytes.starts(with: PhotoHeader.pngBeginning) {
      return try chunk(of: bytes, limit).map { (text) throws(Damaged) in try decoded(text, limit) }
    }
    guard bytes.first(where: { $0 > 0x20 && $0 < 0x80 }) == UInt8(ascii: "<") else { return nil }
    return try payload(of: bytes).map { (text) throws(Damaged) in try decoded(text, limit) }
  }

  private static func chunk(of bytes: [UInt8], _ limit: Int) throws(Damaged) -> [UInt8]? {
    for (name, place) in PNGChunks(bytes) {
      let (kind, data) = (String(decoding: name, as: UTF8.self), bytes[place])
      guard ["tEXt", "zTXt", "iTXt"].contains(kind), data.starts(with: Array(type.utf8) + [0]) else { continue }
      let text = data.dropFirst(type.utf8.count + 1)
      switch kind {
      case "tEXt": return utf8(latin1: text)
      case "zTXt": return utf8(latin1: try inflated(text.dropFirst(), limit)[...])
      default:
        // Two bytes state whether and how the text is compressed. The language and the translated keyword follow; each
        // ends with 0.
        let parts = text.dropFirst(2).split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw Damaged() }
        return text.first == 1 ? try inflated(parts[2], limit) : Array(parts[2])
      }
    }
    return nil
  }

  private static func payload(of bytes: [UInt8]) throws(Damaged) -> [UInt8]? {
    guard place(of: "payload-type:\(type)", in: bytes[...]) != nil else { return nil }
    guard let start = place(of: start, in: bytes[...]), let end = place(of: end, in: bytes[start.upperBound...]),
      let text = Base64.decode(
        String(decoding: bytes[start.upperBound..<end.lowerBound].filter { $0 > 0x20 }, as: UTF8.self)
      )
    else { throw Damaged() }
    // Before version 2, the text was UTF-8.
    return place(of: "payload-version:2", in: bytes[..<start.lowerBound]) == nil ? text : utf8(latin1: text[...])
  }

  private static func decoded(_ bytes: [UInt8], _ limit: Int) throws(Damaged) -> [UInt8] {
    guard let tree = try? JSONReader.read(bytes) else { throw Damaged() }
    // Old files contain the document itself.
    guard let encoded = tree["encoded"]?.string else { return bytes }
    guard tree["encoding"]?.string == "bstring" else { throw Damaged() }
    var document: [UInt8] = []
    document.reserveCapacity(encoded.utf8.count)
    for scalar in encoded.unicodeScalars {
      guard let byte = UInt8(exactly: scalar.value) else { throw Damaged() }
      document.append(byte)
    }
    return tree["compressed"]?.flag == true ? try inflated(document[...], limit) : document
  }

  private static func utf8(latin1 bytes: ArraySlice<UInt8>) -> [UInt8] {
    Array(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })).utf8)
  }

  private static func place(of text: String, in bytes: ArraySlice<UInt8>) -> Range<Int>? {
    let pattern = Array(text.utf8)
    var rest = bytes
    while let next = rest.firstIndex(of: pattern[0]) {
      if bytes[next...].starts(with: pattern) { return next..<(next + pattern.count) }
      rest = bytes[(next + 1)...]
    }
    return nil
  }

  private static func inflated(_ bytes: ArraySlice<UInt8>, _ limit: Int) throws(Damaged) -> [UInt8] {
    var stream = z_stream()
    // 15 selects the largest window, and 32 accepts both formats.
    guard inflateInit2_(&stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw Damaged()
    }
    defer { inflateEnd(&stream) }
    var output: [UInt8] = []
    var status = Z_OK
    bytes.withUnsafeBufferPointer { bytes in
      stream.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
      stream.avail_in = UInt32(bytes.count)
      while status == Z_OK, output.count <= limit {
        output += [UInt8](unsafeUninitializedCapacity: 1 << 18) { buffer, count in
          stream.next_out = buffer.baseAddress
          stream.avail_out = UInt32(buffer.count)
          status = inflate(&stream, Z_NO_FLUSH)
          count = buffer.count - Int(stream.avail_out)
        }
      }
    }
    guard status == Z_STREAM_END, output.count <= limit else { throw Damaged() }
    return output
  }

  // MARK: - Writing

  static func embed(_ document: String, in picture: [UInt8], _ format: ExportFormat) -> [UInt8] {
    if format == .png {
      // The last chunk has no data, and ends the picture.
      let data: [UInt8] = Array(type.utf8) + [0] + envelope(document)
      let kind = Array("tEXt".utf8)
      let text = kind + data
      let sum = text.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
      let chunk: [UInt8] = bytes(UInt32(data.count)) + text + bytes(UInt32(sum))
      return picture.dropLast(12) + chunk + picture.suffix(12)
    }
    // The first line is the start tag of the picture.
    let tag = picture.prefix { $0 != UInt8(ascii: "\n") }
    let metadata =
      "\n<!-- svg-source:excalidraw -->\n<metadata><!-- payload-type:\(type) --><!-- payload-version:2 -->"
      + "\(start)\(Base64.encode(envelope(document)))\(end)</metadata>"
    return tag + Array(metadata.utf8) + picture.dropFirst(tag.count)
  }

  /// Returns JSON that contains the compressed document, with one character for each byte.
  private static func envelope(_ document: String) -> [UInt8] {
    let bytes = Array(document.utf8)
    var count = compressBound(UInt(bytes.count))
    let deflated = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, filled in
      let status = compress2(buffer.baseAddress, &count, bytes, UInt(bytes.count), Z_BEST_COMPRESSION)
      precondition(status == Z_OK, "the buffer has room for the compressed bytes")
      filled = Int(count)
    }
    var json = JSONObject()
    json.add("version", string: "1")
    json.add("encoding", string: "bstring")
    json.add("compressed", true)
    json.add("encoded", string: String(String.UnicodeScalarView(deflated.map { Unicode.Scalar($0) })))
    return json.text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [UInt8(number >> 24), UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
  }
}

extension BoardExport {
  package func file(
    as format: ExportFormat,
    scale: Double?,
    paper: PaperSize?,
    hasFramePages: Bool = false,
    pages: (any PageWriter)?,
    embedsDrawing: Bool
  ) throws(ExportError) -> ExportedFile {
    guard embedsDrawing else {
      return try file(as: format, scale: scale, paper: paper, hasFramePages: hasFramePages, pages: pages)
    }
    guard format == .png || format == .svg else { throw .noDrawing(format) }
    var picture = try file(as: format, scale: scale, pages: pages)
    picture.bytes = EmbeddedDrawing.embed(ExcalidrawFile.text(self), in: picture.bytes, format)
    return picture
  }
}
