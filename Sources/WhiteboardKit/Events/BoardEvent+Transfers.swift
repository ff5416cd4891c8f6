import PeerCore

/// The direction of a transfer or request.
package enum Direction: String, Encodable, Sendable {
  /// To the local peer.
  case incoming
  /// From the local peer.
  case outgoing
}

extension BoardEvent {
  /// An application message, which does not change the board.
  package struct Received: Encodable, Sendable {
    /// The sender's peer id.
    package var from: String
    /// The sender's display name.
    package var name: UntrustedText
    /// Whether the message was sent reliably: in order and exactly once.
    package var reliable: Bool
    /// The number of bytes.
    package var size: Int
    /// The bytes.
    package var base64: Base64Text
    /// The bytes as text, if they are valid UTF-8 without control characters except tabs and line breaks.
    package var text: UntrustedText?
  }

  /// A member offers a file that the local peer did not request.
  package struct ResourceOffered: Encodable, Sendable, Equatable {
    /// The id of the offer, for `accept` and `decline`.
    package var transfer: String
    /// The member.
    package var peer: String
    /// The display name of the member.
    package var sender: UntrustedText
    /// The name of the file.
    package var name: UntrustedText
    /// The size of the file, in bytes.
    package var size: UInt64
    /// The time at which the offer expires, in RFC 3339 format.
    package var deadline: String

    /// Creates an offer.
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

  /// A resource transfer started.
  package struct ResourceStarted: Encodable, Sendable {
    /// The id of the transfer, for `cancel`.
    package var transfer: String
    /// The direction of the transfer.
    package var direction: Direction
    /// The other peer.
    package var peer: String
    /// The name of the resource.
    package var name: UntrustedText
    /// The size of the resource, in bytes.
    package var size: UInt64
  }

  /// The progress of a resource transfer.
  package struct ResourceProgress: Encodable, Sendable {
    /// The id of the transfer.
    package var transfer: String
    /// The direction of the transfer.
    package var direction: Direction
    /// The other peer.
    package var peer: String
    /// The number of bytes transferred so far.
    package var bytes: UInt64
    /// The size of the resource, in bytes.
    package var size: UInt64
  }

  /// A resource transfer ended.
  package struct ResourceFinished: Encodable, Sendable {
    /// The id of the transfer.
    package var transfer: String
    /// The direction of the transfer.
    package var direction: Direction
    /// The other peer.
    package var peer: String
    /// The name of the resource.
    package var name: UntrustedText
    /// The outcome.
    package var outcome: Outcome
    /// The path of the received or sent file.
    package var path: String?
    /// The size of the resource, in bytes.
    package var size: UInt64?
    /// The SHA-256 of the resource, in lowercase hexadecimal.
    package var sha256: String?
    /// The reason for the failure.
    package var message: UntrustedText?

    /// The outcome of a transfer.
    package enum Outcome: String, Encodable, Sendable {
      /// The recipient has the whole resource.
      case delivered
      /// One of the peers canceled the transfer.
      case cancelled
      /// The transfer failed.
      case failed
    }
  }

  /// A byte stream was opened.
  package struct StreamOpened: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// The direction of the stream's bytes.
    package var direction: Direction
    /// The other peer.
    package var peer: String
    /// The name of the stream.
    package var name: UntrustedText
  }

  /// Bytes of a stream arrived.
  package struct StreamData: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// The sender's peer id.
    package var peer: String
    /// The offset of the bytes in the stream.
    package var offset: UInt64
    /// The bytes, at most 48 KiB.
    package var base64: Base64Text

    /// The maximum number of bytes in one event.
    package static let maximumLength = 48 * 1024
  }

  /// A byte stream ended.
  package struct StreamClosed: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// The direction of the stream's bytes.
    package var direction: Direction
    /// The other peer.
    package var peer: String
    /// The name of the stream.
    package var name: UntrustedText
    /// The outcome.
    package var outcome: ResourceFinished.Outcome
    /// The number of bytes that were transferred.
    package var size: UInt64
    /// The reason for the failure.
    package var message: UntrustedText?
  }
}
