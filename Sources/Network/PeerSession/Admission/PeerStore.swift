import PeerCore
import PeerDiscovery
import PeerWire

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A peer that was admitted before and is saved in the peer store.
public struct KnownPeer: Equatable, Sendable {
  /// The ways in which a peer's key was verified.
  public enum Verification: String, Codable, Sendable {
    /// Both sides knew the code.
    case code
    /// Users compared verification words.
    case ask
    /// A join link or a member of the session named the key.
    case link
    /// Nothing verified the key.
    case anyone
  }

  /// The key's hash.
  public var peer: PeerID
  /// The peer's latest display name, which is not verified.
  public var name: UntrustedText
  /// The strongest verification of the peer's key so far.
  public var verified: Verification
  /// The time at which the peer was first admitted.
  public var firstSeen: Date
  /// The time at which the peer was last admitted.
  public var lastSeen: Date
  /// Whether the user chose to admit the peer without being asked again (ADM-10).
  public var isAlwaysAdmitted = false
}

/// The reason why peers cannot be saved; `description` names the file and the remedy.
public enum PeerStoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file exists, but does not contain a peer store.
  case damaged(file: String)
  /// Other users can read or write the file, another user owns it, or a system call failed.
  case unusable(file: String, message: String)

  /// A description of the problem and the remedy, in one or two sentences.
  public var description: String {
    switch self {
    case .damaged(let file):
      "The list of known peers in \(file) is damaged. Restore the file from a copy, or move it "
        + "somewhere else to start with an empty list: mv \(shellQuoted(file)) \(shellQuoted(file + ".old"))"
    case .unusable(_, let message): message
    }
  }
}

