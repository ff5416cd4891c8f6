import CQRCode

/// The reason why a text has no symbol.
package enum QRCodeError: Error, Equatable, Sendable, CustomStringConvertible {
  /// There is nothing to encode.
  case empty
  /// It has more bytes than the largest symbol holds.
  case tooLong(Int)
  /// The encoder refused, which it does where there is no memory.
  case notEncoded

  /// The problem, in a sentence.
  package var description: String {
    switch self {
    case .empty: "A QR code of nothing cannot be made."
    case .tooLong(let count):
      "A QR code holds \(QRSymbol.maximumLength) bytes at most, and this has \(count)."
    case .notEncoded: "The QR code cannot be made."
    }
  }
}

/// A QR code: a square of dark and light modules that a camera reads as a text.
///
/// It corrects few errors (level L), for a screen has no scratches and a smaller symbol fits more terminals.
package struct QRSymbol: Hashable, Sendable {
  /// The most bytes of a text.
  package static let maximumLength = 2_953

  /// How many modules it has in a row and in a column, without the margin.
  package let size: Int
  /// Row after row, whether a module is dark.
  private let modules: [Bool]

  /// Makes the smallest symbol of a text.
  ///
  /// - Throws: ``QRCodeError`` if none can be made.
  package init(_ text: String) throws(QRCodeError) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { throw .empty }
    guard bytes.count <= Self.maximumLength else { throw .tooLong(bytes.count) }
    guard let made = QRcode_encodeData(Int32(bytes.count), bytes, 0, QR_ECLEVEL_L) else {
      throw .notEncoded
    }
    defer { QRcode_free(made) }
    size = Int(made.pointee.width)
    // The lowest bit of a byte says whether the module is dark.
    modules = UnsafeBufferPointer(start: made.pointee.data, count: size * size).map { $0 & 1 == 1 }
  }

  /// Whether a module is dark; those around the symbol are light.
  package func isDark(_ x: Int, _ y: Int) -> Bool {
    (0..<size).contains(x) && (0..<size).contains(y) && modules[y * size + x]
  }

  /// The symbol with a margin, two modules a character: one above the other, in half blocks.
  ///
  /// - Parameters:
  ///   - margin: How many light modules are around it. Readers want four by the standard; two do.
  ///   - isInverted: Whether the characters are the light modules and not the dark ones, as is right where
  ///     letters are lighter than what is behind them.
  /// - Returns: The rows, each of `size + 2 * margin` characters.
  package func lines(margin: Int = 2, isInverted: Bool = false) -> [String] {
    stride(from: -margin, to: size + margin, by: 2).map { y in
      String(
        (-margin..<size + margin).map { x -> Character in
          // Below an odd last row there is nothing, which must not be drawn.
          let isInked = (
            upper: isDark(x, y) != isInverted,
            lower: y + 1 < size + margin && isDark(x, y + 1) != isInverted
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
}
