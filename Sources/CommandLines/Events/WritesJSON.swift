import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// A value that writes its own JSON, because it can be large or is frequent.
protocol WritesJSON {
  /// Appends the value as JSON.
  func write(to json: inout [UInt8])
}

extension Base64Text: WritesJSON {
  func write(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "\""))
    Base64.append(bytes, to: &json)
    json.append(UInt8(ascii: "\""))
  }
}

extension UntrustedText: WritesJSON { func write(to json: inout [UInt8]) { LineEncoder.append(raw, to: &json) } }

extension RelativePoints: WritesJSON {
  func write(to json: inout [UInt8]) {
    json.append(UInt8(ascii: "["))
    var isFirst = true
    forEach { point in
      if !isFirst { json.append(UInt8(ascii: ",")) }
      isFirst = false
      json.append(UInt8(ascii: "["))
      LineEncoder.append(point.x, to: &json)
      json.append(UInt8(ascii: ","))
      LineEncoder.append(point.y, to: &json)
      json.append(UInt8(ascii: "]"))
    }
    json.append(UInt8(ascii: "]"))
  }
}
