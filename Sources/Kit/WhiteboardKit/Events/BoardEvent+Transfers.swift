import PeerCore

package enum Direction: String, Sendable {
  case incoming
  case outgoing
}

extension BoardEvent {
  /// An application message, which does not change the board.
  package struct Received: Sendable {
    package var from: String
    package var name: UntrustedText
    /// Whether the message was sent reliably: in order and exactly once.
    package var reliable: Bool
    package var size: Int
    package var base64: Base64Text
    /// The bytes as text, if they are valid UTF-8 without control characters except tabs and line breaks.
    package var text: UntrustedText?
  }

  package struct ResourceOffered: Sendable, Equatable {
    /// The id of the offer, for `accept` and `decline`.
    package var transfer: String
    package var peer: String
    package var sender: UntrustedText
    package var name: UntrustedText
    /// The size of the file, in bytes.
    package var size: UInt64
    /// The time at which the offer expires, in RFC 3339 format.
    package var deadline: String

    package init(
      transfer: String,
      peer: String,
      sender: UntrustedText,
      name: UntrustedText,
      size: UInt64,
      deadline: String
    ) {
      self.transfer = transfer
      self.peer = peer
      self.sender = sender
      self.name = name
      self.size = size
      self.deadline = deadline
    }
  }

  package struct ResourceStarted: Sendable {
    package var transfer: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
    package var size: UInt64
  }

  package struct ResourceProgress: Sendable {
    package var transfer: String
    package var direction: Direction
    package var peer: String
    package var bytes: UInt64
    package var size: UInt64
  }

  package struct ResourceFinished: Sendable {
    package var transfer: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
    package var outcome: Outcome
    package var path: String?
    package var size: UInt64?
    /// The SHA-256 of the resource, in lowercase hexadecimal.
    package var sha256: String?
    /// The reason for the failure.
    package var message: UntrustedText?

    package enum Outcome: String, Sendable {
      case delivered
      case cancelled
      case failed
    }
  }

  package struct StreamOpened: Sendable {
    package var stream: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
  }

  package struct StreamData: Sendable {
    package var stream: String
    package var peer: String
    package var offset: UInt64
    /// The bytes, at most 48 KiB.
    package var base64: Base64Text

    /// The maximum number of bytes in one event.
    package static let maximumLength = 48 * 1024
  }

  package struct StreamClosed: Sendable {
    package var stream: String
    package var direction: Direction
    package var peer: String
    package var name: UntrustedText
    package var outcome: ResourceFinished.Outcome
    package var size: UInt64
    package var message: UntrustedText?
  }
}

/// Bytes that are base64 in JSON.
///
/// They are encoded only when the JSON is written.
package struct Base64Text: Sendable, Equatable {
  /// The bytes.
  package let bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  package var text: String { Base64.encode(Array(bytes)) }

  package var count: Int { (bytes.count + 2) / 3 * 4 }
}
