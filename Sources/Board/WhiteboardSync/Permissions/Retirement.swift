import PeerCore
import Whiteboard

/// A statement by a board's host: all replicas must ignore everything from the listed incarnations. The host makes the
/// statement after it has removed the author of these incarnations, which then no longer use up room (BRD-37).
/// Implements AUT-17.
struct Retirement: Hashable, Sendable {
  static let incarnationLimit = 4096
  static let limit = 256
  static let byteLimit = 1 << 16
  private static let version: UInt8 = 1
  private static let domain = Array("whiteboard-retirement-1\n".utf8)

  let board: BoardID
  /// The retired incarnations, in ascending order.
  let incarnations: [Incarnation]
  let host: [UInt8]
  /// The salt of an owned board (AUT-9); empty on an open board.
  let salt: [UInt8]
  /// The content without the signature.
  private let body: [UInt8]
  private let signature: [UInt8]

  var bytes: [UInt8] { body + signature }

  /// Creates a retirement of at most ``incarnationLimit`` incarnations; nil if the author has no local key.
  init?(of incarnations: [Incarnation], salt: [UInt8], by author: Author) {
    guard author.hasLocalKey else { return nil }
    board = author.board
    self.incarnations = incarnations
    host = author.publicKey
    self.salt = salt
    var writer = ByteWriter()
    writer.byte(Self.version)
    writer.raw(board.bytes)
    writer.count(incarnations.count)
    for incarnation in incarnations { writer.incarnation(incarnation) }
    writer.raw(host)
    writer.count(salt.count)
    writer.raw(salt)
    body = writer.bytes
    signature = author.sign(Self.domain + body).complete
  }

  /// ``verify(board:with:)`` checks the content. Throws `CodecError` unless the bytes are the canonical encoding.
  init(_ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == Self.version else { throw .reserved("retirement version") }
    guard let board = BoardID(bytes: try reader.take(BoardID.byteCount)) else { throw .truncated }
    self.board = board
    let count = try reader.count(upTo: Self.incarnationLimit, "incarnations")
    guard count > 0 else { throw .overLimit("incarnations") }
    var incarnations: [Incarnation] = []
    for _ in 0..<count {
      let incarnation = try reader.incarnation()
      if let last = incarnations.last, incarnation <= last { throw .notCanonical("incarnations") }
      incarnations.append(incarnation)
    }
    self.incarnations = incarnations
    host = try reader.take(AuthorRecord.keyBytes)
    let saltBytes = board.isOwned ? BoardOwner.saltBytes : 0
    guard try reader.varint() == UInt64(saltBytes) else { throw .reserved("salt") }
    salt = try reader.take(saltBytes)
    body = Array(bytes[..<reader.position])
    signature = try reader.take(AuthorRecord.signatureBytes)
    try reader.finish()
  }

  func verify(board: BoardID, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard self.board == board else { throw .wrongBoard }
    guard verifier.isKey(host) else { throw .wrongKey }
    let isHost =
      board.isOwned ? BoardOwner(salt: salt, key: host).board == board : board.names(MemberID(publicKey: host))
    guard isHost else { throw .notOwner }
    guard verifier.isValid(signature, of: Self.domain + body, by: host) else { throw .wrongSignature }
  }
}

/// The retirements on a board (AUT-17), whose effect does not depend on their order.
final class Retirements {
  /// If removed members have at most this many incarnations, the host retires none, because they use up little room.
  private static let tolerated = BoardLimits.incarnationsPerRun

  private let board: Board
  private let author: Author
  private let verifier: ReplicaVerifier
  private let peers: MemberLinks
  private let registry: AuthorRegistry
  private let reports: ContextReports
  private let actions: ActionQueue

  /// All retirements, in order of arrival.
  private(set) var all: [Retirement] = []
  private var known: Set<Retirement> = []

  init(
    _ board: Board,
    _ author: Author,
    _ verifier: ReplicaVerifier,
    _ peers: MemberLinks,
    _ registry: AuthorRegistry,
    _ reports: ContextReports,
    _ actions: ActionQueue
  ) {
    self.board = board
    self.author = author
    self.verifier = verifier
    self.peers = peers
    self.registry = registry
    self.reports = reports
    self.actions = actions
  }

  /// The salt in the local author's retirements; nil unless the local author is the host of the board.
  private var salt: [UInt8]? {
    guard author.board.isOwned else { return author.board.names(author.member) ? [] : nil }
    guard let owner = author.grant?.owner, owner.member == author.member, owner.board == author.board else {
      return nil
    }
    return owner.salt
  }

  /// If the incarnations of removed members use up much room, retires the incarnations that left nothing on the board.
  /// Returns the number of retired incarnations; 0 if the local author is not the host. O(*n*) in the number of cells
  /// on the board.
  func retire(of members: Set<MemberID>, _ now: Moment) -> Int {
    guard let salt else { return 0 }
    let context = board.state.context
    var empty: Set<Incarnation> = []
    for record in registry.all where members.contains(record.member) && record.member != author.member {
      if context.contains(record.incarnation) { empty.insert(record.incarnation) }
    }
    guard empty.count > Self.tolerated else { return 0 }
    for (id, record) in board.state.records {
      empty.remove(id.dot.incarnation)
      for entry in record.entries { empty.remove(entry.cell.dot.incarnation) }
    }
    guard empty.count > Self.tolerated else { return 0 }
    let sorted = empty.sorted()
    var count = 0
    while count < sorted.count, all.count < Retirement.limit {
      let next = Array(sorted[count...].prefix(Retirement.incarnationLimit))
      guard let retirement = Retirement(of: next, salt: salt, by: author) else { return count }
      insert(retirement, from: nil, now)
      count += next.count
    }
    return count
  }

  func check(_ bytes: [UInt8]) throws(ReplicaError) -> Retirement {
    let retirement: Retirement
    do { retirement = try Retirement(bytes) } catch { throw .malformed(error) }
    // A known retirement was already verified.
    if !known.contains(retirement) { try retirement.verify(board: author.board, with: verifier) }
    return retirement
  }

  func insert(_ retirement: Retirement, from member: MemberID?, _ now: Moment) {
    guard add(retirement) else { return }
    actions.record(.answer([AnswerMerging.retirement] + retirement.bytes))
    actions.queue(.retirement(retirement.bytes), to: peers.members.filter { $0 != member })
    for peer in peers.states { peer.retirementArrived() }
    reports.expectDifferences(now)
    apply(retirement)
  }

  func restore(_ retirement: Retirement) { if add(retirement) { apply(retirement) } }

  func send(to member: MemberID, _ now: Moment) {
    guard !all.isEmpty else { return }
    // The board of the new member may contain retired changes.
    reports.expectDifferences(now)
    for retirement in all { actions.queue(.retirement(retirement.bytes), to: member) }
  }

  private func add(_ retirement: Retirement) -> Bool {
    guard all.count < Retirement.limit, known.insert(retirement).inserted else { return false }
    all.append(retirement)
    return true
  }

  private func apply(_ retirement: Retirement) {
    board.retire(retirement.incarnations)
    registry.remove(retirement.incarnations)
  }
}
