/// Which way something goes.
package enum Direction: String, Encodable, Sendable {
  /// To us.
  case incoming
  /// From us.
  case outgoing
}

extension BoardEvent {
  /// A message came that is for the program, not for the board.
  package struct Received: Encodable, Sendable {
    /// From whom.
    package var from: String
    /// The name of whom.
    package var name: String
    /// Whether it came in order and exactly once.
    package var reliable: Bool
    /// The number of bytes.
    package var size: Int
    /// The bytes.
    package var base64: Base64Text
    /// The bytes as text, where they are UTF-8 without control characters other than line ends and
    /// tabs.
    package var text: String?
  }

  /// A member offers a file that this node did not request.
  package struct ResourceOffered: Encodable, Sendable, Equatable {
    /// The id for `accept` and `decline`.
    package var transfer: String
    /// The member.
    package var peer: String
    /// The name of the member.
    package var sender: String
    /// The name of the file.
    package var name: String
    /// How many bytes it has.
    package var size: UInt64
    /// When the offer ends, RFC 3339.
    package var deadline: String

    /// Makes an offer.
    package init(
      transfer: String,
      peer: String,
      sender: String,
      name: String,
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

  /// A resource is on its way.
  package struct ResourceStarted: Encodable, Sendable {
    /// The id for `cancel`.
    package var transfer: String
    /// Which way.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the resource.
    package var name: String
    /// How many bytes it has.
    package var size: UInt64
  }

  /// A resource is so far across.
  package struct ResourceProgress: Encodable, Sendable {
    /// Which transfer.
    package var transfer: String
    /// Which way.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// How many bytes are across.
    package var bytes: UInt64
    /// How many bytes it has.
    package var size: UInt64
  }

  /// A resource is here whole, or there whole, or will not be.
  package struct ResourceFinished: Encodable, Sendable {
    /// Which transfer.
    package var transfer: String
    /// Which way.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the resource.
    package var name: String
    /// How it ended.
    package var outcome: Outcome
    /// The path of the local file, received or sent.
    package var path: String?
    /// How many bytes it has.
    package var size: UInt64?
    /// Its SHA-256, in lower-case hexadecimal.
    package var sha256: String?
    /// The reason for the failure.
    package var message: String?

    /// How a transfer ends.
    package enum Outcome: String, Encodable, Sendable {
      /// It is whole where it was to go.
      case delivered
      /// It was stopped, here or there.
      case cancelled
      /// The transfer failed.
      case failed
    }
  }

  /// A byte stream is open.
  package struct StreamOpened: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// Which way its bytes go.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the stream.
    package var name: String
  }

  /// Bytes of a stream came.
  package struct StreamData: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// From whom.
    package var peer: String
    /// The offset of the bytes in the stream.
    package var offset: UInt64
    /// The bytes, at most 48 KiB of them.
    package var base64: Base64Text

    /// The most bytes in one line.
    package static let maximumLength = 48 * 1024
  }

  /// A byte stream is over.
  package struct StreamClosed: Encodable, Sendable {
    /// The id of the stream.
    package var stream: String
    /// Which way its bytes went.
    package var direction: Direction
    /// The other side.
    package var peer: String
    /// The name of the stream.
    package var name: String
    /// How it ended.
    package var outcome: ResourceFinished.Outcome
    /// How many bytes went through.
    package var size: UInt64
    /// The reason for the failure.
    package var message: String?
  }
}
