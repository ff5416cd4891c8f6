/// What a peer says about itself and one of its boards, before anybody connects.
///
/// Every word of it is a claim. Identities are proved by the handshake, and names are authoritative
/// only there. Implements DSC-7 to DSC-11.
public struct Announcement: Hashable, Sendable {
  /// The role of a peer on its board.
  public enum Role: String, Hashable, Sendable, CaseIterable {
    /// It draws and watches.
    case member
    /// It stays when the others leave; announced under the subtype `_relay` as well.
    case relay
  }

  /// The version of the protocol that this library speaks.
  public static let currentVersion: UInt16 = 1
  /// The most bytes of a board's name that are announced.
  public static let maximumBoardNameSize = 128
  /// The most bytes of a host's name that are announced.
  public static let maximumHostNameSize = 64

  /// The version of the protocol that the peer speaks.
  public let version: UInt16
  /// The claimed id of the peer.
  public let peer: AnnouncedPeerID
  /// The session, which for a whiteboard is the board.
  public let session: AnnouncedSessionID
  /// Which run of the peer's program this is.
  public let incarnation: AnnouncedIncarnation
  /// The role of the peer on the board.
  public let role: Role
  /// The name of the board, truncated to 128 bytes.
  public var boardName: UntrustedText {
    didSet { boardName = Self.cut(boardName, to: Self.maximumBoardNameSize) }
  }
  /// The name of who announces it, as a person reads it, cut to 64 bytes.
  public var hostName: UntrustedText {
    didSet { hostName = Self.cut(hostName, to: Self.maximumHostNameSize) }
  }
  /// How many are on the board, as far as the peer says.
  public var participants: UInt16?
  /// Further pairs: the program's own, set by ``setExtra(_:)``, or those of newer versions.
  public private(set) var extra = DiscoveryInfo()

  /// Describes a board of ours; names that are too long are cut between characters.
  ///
  /// - Parameters:
  ///   - peer: Who we are.
  ///   - session: The session that is announced.
  ///   - incarnation: This run of our program.
  ///   - role: What we do there.
  ///   - boardName: What the board is called; empty for none.
  ///   - hostName: The name of who announces it; empty for none.
  ///   - participants: How many are there; `nil` says nothing of it.
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

  /// Replaces the pairs of the program's own.
  ///
  /// - Throws: `duplicateKey` for a key that the announcement itself uses, `recordTooLong` when the
  ///   whole would pass 400 bytes; 52 bytes are always free.
  public mutating func setExtra(_ extra: DiscoveryInfo) throws(DiscoveryInfoError) {
    for key in Key.allCases where extra.contains(key.rawValue) { throw .duplicateKey }
    guard Self.reserve + extra.wireSize <= DiscoveryInfo.maximumSize else { throw .recordTooLong }
    self.extra = extra
  }

  /// The instance name that the announcement is published under.
  public var instanceName: InstanceName { InstanceName(peer: peer, session: session) }

  /// The announcement as the record that is published.
  public var info: DiscoveryInfo {
    var info = DiscoveryInfo()
    func add(_ key: Key, _ value: some StringProtocol) {
      do throws(DiscoveryInfoError) {
        try info.append(key.rawValue, Array(value.utf8))
      } catch {
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
      do throws(DiscoveryInfoError) {
        try info.append(pair.key, pair.value)
      } catch {
        // Only what a peer sent, and no more than it sent, can come so far and not fit.
        break
      }
    }
    return info
  }

  /// Reads what a stranger published, from the bytes of the TXT record.
  ///
  /// - Throws: ``AnnouncementError``: the first rule the bytes break. They may be any bytes.
  public static func parse(
    _ bytes: some Collection<UInt8>
  ) throws(AnnouncementError) -> Announcement {
    let info: DiscoveryInfo
    do throws(DiscoveryInfoError) {
      info = try DiscoveryInfo(wireBytes: bytes)
    } catch {
      throw .record(error)
    }
    return try Announcement(info)
  }

  /// Reads what a stranger published, from the strings of the TXT record.
  ///
  /// - Throws: ``AnnouncementError``: the first rule the strings break. They may be any strings.
  public static func parse(
    strings: some Sequence<[UInt8]>
  ) throws(AnnouncementError) -> Announcement {
    let info: DiscoveryInfo
    do throws(DiscoveryInfoError) {
      info = try DiscoveryInfo(strings: strings)
    } catch {
      throw .record(error)
    }
    return try Announcement(info)
  }

  /// Reads what a stranger published, from its pairs.
  ///
  /// - Throws: ``AnnouncementError``: the first rule the pairs break.
  public init(_ info: DiscoveryInfo) throws(AnnouncementError) {
    guard let version = try Self.integer(.version, in: info) else {
      throw .missing(Key.version.rawValue)
    }
    guard version > 0 else { throw .illegal(Key.version.rawValue) }
    self.version = version
    peer = try Self.identifier(.peer, in: info)
    session = try Self.identifier(.session, in: info)
    incarnation = try Self.identifier(.incarnation, in: info)
    role = info[Key.role.rawValue] == Array(Role.relay.rawValue.utf8) ? .relay : .member
    boardName = Self.cut(
      UntrustedText(bytes: info[Key.boardName.rawValue] ?? []),
      to: Self.maximumBoardNameSize
    )
    hostName = Self.cut(
      UntrustedText(bytes: info[Key.hostName.rawValue] ?? []),
      to: Self.maximumHostNameSize
    )
    participants = try Self.integer(.participants, in: info)
    for pair in info.pairs where !Key.allCases.contains(where: { $0.matches(pair.key) }) {
      do throws(DiscoveryInfoError) {
        try extra.append(pair.key, pair.value)
      } catch {
        throw .record(error)
      }
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

  /// The maximum size of the announcement's own pairs.
  private static let reserve: Int = {
    let sizes: [(Key, Int)] = [
      (.version, 5), (.peer, AnnouncedPeerID.textLength), (.session, AnnouncedSessionID.textLength),
      (.boardName, maximumBoardNameSize), (.hostName, maximumHostNameSize), (.participants, 5),
      (.role, 6), (.incarnation, AnnouncedIncarnation.textLength),
    ]
    return sizes.reduce(0) { $0 + $1.0.rawValue.utf8.count + 2 + $1.1 }
  }()

  private static func identifier<Identifier: AnnouncedIdentifier>(
    _ key: Key,
    in info: DiscoveryInfo
  ) throws(AnnouncementError) -> Identifier {
    guard let value = info[key.rawValue] else { throw .missing(key.rawValue) }
    guard let bytes = Base32.decode(value, byteCount: Identifier.byteCount) else {
      throw .illegal(key.rawValue)
    }
    return Identifier(checked: bytes)
  }

  /// Reads 0 to 65535 in decimal without leading zeros.
  private static func integer(
    _ key: Key,
    in info: DiscoveryInfo
  ) throws(AnnouncementError) -> UInt16? {
    guard info.contains(key.rawValue) else { return nil }
    guard let value = info[key.rawValue], (1...5).contains(value.count),
      value.count == 1 || value[0] != UInt8(ascii: "0")
    else { throw .illegal(key.rawValue) }
    var result: UInt32 = 0
    for byte in value {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
        throw .illegal(key.rawValue)
      }
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

/// The reason why a record is not an announcement of a board.
public enum AnnouncementError: Error, Hashable, Sendable {
  /// The record itself is not legal.
  case record(DiscoveryInfoError)
  /// The named key, which must be there, is not, or has no value.
  case missing(String)
  /// The value of the named key is not in its form.
  case illegal(String)
}
