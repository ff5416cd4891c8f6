import PeerCore
import Whiteboard

package enum XML {
  /// Returns text from other members escaped for XML, without control characters, invisible characters
  /// (``InvisibleText``), and characters that XML does not allow.
  package static func escaped(_ text: String) -> String {
    var result = ""
    InvisibleText.scan(text) { scalar, isInvisible in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n": result += " "
      default:
        let isControl =
          scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || (0xFFFE...0xFFFF).contains(scalar.value)
        if !isControl, !isInvisible { result.unicodeScalars.append(scalar) }
      }
    }
    return result
  }

  package static func color(_ rgb: UInt32) -> String {
    let digits = String(rgb & 0xFF_FFFF, radix: 16)
    return "#" + String(repeating: "0", count: 6 - digits.count) + digits
  }
}
