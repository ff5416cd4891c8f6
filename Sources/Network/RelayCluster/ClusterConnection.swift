/// A relay's connection to the other relays of its cluster: live messages, a durable log, shared values, and requests.
///
/// A connection survives the loss of its server: it connects to another server by itself. Meanwhile, live messages are
/// lost, and each feed then contains a ``ClusterEvent/gap``. All other methods throw `unavailable` if the cluster does
/// not answer in time. Payloads are opaque. A cluster is never the only place where data is stored.
package protocol ClusterConnection: Sendable {
  /// The largest payload of a message, a log entry or a value, in bytes.
  var maximumPayload: Int { get }
  /// Whether the connection has a server at the moment.
  var isConnected: Bool { get }

  /// Sends a message to all current readers of a subject except those of this connection. The messages of a connection
  /// arrive in order, at most once. Throws `tooLarge`, `closed`, or `unavailable` if too much waits to be sent.
  func publish(_ payload: [UInt8], to subject: ClusterSubject) throws(ClusterError)

  /// Returns the messages that are published to a subject from now on. The feed ends when it is released, or when the
  /// connection closes.
  func feed(of subject: ClusterSubject) async throws(ClusterError) -> ClusterFeed

  /// Sends a message, and returns the first reply. Throws `unavailable` if there is no reply within `limit`.
  func request(_ payload: [UInt8], to subject: ClusterSubject, within limit: Duration) async throws(ClusterError)
    -> [UInt8]

  /// Replies to a message of a feed. Does nothing if the sender did not request a reply.
  func reply(_ payload: [UInt8], to message: ClusterMessage) throws(ClusterError)

  /// Appends an entry to the log of a subject, and returns when the cluster has stored it. If an entry with the same id
  /// was appended in the last two minutes, the log stays unchanged, and the result is the position of that entry. Sends
  /// the entry again until the cluster answers; throws `unavailable` if this takes longer than `limit`. In that case,
  /// the log may or may not contain the entry, so append it again under the same id.
  func append(_ payload: [UInt8], id: String, to subject: ClusterSubject, within limit: Duration)
    async throws(ClusterError) -> LogPosition

  /// Returns the next entries of the log of a subject, in the order of their positions: at most `limit` entries whose
  /// positions are greater than `position`.
  func entries(of subject: ClusterSubject, after position: LogPosition, limit: Int) async throws(ClusterError)
    -> [LogEntry]

  /// Returns all shared values.
  func values() async throws(ClusterError) -> [String: ClusterValue]

  /// Returns a shared value; nil if it does not exist.
  func value(of key: ClusterSubject) async throws(ClusterError) -> ClusterValue?

  /// Stores a shared value, and returns its revision. If `revision` is not nil, the current revision must be equal; 0
  /// means that the value does not exist. Otherwise, throws `conflict`.
  @discardableResult func set(_ bytes: [UInt8], of key: ClusterSubject, ifRevision revision: UInt64?)
    async throws(ClusterError) -> UInt64

  /// Removes a shared value, if it exists.
  func removeValue(of key: ClusterSubject) async throws(ClusterError)

  /// Returns an event for each shared value that another connection changes from now on. An event does not contain the
  /// value, so read it.
  func valueChanges() async throws(ClusterError) -> ClusterFeed

  /// Closes the connection, and ends all its feeds. Methods that are called later throw `closed`.
  func close() async
}

/// One or more words, which identify a board, a relay or a value. A word consists of letters, digits and hyphens.
package struct ClusterSubject: Hashable, Sendable {
  package let text: String

  /// The words must be valid.
  package init(_ words: String...) {
    for word in words {
      precondition(!word.isEmpty && word.utf8.allSatisfy(Self.isAllowed), "a word of a subject is invalid")
    }
    text = words.joined(separator: ".")
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  /// The number of the stream that stores the log of this subject: a 32-bit FNV-1a hash modulo the number of streams.
  package var shard: Int {
    let hash = text.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return Int(hash % UInt32(Self.shards))
  }

  /// The number of streams is fixed, because creating a replicated stream takes half a second.
  package static let shards = 16
}

package struct ClusterMessage: Sendable {
  package let payload: [UInt8]
  /// The address for a reply; nil if the sender did not request a reply.
  package let replyAddress: String?

  package init(_ payload: [UInt8], replyAddress: String? = nil) {
    self.payload = payload
    self.replyAddress = replyAddress
  }
}

/// A place in the log of a subject. Later entries have greater positions, but positions are not consecutive.
package struct LogPosition: Hashable, Comparable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }

  package static let start = LogPosition(0)

  package static func < (one: LogPosition, other: LogPosition) -> Bool { one.number < other.number }
}

package struct LogEntry: Hashable, Sendable {
  package let position: LogPosition
  package let payload: [UInt8]

  package init(_ position: LogPosition, _ payload: [UInt8]) {
    self.position = position
    self.payload = payload
  }
}

package struct ClusterValue: Hashable, Sendable {
  package let bytes: [UInt8]
  package let revision: UInt64

  package init(_ bytes: [UInt8], revision: UInt64) {
    self.bytes = bytes
    self.revision = revision
  }
}

/// A failure of a cluster. Errors are equal if their codes are equal.
package struct ClusterError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// No server can be reached.
    case unreachable
    /// The servers do not accept the credentials or the certificate, or the certificate of a server is invalid.
    case unauthorized
    /// The servers have no JetStream, or are not a cluster of at least three servers.
    case noJetStream
    /// The servers are too old.
    case unsupported
    /// A file or an address of the settings is invalid.
    case badConfiguration
    case tooLarge
    /// A shared value has another revision.
    case conflict
    /// The cluster did not answer in time. A retry may help.
    case unavailable
    case closed
  }

  package let code: Code
  /// The problem and what the operator can do, in one line.
  package let description: String
  /// The words of the library that reported the problem, for developers; nil if it reported none.
  package let details: String?

  package init(_ code: Code, _ description: String, details: String? = nil) {
    self.code = code
    self.description = description
    self.details = details
  }

  package static func == (one: ClusterError, other: ClusterError) -> Bool { one.code == other.code }
}
