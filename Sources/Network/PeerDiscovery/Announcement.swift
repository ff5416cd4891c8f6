import PeerCore

/// The information that a peer publishes about itself and one of its boards.
///
/// Other peers read the announcement before they connect. The announcement is only a claim; the handshake verifies the
/// identities and supplies the authoritative names. Implements DSC-7 to DSC-11.
public struct Announcement: Hashable, Sendable {
  /// The role of a peer on its board.
  public enum Role: String, Hashable, Sendable, CaseIterable {
    /// A peer that takes part in the board.
    case member
    /// A peer that keeps the board available while members are offline.
    ///
    /// A relay is also advertised with the subtype `_relay`.
    case relay
  }

  /// The protocol version that this library implements.
  public static let currentVersion: UInt16 = 1
  /// The maximum length of an announced board name in bytes.
  public static let maximumBoardNameSize = 128
  /// The maximum length of an announced host name in bytes.
  public static let maximumHostNameSize = 64

  /// The protocol version that the peer uses.
  public let version: UInt16
  /// The claimed id of the peer.
  public let peer: AnnouncedPeerID
  /// The session id, which is also the id of the board.
  public let session: AnnouncedSessionID
  /// The incarnation of the peer.
  public let incarnation: AnnouncedIncarnation
  /// The role of the peer on the board.
  public let role: Role
  /// The name of the board, truncated to 128 bytes.
  public var boardName: UntrustedText { didSet { boardName = Self.cut(boardName, to: Self.maximumBoardNameSize) } }
  /// The display name of the announcing peer, truncated to 64 bytes.
  public var hostName: UntrustedText { didSet { hostName = Self.cut(hostName, to: Self.maximumHostNameSize) } }
  /// The number of participants that the peer claims; `nil` if it announces no number.
  public var participants: UInt16?
  /// The other key-value pairs: the pairs set by ``setExtra(_:)``, and the pairs with unknown keys from a newer
  /// version.
  public private(set) var extra = DiscoveryInfo()

  /// Creates an announcement for the local peer; names that are too long are truncated.
  ///
  /// - Parameters:
  ///   - peer: The id of the local peer.
  ///   - session: The session to announce.
  ///   - incarnation: The incarnation of the local peer.
  ///   - role: The role of the local peer in the session.
  ///   - boardName: The name of the board, or an empty string to announce no name.
  ///   - hostName: The display name of the local peer, or an empty string to announce no name.
  ///   - participants: The number of participants, or `nil` to announce no number.
  public init(
    peer: AnnouncedPeerID,
    session: AnnouncedSessionID,
    incarnation: AnnouncedIncarnation,
    role: Role = .member,
    boardName: String,
    hostName: String,
    participants: UInt16? = nil
  ) {
    version = Self.currentVersion
    self.peer = peer
    self.session = session
    self.incarnation = incarnation
    self.role = role
    self.boardName = Self.cut(UntrustedText(boardName), to: Self.maximumBoardNameSize)
    self.hostName = Self.cut(UntrustedText(hostName), to: Self.maximumHostNameSize)
    self.participants = participants
  }

  /// Replaces the program's own key-value pairs.
  ///
  /// - Throws: `duplicateKey` if one of the keys is reserved for the announcement; `recordTooLong` if the record could
  ///   exceed 400 bytes. At least 52 bytes are always available for `extra`.
  public mutating func setExtra(_ extra: DiscoveryInfo) throws(DiscoveryInfoError) {
    for key in Key.allCases where extra.contains(key.rawValue) { throw .duplicateKey }
    guard Self.reserve + extra.wireSize <= DiscoveryInfo.maximumSize else { throw .recordTooLong }
    self.extra = extra
  }

  /// The instance name under which the announcement is published.
  public var instanceName: InstanceName { InstanceName(peer: peer, session: session) }

  /// The announcement as a TXT record.
  public var info: DiscoveryInfo {
    var info = DiscoveryInfo()
    func add(_ key: Key, _ value: some StringProtocol) {
      do throws(DiscoveryInfoError) { try info.append(key.rawValue, Array(value.utf8)) } catch {
        preconditionFailure("the parts of an announcement always fit into its record")
      }
    }
    add(.version, String(version))
    add(.peer, peer.text)
    add(.session, session.text)
    if !boardName.isEmpty { add(.boardName, boardName.raw) }
    if !hostName.isEmpty { add(.hostName, hostName.raw) }
    if let participants { add(.participants, String(participants)) }
    add(.role, role.rawValue)
    add(.incarnation, incarnation.text)
    for pair in extra.pairs {
      do throws(DiscoveryInfoError) { try info.append(pair.key, pair.value) } catch {
        // Only a received announcement can have pairs that do not fit. Omit this pair and the pairs after it.
        break
      }
    }
    return info
  }

