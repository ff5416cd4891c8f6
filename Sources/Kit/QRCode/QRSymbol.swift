import CQRCode

package enum QRCodeError: Error, Equatable, Sendable, CustomStringConvertible {
  case empty
  case tooLong(Int)
  case notEncoded

  package var description: String {
    switch self {
    case .empty: "Cannot make a QR code from an empty text."
    case .tooLong(let count): "The text is too long for a QR code: \(count) bytes, at most \(QRSymbol.maximumLength)."
    case .notEncoded: "Cannot make a QR code: the encoder failed."
    }
  }
}

/// A QR code: a square of dark and light modules that encodes a string. The code uses the lowest error correction
/// (level L), because a screen has no scratches and a smaller symbol fits on more terminals.
package struct QRSymbol: Hashable, Sendable {
  /// The maximum length of the encoded string, in bytes.
  package static let maximumLength = 2_953

  /// The number of modules in a row, without the margin.
  package let size: Int
  /// The modules, row by row; `true` means dark.
  private let modules: [Bool]

  package init(_ text: String) throws(QRCodeError) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong(bytes.count) }
    guard let made = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_L) else { throw .notEncoded }
    defer { QRcode_free(made) }
    size = Int(made.pointee.width)
    // The lowest bit of a byte is set for a dark module.
    modules = UnsafeBufferPointer(start: made.pointee.data, count: size * size).map { $0 & 1 == 1 }
  }

  package func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
  }

  /// Returns `size + 2 * margin` half blocks per row, each for two modules; `isInverted` is for light text on a dark
  /// background. The standard requires a margin of four modules, but scanners need only two.
  package func lines(margin: Int = 2, isInverted: Bool = false) -> [String] {
    stride(from: -margin, to: size + margin, by: 2).map { y in
      String(
        (-margin..<size + margin).map { x -> Character in
          // If the number of rows is odd, the lower half of the last line stays empty.
          let isInked = (
            upper: isDark(x, y) != isInverted, lower: y + 1 < size + margin && isDark(x, y + 1) != isInverted
          )
          return switch isInked {
          case (true, true): "█"
          case (true, false): "▀"
          case (false, true): "▄"
          case (false, false): " "
          }
        }
      )
    }
  }

  /// An SVG of the symbol, with the margin of four modules that the standard requires.
  package var svg: String {
    let runs = (0..<size).flatMap { y in
      (0..<size).filter { isDark($0, y) && !isDark($0 - 1, y) }.map { x in
        let end = (x..<size).first { !isDark($0, y) } ?? size
        return "M\(x) \(y)h\(end - x)v1h\(x - end)z"
      }
    }
    let side = size + 8
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-4 -4 \(side) \(side)\" shape-rendering=\"crispEdges\">"
      + "<path fill=\"#fff\" d=\"M-4-4h\(side)v\(side)h-\(side)z\"/><path d=\"\(runs.joined())\"/></svg>"
  }

  /// If `colors` is nil, draws the light modules, because most terminals are dark. Scanners also accept the inverted
  /// code.
  package func drawing(colors: String?) -> String {
    guard let colors else { return lines(isInverted: true).joined(separator: "\n") + "\n" }
    return lines().map { "\u{1B}[\(colors)m\($0)\u{1B}[0m\n" }.joined()
  }
}
