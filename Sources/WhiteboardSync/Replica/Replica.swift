import Whiteboard

/// One replica of a board among others: what it must send to whom, and when.
///
/// Sans-I/O: events go in with the time they happened at, and `takeActions()` gives what to do about
/// them. Not `Sendable`; one owner drives it. After each input, take the actions and carry them out
/// in order; and call `tick(now:)` when `nextDeadline` has come. Messages to a member must arrive in
/// order and exactly once while it is joined; a member whose link was lost for good has left and joins
/// anew.
public final class Replica {
  /// The board; edit it inside `change(now:_:)` only.
  public let board: Board

  let author: Author
  let verifier: any SignatureVerifier
  var actions: [ReplicaAction] = []
  var peers: [MemberID: PeerState] = [:]
  /// The records of the incarnations in our context, and of our own.
  var records: [Incarnation: AuthorRecord] = [:]
  /// What was taken back of what was granted on this board.
  var revocations = Revocations()
  /// Whom we admitted, and what for.
  var admissions: [MemberID: Admission] = [:]
  /// What was kept of a grant, whosever it is.
  var keptGrant: Grant?
  /// Until when boards may differ because something was taken back.
  var mendingUntil: UInt64 = 0
  /// What was refused since this replica began.
  public internal(set) var refusals = Refusals()
  /// The head of the local chain.
  var chain: BatchChain
  var heads: OwnHeads
  /// Writes our batches, which have the same bytes for all members.
  var writer = LinkBatchWriter()
  /// The incarnations whose records all members were sent ahead of purges (SYN-48).
  var sentAhead: Set<Incarnation> = []
  /// What opening found of incarnations that no record names (BRD-37).
  public internal(set) var unrecorded = UnrecordedAuthors()
  /// Whether a member came to whom less was said than the writer takes as said.
  var hasNewcomer = false
  var profile: MemberProfile?

  var requestQueue: [MemberID] = []
  var contextHash: UInt64?
  /// When everyone is told what we have.
  var reportToAllDue: UInt64?
  var selfCheck = DivergenceCheck()
  var nextComparison: UInt64
  /// Whose turn it is to be told what we hold, and to be asked for what we lack.
  var toldSums: Turn
  var asked: Turn
  var activity = Activity()
  /// Whether members with an equal context get the local sums at once.
  var isProvingEquality = false

  var strokes: [ObjectID: LiveStroke] = [:]
  var tails = StrokeTails()
  var exchange = AssetExchange()
  var photoBudget = PhotoBudget()
  /// Whether photos were left out at the last look.
  var leavesOutPhotos = false
  /// The authors of whom photos were left out, as users were told.
  var photosLeftOut: Set<MemberID> = []
  /// When to look again whether photos that were left out have room.
  var nextPhotoLook: UInt64 = 0
  var sendingAssets: [MemberID: Set<AssetID>] = [:]
  var assetObjects: [AssetID: ObjectID] = [:]
  var ownSelections: Set<ObjectID> = []
  var shownSelections: [ObjectID: MemberID] = [:]
  var presence = PresenceState()
  var clocks: ClockComparison
  /// Until when those are here who are, as far as was heard; nil where it is to be seen anew.
  var presentUntil: UInt64?
  var untold = DeferredChanges()
  /// When this replica may next begin an incarnation because of false claims (BRD-39).
  var nextRenewal: UInt64 = 0
  /// The claims about connected authors that are being left out.
  var doubts: [Incarnation: Doubt] = [:]

  /// Milliseconds after which what was received is reported to its author: the longer the more members
  /// there are, for each of them reports too (SYN-14).
  var reportDelay: UInt64 { min(50 * UInt64(max(peers.count, 8)) / 8, 1000) }
  /// Milliseconds after which what was received is reported to the others.
  var gossipDelay: UInt64 { min(10 * reportDelay, Self.comparisonInterval) }
  /// Milliseconds between two heads, each of which all members check (AUT-7).
  var headInterval: UInt64 { 1000 * UInt64(max(peers.count, 8)) / 8 }
  /// Milliseconds between comparisons of contexts, and of boards.
  static let comparisonInterval: UInt64 = 5000
  /// How many members are told, and how many asked, at each comparison.
  static let comparisonsAtOnce = 8
  /// Milliseconds after something was taken back in which boards are expected to differ (AUT-15).
  static let mendingTime: UInt64 = 60_000
  /// Milliseconds after a member left until contexts are compared.
  static let departureDelay: UInt64 = 1000
  /// Milliseconds without progress of an answer after which another member is asked.
  static let requestPatience: UInt64 = 5000
  /// Milliseconds after which an answer that still comes keeps nobody else from being asked.
  static let slowAnswer: UInt64 = 30_000
  /// Milliseconds between two repairs by one member.
  static let repairInterval: UInt64 = 5000
  /// Milliseconds after which a member is asked again whose answer had no room here, and between two
  /// times that users are told.
  static let fullPatience: UInt64 = 60_000
  /// Milliseconds between two incarnations that are begun because of false claims.
  static let renewalInterval: UInt64 = 30_000
  /// Milliseconds for which a connected author can contradict the same claim.
  static let doubtPatience: UInt64 = 30_000
  /// Milliseconds between two answers to one member.
  static let answerInterval: UInt64 = 1000
  /// Milliseconds of silence after which a member's selections no longer hold.
  static let presencePatience: UInt64 = 10_000
  /// Milliseconds between two presence datagrams while nothing moves.
  static let presenceInterval: UInt64 = 1000
  /// Milliseconds between two presence datagrams while what they say changes.
  static let cursorInterval: UInt64 = 33
  /// The same two, however many members there are.
  static let slowPresenceInterval: UInt64 = 2000
  static let slowCursorInterval: UInt64 = 250
  /// Milliseconds between two looks whether photos that were left out have room.
  static let photoLookInterval: UInt64 = 60_000
  /// Assets under way to one member.
  static let assetsPerMember = 64