  /// Decodes a received announcement from the bytes of its TXT record.
  ///
  /// - Throws: ``AnnouncementError`` for the first violated rule. It is safe to pass any bytes.
  public static func parse(_ bytes: some Collection<UInt8>) throws(AnnouncementError) -> Announcement {
    let info: DiscoveryInfo
    do throws(DiscoveryInfoError) { info = try DiscoveryInfo(wireBytes: bytes) } catch { throw .record(error) }
    return try Announcement(info)
  }

  /// Decodes a received announcement from the strings of its TXT record.
  ///
  /// - Throws: ``AnnouncementError`` for the first violated rule. It is safe to pass any strings.
  public static func parse(strings: some Sequence<[UInt8]>) throws(AnnouncementError) -> Announcement {
    let info: DiscoveryInfo
    do throws(DiscoveryInfoError) { info = try DiscoveryInfo(strings: strings) } catch { throw .record(error) }
    return try Announcement(info)
  }

  /// Decodes a received announcement from its key-value pairs.
  ///
  /// - Throws: ``AnnouncementError`` for the first violated rule.
  public init(_ info: DiscoveryInfo) throws(AnnouncementError) {
    guard let version = try Self.integer(.version, in: info) else { throw .missing(Key.version.rawValue) }
    guard version > 0 else { throw .illegal(Key.version.rawValue) }
    self.version = version
    peer = try Self.identifier(.peer, in: info)
    session = try Self.identifier(.session, in: info)
    incarnation = try Self.identifier(.incarnation, in: info)
    role = info[Key.role.rawValue] == Array(Role.relay.rawValue.utf8) ? .relay : .member
    boardName = Self.cut(UntrustedText(bytes: info[Key.boardName.rawValue] ?? []), to: Self.maximumBoardNameSize)
    hostName = Self.cut(UntrustedText(bytes: info[Key.hostName.rawValue] ?? []), to: Self.maximumHostNameSize)
    participants = try Self.integer(.participants, in: info)
    for pair in info.pairs where !Key.allCases.contains(where: { $0.matches(pair.key) }) {
      do throws(DiscoveryInfoError) { try extra.append(pair.key, pair.value) } catch { throw .record(error) }
    }
  }

  private enum Key: String, CaseIterable {
    case version = "v"
    case peer = "id"
    case session = "sid"
    case boardName = "name"
    case hostName = "host"
    case participants
    case role
    case incarnation = "inc"

    func matches(_ key: String) -> Bool { key.lowercased() == rawValue }
  }

  /// The maximum size in bytes of the announcement's own key-value pairs.
  private static let reserve: Int = {
    let sizes: [(Key, Int)] = [
      (.version, 5), (.peer, AnnouncedPeerID.textLength), (.session, AnnouncedSessionID.textLength),
      (.boardName, maximumBoardNameSize), (.hostName, maximumHostNameSize), (.participants, 5), (.role, 6),
      (.incarnation, AnnouncedIncarnation.textLength),
    ]
    return sizes.reduce(0) { $0 + $1.0.rawValue.utf8.count + 2 + $1.1 }
  }()

  private static func identifier<ID: Identifier>(_ key: Key, in info: DiscoveryInfo) throws(AnnouncementError) -> ID {
    guard let value = info[key.rawValue] else { throw .missing(key.rawValue) }
    guard let bytes = try? Base32.decode(value.span, byteCount: ID.byteCount), let id = ID(bytes: bytes) else {
      throw .illegal(key.rawValue)
    }
    return id
  }

  private static func integer(_ key: Key, in info: DiscoveryInfo) throws(AnnouncementError) -> UInt16? {
    guard info.contains(key.rawValue) else { return nil }
    guard let value = info[key.rawValue], (1...5).contains(value.count),
      value.count == 1 || value[0] != UInt8(ascii: "0")
    else { throw .illegal(key.rawValue) }
    var result: UInt32 = 0
    for byte in value {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { throw .illegal(key.rawValue) }
      result = result * 10 + UInt32(byte - UInt8(ascii: "0"))
    }
    guard let result = UInt16(exactly: result) else { throw .illegal(key.rawValue) }
    return result
  }

  private static func cut(_ text: UntrustedText, to size: Int) -> UntrustedText {
    guard text.raw.utf8.count > size else { return text }
    var kept = ""
    var keptSize = 0
    for character in text.raw {
      keptSize += character.utf8.count
      guard keptSize <= size else { break }
      kept.append(character)
    }
    return UntrustedText(kept)
  }
}

/// The reason why a record is not a valid announcement.
public enum AnnouncementError: Error, Hashable, Sendable {
  /// The TXT record itself is malformed.
  case record(DiscoveryInfoError)
  /// A required key is missing or has no value.
  case missing(String)
  /// The value of this key is malformed.
  case illegal(String)
}
