import PeerCore
import WhiteboardKit
import WhiteboardRendering
import WhiteboardSync

/// Lines about application messages and transfers.
extension EventText {
  static func transferLine(_ event: BoardEvent) -> String? {
    switch event {
    case .data(let data):
      if let text = data.text {
        "\(person(data.name, data.from)) sent \(text.quoted(limit: wordsLimit))"
      } else {
        "\(person(data.name, data.from)) sent \(count(data.size, "byte"))"
      }
    case .resourceOffered(let offer):
      "\(offerLine(offer))\n  accept \(UntrustedText(offer.transfer).escaped(limit: 64))   or   decline "
        + UntrustedText(offer.transfer).escaped(limit: 64)
    case .resourceStarted(let start):
      "\(start.direction == .incoming ? "receiving" : "sending") "
        + "\(resource(start.name)), \(start.size) bytes, transfer " + UntrustedText(start.transfer).escaped()
    case .resourceFinished(let end): resourceLine(end)
    case .streamOpened(let stream): "stream \(stream.name.quoted(limit: 80)) is open"
    case .streamClosed(let stream):
      "stream \(stream.name.quoted(limit: 80)) ended after \(stream.size) bytes"
        + (stream.outcome == .delivered ? "" : ": \(stream.message?.escaped() ?? "")")
    default:
      // Progress reports and the bytes of streams are only for programs.
      nil
    }
  }

  /// Returns the question about a file that a member offers.
  ///
  /// - Parameter offer: The offer.
  /// - Returns: A sentence such as `Ben wants to send you "photo.jpg" (2.1 MB).`
  package static func offerLine(_ offer: BoardEvent.ResourceOffered) -> String {
    "\(person(offer.sender, offer.peer)) wants to send you \(resource(offer.name)) "
      + "(\(ByteCount.text(Int(clamping: offer.size))))."
  }

  private static func resourceLine(_ end: BoardEvent.ResourceFinished) -> String {
    let name = resource(end.name)
    switch end.outcome {
    case .delivered:
      guard end.direction == .incoming, let path = end.path else { return "\(name) has arrived" }
      return "\(name) was received: \(UntrustedText(path).escaped())"
    case .cancelled:
      let why = end.message?.escaped() ?? ""
      return why.isEmpty ? "\(name) was canceled" : "\(name) was canceled: \(why)"
    case .failed: return "\(name) failed: \(end.message?.escaped() ?? "")"
    }
  }

  /// Returns the description of a resource.
  ///
  /// The structured names of board resources are replaced by readable descriptions.
  private static func resource(_ name: UntrustedText) -> String {
    guard let known = try? ResourceDTO(name: name.raw) else { return name.quoted(limit: 80) }
    let kind = known.type == .imageData ? "the photo of" : known.type.rawValue
    return "\(kind) \(UntrustedText(known.id).escaped(limit: 64))"
  }
}