  /// A replica of an empty board that knows nobody, under a new incarnation of `author`'s.
  ///
  /// An author belongs to one replica. What was kept of the board is given to `restore(_:now:)`.
  public init(
    author: Author,
    now: Moment,
    verifier: any SignatureVerifier = P256SignatureVerifier()
  ) {
    self.author = author
    self.verifier = verifier
    let incarnation = author.makeIncarnation()
    board = Board(
      incarnation: incarnation,
      member: author.member,
      wallClock: now.wall,
      newIncarnation: { author.makeIncarnation() }
    )
    board.isReadOnly = !author.role.mayWrite
    chain = BatchChain(incarnation)
    records[incarnation] = author.record(of: incarnation)
    heads = OwnHeads(now: now.uptime, of: author.member)
    clocks = ClockComparison(own: author.member)
    nextComparison = now.uptime + Self.comparisonInterval
    toldSums = Turn(after: author.member)
    asked = Turn(after: author.member)
  }

  /// The actions since the last call, in order.
  public func takeActions() -> [ReplicaAction] {
    defer { actions = [] }
    return actions
  }

  /// The members who are joined, in order.
  public var members: [MemberID] { peers.keys.sorted() }

  /// The digest of the board.
  public var digest: Bytes32 { BoardDigest.digest(of: board.state) }

  // MARK: - Local changes

  /// Makes local edits, which apply at once and are sent to every member.
  ///
  /// They form one batch, or several if they overwrite times far ahead of the wall clock (BRD-32).
  ///
  /// - Throws: what `body` throws; then nothing is applied.
  public func change<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    let result = try board.gesture { () throws(Failure) in try body(board) }
    finish(from: nil, now)
    return result
  }

  /// Makes local edits that are several batches or none, such as an undo.
  ///
  /// - Throws: what `body` throws; what it had applied before stays.
  public func step<Result, Failure: Error>(
    now: Moment,
    _ body: (Board) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    begin(now)
    defer { finish(from: nil, now) }
    return try body(board)
  }

  /// Sends bytes of the application's.
  /// - Parameters:
  ///   - bytes: the bytes.
  ///   - members: to whom; nil means everyone.
  ///   - isReliable: whether as a message or as a datagram.
  ///   - now: the time.
  public func sendData(
    _ bytes: [UInt8],
    to members: [MemberID]? = nil,
    isReliable: Bool,
    now: Moment
  ) {
    let recipients = members ?? self.members
    guard !recipients.isEmpty else { return }
    actions.append(
      isReliable
        ? .send(SyncMessage.application(bytes).encode(), to: recipients)
        : .sendDatagram(SyncDatagram.application(bytes).encode(), to: recipients)
    )
  }

  // MARK: - Before and after each input

  func begin(_ now: Moment) {
    board.wallClock = now.wall
    refreshPresence(now)
  }

  /// Sends what was written, and tells what changed.
  func finish(from member: MemberID?, _ now: Moment) {
    refreshPresence(now)
    for batch in board.takeBatches() { publish(batch) }
    if board.incarnation != chain.incarnation { introduceIncarnation(board.incarnation) }
    for change in board.takeChanges() {
      if untold.keep(change, of: board.state, from: member) { continue }
      tell(change, from: member, now)
    }
    noteContext(now)
  }

  func noteContext(_ now: Moment) {
    guard board.state.revision != activity.revision else { return }
    activity.changed(board.state.revision, now.uptime)
    contextHash = nil
    reportToAll(by: now.uptime + gossipDelay)
  }

  func send(_ message: SyncMessage, to member: MemberID) { send(message, to: [member]) }

  /// Has the same bytes sent to some members, if any.
  func send(_ message: SyncMessage, to members: [MemberID]) {
    guard !members.isEmpty else { return }
    actions.append(.send(message.encode(), to: members))
  }

  func datagram(_ datagram: SyncDatagram) {
    guard !peers.isEmpty else { return }
    actions.append(.sendDatagram(datagram.encode(), to: members))
  }
}
