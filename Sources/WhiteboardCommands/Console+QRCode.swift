import QRCode
import WhiteboardKit

extension Console {
  /// Prints the QR code of a link; complains instead if the terminal is too narrow for it.
  ///
  /// - Parameters:
  ///   - link: The link.
  ///   - colors: The parameters of an SGR sequence (ECMA-48) that selects black on white; nil to use no colors.
  /// - Throws: ``WhiteboardError`` if the link is too long, or the output cannot be written.
  package static func tellQRCode(of link: String, colors: String?) throws(WhiteboardError) {
    let symbol: QRSymbol
    do throws(QRCodeError) { symbol = try QRSymbol(link) } catch { throw WhiteboardError(.internal, error.description) }
    let width = symbol.size + 4
    // Check the width first, since a truncated or wrapped QR code cannot be scanned.
    if let columns = size?.columns, columns < width {
      complain("The QR code needs \(width) columns, but the terminal has only \(columns).")
      return
    }
    try tell(symbol.drawing(colors: colors))
  }
}