/// The peers that were admitted before, saved in a JSON file that only its owner can read.
///
/// Several processes may use one file, because each change is applied to the file's current content.
public actor PeerStore {
  /// The maximum number of saved peers.
  ///
  /// If this number is exceeded, unverified peers are removed first, then the peers not seen for the longest time.
  public static let maximumPeers = 10_000

  private static let maximumFile = 16_777_216

  /// The display name of users who have no name of their own.
  public static let defaultName = "Guest"

  private let file: PrivateFile
  private var peers: [PeerID: KnownPeer]
  private var unwritten: [@Sendable (inout [PeerID: KnownPeer]) -> Void] = []
  private var nextWrite: Task<Void, any Error>?
  private var written: [PeerID: KnownPeer] = [:]
  private var version: PrivateFile.Version?
  private(set) var writeCount = 0

  /// Opens a store; the file need not exist yet.
  ///
  /// This call blocks on the disk.
  ///
  /// - Throws: ``PeerStoreError`` if the file exists and cannot be used; such a file is never overwritten.
  public init(file path: String) throws {
    file = PrivateFile(path: path)
    do throws(PrivateFile.Failure) { try file.prepareDirectory() } catch {
      throw PeerStoreError.unusable(file: path, message: error.description)
    }
    peers = try Self.load(file)
  }

  /// Returns whether a peer is saved.
  public func contains(_ peer: PeerID) -> Bool { peers[peer] != nil }

  /// All saved peers, the most recently seen first.
  public var all: [KnownPeer] { peers.values.sorted { ($0.lastSeen, $1.peer) > ($1.lastSeen, $0.peer) } }

  /// Saves a peer that was just admitted, and writes the file.
  ///
  /// A stronger verification replaces the saved verification; a weaker verification does not.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - name: The peer's display name; truncated to 64 characters.
  ///   - how: How the peer's key was verified.
  /// - Throws: ``PeerStoreError`` if the file cannot be written. The peer is then remembered until the program exits.
  public func remember(_ peer: PeerID, name: String, how: KnownPeer.Verification) async throws {
    try await remember(peer, name: name, how: how, now: .now)
  }

  func remember(_ peer: PeerID, name: String, how: KnownPeer.Verification, now: Date) async throws {
    // The file stores whole milliseconds, so round the value in memory too.
    let now = Date(timeIntervalSince1970: (now.timeIntervalSince1970 * 1_000).rounded() / 1_000)
    try await change { peers in
      var entry =
        peers[peer] ?? KnownPeer(peer: peer, name: UntrustedText(name), verified: how, firstSeen: now, lastSeen: now)
      entry.name = UntrustedText(String(name.unicodeScalars.prefix(Limits.displayName)))
      entry.lastSeen = max(entry.lastSeen, now)
      if how.strength > entry.verified.strength { entry.verified = how }
      peers[peer] = entry
    }
  }

  /// Marks a peer as always admitted without asking the user, and writes the file.
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - name: The peer's display name, used only if the peer is not saved yet; truncated to 64 characters.
  /// - Throws: ``PeerStoreError`` if the file cannot be written. The choice is then valid until the program exits.
  public func alwaysAdmit(_ peer: PeerID, name: String) async throws {
    if peers[peer] == nil { try await remember(peer, name: name, how: .ask) }
    try await change { $0[peer]?.isAlwaysAdmitted = true }
  }

  /// Returns whether the user compared verification words with a peer, or chose to always admit the peer.
  public func isTrusted(_ peer: PeerID) -> Bool {
    peers[peer].map { $0.verified == .ask || $0.isAlwaysAdmitted } ?? false
  }

  /// Forgets a peer, and writes the file.
  ///
  /// - Returns: Whether the peer was saved.
  /// - Throws: ``PeerStoreError`` if the file cannot be written. The peer is then forgotten until the program exits.
  public func forget(_ peer: PeerID) async throws -> Bool {
    guard peers[peer] != nil else { return false }
    try await change { $0[peer] = nil }
    return true
  }

  /// Applies a change, and writes the file. Writing takes time in proportion to the number of saved peers, so changes
  /// that are made while the file is being written are written together.
  private func change(_ body: @escaping @Sendable (inout [PeerID: KnownPeer]) -> Void) async throws {
    body(&peers)
    unwritten.append(body)
    // Every caller waits for the task that writes its change.
    let write = nextWrite ?? Task { try self.write() }
    nextWrite = write
    try await write.value
  }

  private func write() throws {
    let changes = unwritten
    (unwritten, nextWrite) = ([], nil)
    writeCount += 1
    do {
      try file.withLock {
        let isKnown = version != nil && file.version == version
        var current = isKnown ? written : try Self.load(file)
        for change in changes { change(&current) }
        Self.makeRoom(in: &current)
        // If writing fails, read the file the next time.
        version = nil
        try file.replace(Self.encode(current))
        (version, written, peers) = (file.version, current, current)
      }
    } catch let failure as PrivateFile.Failure {
      throw PeerStoreError.unusable(file: file.path, message: failure.description)
    }
  }

  private static func makeRoom(in peers: inout [PeerID: KnownPeer]) {
    let excess = peers.count - maximumPeers
    guard excess > 0 else { return }
    let order = peers.values.sorted {
      ($0.verified == .anyone ? 0 : 1, $0.lastSeen) < ($1.verified == .anyone ? 0 : 1, $1.lastSeen)
    }
    for peer in order.prefix(excess) { peers[peer.peer] = nil }
  }

  private struct Document: Codable {
    var version: Int
    var peers: [Entry]
  }

  private struct Entry: Codable {
    var peer: PeerID
    var name: String
    var verified: KnownPeer.Verification
    /// Milliseconds since 1970, as in all files and messages.
    var firstSeen: Int
    var lastSeen: Int
    /// `true` for a peer that is admitted without asking; otherwise absent.
    var alwaysAdmitted: Bool?
  }

  private static func load(_ file: PrivateFile) throws -> [PeerID: KnownPeer] {
    let bytes: [UInt8]?
    do throws(PrivateFile.Failure) { bytes = try file.read(limit: maximumFile) } catch {
      if case .tooLarge = error { throw PeerStoreError.damaged(file: file.path) }
      throw PeerStoreError.unusable(file: file.path, message: error.description)
    }
    guard let bytes else { return [:] }
    guard (try? JSONReader.strict(bytes)) != nil,
      let document = try? JSONDecoder().decode(Document.self, from: Data(bytes)), document.version == 1,
      document.peers.count <= maximumPeers
    else { throw PeerStoreError.damaged(file: file.path) }
    var peers: [PeerID: KnownPeer] = [:]
    for entry in document.peers {
      peers[entry.peer] = KnownPeer(
        peer: entry.peer,
        name: UntrustedText(entry.name),
        verified: entry.verified,
        firstSeen: Date(timeIntervalSince1970: Double(entry.firstSeen) / 1_000),
        lastSeen: Date(timeIntervalSince1970: Double(entry.lastSeen) / 1_000),
        isAlwaysAdmitted: entry.alwaysAdmitted ?? false
      )
    }
    return peers
  }

  private static func encode(_ peers: [PeerID: KnownPeer]) throws -> [UInt8] {
    let entries = peers.values.sorted { $0.peer < $1.peer }.map { peer in
      Entry(
        peer: peer.peer,
        name: peer.name.raw,
        verified: peer.verified,
        firstSeen: Int(peer.firstSeen.timeIntervalSince1970 * 1_000),
        lastSeen: Int(peer.lastSeen.timeIntervalSince1970 * 1_000),
        alwaysAdmitted: peer.isAlwaysAdmitted ? true : nil
      )
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    return Array(try encoder.encode(Document(version: 1, peers: entries)))
  }
}

struct KnownNames {
  private var names: [PeerID: String] = [:]
  /// The peers by display name, without regard to case and spacing.
  private var peers: [String: Set<PeerID>] = [:]

  subscript(peer: PeerID) -> String? {
    get { names[peer] }
    set {
      if let old = names[peer].map(Self.comparable) {
        peers[old]?.remove(peer)
        if peers[old]?.isEmpty == true { peers[old] = nil }
      }
      names[peer] = newValue
      if let newValue { peers[Self.comparable(newValue), default: []].insert(peer) }
    }
  }

  /// Returns a known peer with this name; `nil` for the name of users who have no name of their own.
  func peer(named name: UntrustedText) -> PeerID? {
    let name = Self.comparable(name.raw)
    return name.isEmpty || name == Self.comparable(PeerStore.defaultName) ? nil : peers[name]?.min()
  }

  private static func comparable(_ name: String) -> String { UntrustedText(name).displayed.lowercased() }
}

extension KnownPeer.Verification {
  fileprivate var strength: Int {
    switch self {
    case .anyone: 0
    case .link: 1
    case .code, .ask: 2
    }
  }
}
