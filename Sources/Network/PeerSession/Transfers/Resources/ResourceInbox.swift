import Crypto
import NIOPosix
import PeerCore
import PeerDiscovery

/// The inbox, which stores the resources that arrive from all peers and sessions. The inbox limits how much each peer
/// may store, and finds the stored part of an unfinished transfer.
actor ResourceInbox {
  struct Admission: Sendable {
    /// The file for the bytes; `nil` if the resource was delivered before.
    var file: StagingFile?
    var offset: Int
    var hash: SHA256
    var delivered: ReceivedResource?
  }

  struct Claim: Sendable {
    var peer: PeerID
    var session: SessionID?
    var isRequested = false
  }

  private struct Active {
    var claim: Claim
    var size: Int
    var written: Int
  }

  private struct PartialHash {
    var peer: PeerID
    var offset: Int
    var hash: SHA256
  }

  private struct Delivered {
    var peer: PeerID
    var name: UntrustedText
    var resource: ReceivedResource
    var hash: SHA256
  }

  /// The maximum number of remembered deliveries, for senders that do not yet know that their file was delivered.
  private static let rememberedLimit = 256

  private let directory: StagingDirectory
  private let quota: InboxQuota
  private let threads: NIOThreadPool
  private let isTemporary: @Sendable (UntrustedText) -> Bool
  private var active: [TransferID: Active] = [:]
  private var files: [TransferID: StagingFile] = [:]
  private var partialHashes: [TransferID: PartialHash] = [:]
  private var delivered: [TransferID: Delivered] = [:]
  private var deliveredOrder: [TransferID] = []
  private var owners: [TransferID: (claim: Claim, size: Int)] = [:]

  private init(
    _ directory: StagingDirectory,
    quota: InboxQuota,
    threads: NIOThreadPool,
    isTemporary: @escaping @Sendable (UntrustedText) -> Bool
  ) {
    self.directory = directory
    self.quota = quota
    self.threads = threads
    self.isTemporary = isTemporary
  }

  /// Opens the inbox, or creates it with access for its owner only; throws `system`. Removes unfinished transfers that
  /// have not changed for seven days before `now` (in seconds since 1970). Also removes unfinished transfers of exited
  /// processes if `isTemporary` returned true for their names. `quota` limits the finished and unfinished resources.
  /// `threads` run blocking disk operations. `calls` are the system calls that can fail if the disk is full.
  static func open(
    directory path: String,
    quota: InboxQuota,
    threads: NIOThreadPool = .singleton,
    calls: DiskCalls = .system,
    now: Int = secondsSince1970(),
    isTemporary: @escaping @Sendable (UntrustedText) -> Bool = { _ in false }
  ) async throws(SessionError) -> ResourceInbox {
    let directory = try await run(threads) { () throws(SessionError) in
      let directory = try StagingDirectory(path: path, calls: calls)
      try directory.sweep(now: now)
      return directory
    }
    return ResourceInbox(directory, quota: quota, threads: threads, isTemporary: isTemporary)
  }

  /// Returns whether the offered resource was already delivered, although the sender does not know that yet. Throws if
  /// another resource was delivered under that id.
  func hasDelivered(_ offer: Control.ResourceOffer, from peer: PeerID) throws(SessionError) -> Bool {
    guard let known = delivered[offer.id] else { return false }
    guard known.peer == peer, known.name == offer.name, known.resource.size == offer.size else {
      throw SessionError(.declined, "That transfer id was used before.")
    }
    return true
  }

  /// Decides whether an offer fits, and finds its stored part. Throws `quota`, `diskFull` or `system`; `declined` if
  /// the id belongs to another transfer; `transferCancelled` once `isCancelled` returns true.
  func admit(_ offer: Control.ResourceOffer, _ claim: Claim, isCancelled: @escaping @Sendable () -> Bool)
    async throws(SessionError) -> Admission
  {
    let peer = claim.peer
    let record = StagingRecord(
      sender: peer,
      name: hexadecimal(SHA256.hash(data: Array(offer.name.raw.utf8))),
      size: offer.size,
      modified: offer.modified,
      isTemporary: isTemporary(offer.name) ? true : nil
    )
    if try hasDelivered(offer, from: peer), let known = delivered[offer.id] {
      return Admission(file: nil, offset: offer.size, hash: known.hash, delivered: known.resource)
    }
    try checkUnused(offer.id)
    let directory = directory
    // While the directory is read, active transfers may end and their stored parts may disappear.
    let busy = Set(active.keys)
    var survey = try await Self.run(threads) { () throws(SessionError) in try directory.survey() }
    // A transfer of another process is included in the quota, but is neither resumed nor removed here.
    let foreign = survey.partials.filter { part in part.isInUse && active[part.id] == nil && !busy.contains(part.id) }
    survey.deliveredBytes += foreign.reduce(0) { $0 + $1.size }
    let foreignIDs = Set(foreign.map(\.id))
    guard !foreignIDs.contains(offer.id) else {
      throw SessionError(.declined, "Another program is receiving this transfer.")
    }
    // Do not suspend between this check and the reservation of the space.
    try checkUnused(offer.id)
    guard !survey.delivered.contains(offer.id) else {
      throw SessionError(.declined, "A resource with that id already exists.")
    }
    let idle = survey.partials.filter { part in
      !foreignIDs.contains(part.id) && active[part.id] == nil && !busy.contains(part.id) && delivered[part.id] == nil
    }
    if let other = idle.first(where: { $0.id == offer.id })?.record, other.sender != peer {
      throw SessionError(.declined, "That transfer id belongs to another peer.")
    }
    let source = Self.source(record, offer.id, idle)
    let removed = try room(for: offer.size, claim, keeping: source, idle, survey)
    active[offer.id] = Active(claim: claim, size: offer.size, written: source?.size ?? 0)
    if let source, source.id != offer.id { active[source.id] = Active(claim: claim, size: 0, written: 0) }
    defer { if let source, source.id != offer.id { active[source.id] = nil } }
    let remembered = source.flatMap { source in
      partialHashes[source.id].flatMap { $0.peer == peer && $0.offset == source.size ? $0 : nil }
    }
    if let source { partialHashes[source.id] = nil }
    for id in removed { partialHashes[id] = nil }
    do {
      let admission = try await Self.run(threads) { () throws(SessionError) in
        for id in removed { directory.remove(id) }
        guard let source, source.size > 0 else {
          if let source { directory.remove(source.id) }
          let file = try directory.create(offer.id, record)
          return Admission(file: file, offset: 0, hash: SHA256(), delivered: nil)
        }
        let file = try directory.reopen(source.id, as: offer.id, record)
        let hash: SHA256
        if let remembered {
          hash = remembered.hash
        } else {
          hash = try file.hashPrefix(source.size, isCancelled: isCancelled)
        }
        return Admission(file: file, offset: source.size, hash: hash, delivered: nil)
      }
      files[offer.id] = admission.file
      return admission
    } catch {
      active[offer.id] = nil
      throw error
    }
  }

  func note(_ id: TransferID, written: Int) { active[id]?.written = written }

  func storePartial(_ id: TransferID, written: Int, hash: SHA256) async {
    // If no bytes were written, there is nothing to resume.
    guard written > 0 else { return await discard(id) }
    files.removeValue(forKey: id)?.unlock()
    guard let entry = active.removeValue(forKey: id) else { return }
    // Losing the hash costs only time, because the hash can be computed again.
    if partialHashes.count >= Self.rememberedLimit { partialHashes.removeAll() }
    partialHashes[id] = PartialHash(peer: entry.claim.peer, offset: written, hash: hash)
  }

  func discard(_ id: TransferID) async {
    let directory = directory
    // If a file cannot be removed now, the next start removes it.
    try? await Self.run(threads) { () throws(SessionError) in directory.remove(id) }
    files.removeValue(forKey: id)?.unlock()
    active[id] = nil
    partialHashes[id] = nil
  }

  /// Passes a complete and verified file to the application; if this method throws `declined`, `diskFull` or `system`,
  /// the caller discards the transfer.
  func deliver(_ offer: Control.ResourceOffer, from peer: PeerID, _ file: StagingFile, hash: SHA256)
    async throws(SessionError) -> ReceivedResource
  {
    let (directory, isTemporary) = (directory, isTemporary(offer.name))
    let path = try await Self.run(threads) { () throws(SessionError) in
      try directory.deliver(offer.id, file, isTemporary: isTemporary)
    }
    let resource = ReceivedResource(path: path, sha256: hash.digest, size: offer.size)
    files[offer.id] = nil
    if let entry = active.removeValue(forKey: offer.id), !entry.claim.isRequested {
      owners[offer.id] = (entry.claim, offer.size)
    }
    partialHashes[offer.id] = nil
    delivered[offer.id] = Delivered(peer: peer, name: offer.name, resource: resource, hash: hash)
    deliveredOrder.append(offer.id)
    if deliveredOrder.count > Self.rememberedLimit { delivered[deliveredOrder.removeFirst()] = nil }
    return resource
  }

  private func checkUnused(_ id: TransferID) throws(SessionError) {
    guard active[id] == nil else { throw SessionError(.declined, "A transfer with that id is in progress.") }
  }

  /// Returns the stored part of the offered file (RES-1). The part is stored under the offered id, or under an id from
  /// an earlier process of the sender.
  private static func source(_ record: StagingRecord, _ id: TransferID, _ idle: [StagingDirectory.Partial])
    -> StagingDirectory.Partial?
  {
    let candidates = idle.filter { $0.size <= record.size }
    return candidates.first { $0.id == id && $0.record == record }
      ?? candidates.filter { $0.record?.isSameFile(as: record) == true }.max { $0.size < $1.size }
  }

  /// Returns the unfinished transfers to remove to make room for `size` bytes, oldest first (RES-9).
  private func room(
    for size: Int,
    _ claim: Claim,
    keeping source: StagingDirectory.Partial?,
    _ idle: [StagingDirectory.Partial],
    _ survey: StagingDirectory.Survey
  ) throws(SessionError) -> [TransferID] {
    owners = owners.filter { survey.delivered.contains($0.key) }
    // Requested resources do not compete with other offers.
    let counted = active.values.filter { !claim.isRequested || $0.claim.isRequested }
    if !claim.isRequested { try checkShares(size, claim) }
    var others = idle.filter { $0.id != source?.id }.sorted { $0.modified < $1.modified }[...]
    var used = claim.isRequested ? 0 : survey.deliveredBytes + others.reduce(0) { $0 + $1.size }
    var promised = size - (source?.size ?? 0)
    for entry in counted {
      used += entry.claim.isRequested ? 0 : entry.size
      promised += max(entry.size - entry.written, 0)
    }
    var free = survey.freeBytes ?? .max
    if free != .max, !claim.isRequested { free -= quota.reserve(ofDisk: survey.diskBytes) }
    var removed: [TransferID] = []
    while (!claim.isRequested && used > quota.total - size) || promised > free {
      guard let oldest = others.popFirst() else {
        if !claim.isRequested, used > quota.total - size { throw quota.error(.total) }
        throw SessionError(.diskFull, "The resource would leave too little space on the disk.")
      }
      used -= oldest.size
      free += free == .max ? 0 : oldest.size
      removed.append(oldest.id)
    }
    return removed
  }

  private func checkShares(_ size: Int, _ claim: Claim) throws(SessionError) {
    var (peer, session) = (0, 0)
    let here = owners.values.map { ($0.claim, $0.size) } + active.values.map { ($0.claim, $0.size) }
    for (other, size) in here where !other.isRequested {
      if other.peer == claim.peer { peer += size }
      if other.session == claim.session { session += size }
    }
    guard size <= quota.peer - peer else { throw quota.error(.peer) }
    guard size <= quota.session - session else { throw quota.error(.session) }
  }

  private static func run<T: Sendable>(
    _ threads: NIOThreadPool,
    _ body: @escaping @Sendable () throws(SessionError) -> T
  ) async throws(SessionError) -> T {
    // Cancellation does not interrupt a disk operation that has begun.
    do { return try await Task { try await threads.runIfActive { try body() } }.value } catch {
      throw error as? SessionError ?? SessionError(.system, "The thread pool is not running.")
    }
  }
}

/// The storage quotas of an inbox (RES-9).
struct InboxQuota: Sendable {
  enum Holder: String, Sendable {
    case peer = "one peer"
    case session = "one session"
    case total = "everyone"
  }

  var total: Int
  var session: Int
  var peer: Int
  /// The number of bytes that must stay free on the disk.
  var diskReserve: Int

  init(total: Int, session: Int? = nil, peer: Int? = nil, diskReserve: Int = 256 << 20) {
    self.total = total
    self.session = session ?? total / 2
    self.peer = peer ?? total / 4
    self.diskReserve = diskReserve
  }

  /// Returns the number of bytes that must stay free on a disk: the reserve, but at most 2 % of the disk's size.
  func reserve(ofDisk size: Int?) -> Int { min(diskReserve, (size ?? .max) / 50) }

  func error(_ holder: Holder) -> SessionError {
    let limit =
      switch holder {
      case .peer: peer
      case .session: session
      case .total: total
      }
    return SessionError(
      .quota,
      "The inbox takes at most \(limit) bytes from \(holder.rawValue), and the file would exceed this. "
        + "The inbox-quota of the receiver (\(total) bytes) sets the limit."
    )
  }
}
