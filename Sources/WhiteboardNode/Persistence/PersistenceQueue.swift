import WhiteboardDocument

/// What waits to be in the document, and who waits for it.
///
/// Everything recorded gets a number; `kept` is the greatest that is known to survive the end of the
/// process. Answers to verbs leave in their order, each when what it tells of is kept.
struct PersistenceQueue {
  /// A photo whose bytes are in a file of ours, and are to be in the document as well.
  struct Photo: Hashable, Sendable {
    /// Its SHA-256.
    let sha256: [UInt8]
    /// The file.
    let path: String
  }

  /// What is to be written in one go, and the number up to which that is everything.
  struct Work {
    /// The photos, before what shows them.
    let photos: [Photo]
    /// The entries, oldest first.
    let entries: [DocumentEntry]
    /// How much was recorded when it was taken.
    let mark: Int

    /// Whether there is nothing to do.
    var isEmpty: Bool { photos.isEmpty && entries.isEmpty }
  }

  /// What is to be appended, oldest first.
  private(set) var entries: [DocumentEntry] = []
  /// The photos that must still be stored, oldest first.
  private(set) var photos: [Photo] = []
  /// The photos that are being stored.
  private var storing: Set<Photo> = []
  /// The photos that could not be stored, with the errors; storing them is retried.
  private(set) var missing: [Photo: DocumentError] = [:]
  /// The photos that can never be stored, with the errors: their files are missing or have other
  /// contents.
  private var lost: [Photo: DocumentError] = [:]
  /// The error that keeps the membership from being stored; nil if it is stored.
  var membershipFailure: DocumentError?
  /// The reason why the document is open only for reading; nil if it is open for writing.
  var obstacle: DocumentError?
  /// The value of ``recorded`` at the last change of the board.
  private var changed = 0
  /// The last complete copy elsewhere, and the value of ``recorded`` when it was made.
  private var copy: (mark: Int, path: String)?
  /// The photos that the next answer reports.
  private var awaited: Set<Photo> = []
  /// The bytes of `entries`.
  private var byteCount = 0
  /// The limits of waiting bytes and answers beyond which callers must wait.
  private static let room = (byteCount: 16 << 20, answers: 4_096)
  /// The number of recorded items.
  private(set) var recorded = 0
  /// The number of changes of the board among them, without those that were left out.
  private(set) var changes = 0
  /// The number of recorded items that are stored.
  private(set) var kept = 0
  /// Whether something could not be appended, so that only a keyframe makes the document whole.
  private(set) var isBehind = false
  /// The time before which no change is missing in the log, in milliseconds since 1970.
  private(set) var behindSince: Int64?
  /// The error of the failed write.
  private(set) var failure: DocumentError?
  /// Whether there is a document, or was: without one nothing is recorded.
  private(set) var isOpen = false
  /// Whether the document is closed, so that nothing more is kept.
  private(set) var isClosed = false
  /// Whether the whole board is being written to make the document whole: what is recorded
  /// meanwhile is not in it.
  private var isMending = false
  /// Whether somebody writes now.
  var isWriting = false
  /// How much was recorded when the library was last told of the board.
  var told = 0
  /// Whether anything was recorded since the last keyframe.
  var isKeyframeDue = false
  /// Whether nothing is to be recorded for now: what happens meanwhile is in the keyframe behind it.
  private(set) var isPaused = false
  private var answers: [Answer] = []

  private struct Answer {
    /// What was recorded by then.
    let mark: Int
    /// The photos it tells of besides.
    let photos: Set<Photo>
    let tell: (DocumentError?) -> Void
  }

  /// There is a document from now on.
  mutating func open() { isOpen = true }

  /// Nothing is kept any more, and whoever waits or comes is told so.
  mutating func close() {
    isClosed = true
    if failure == nil { failure = DocumentError(.closed, "the board is closed") }
  }

  /// Records an entry to store.
  mutating func record(_ entry: DocumentEntry) {
    guard isOpen else { return }
    recorded += 1
    switch entry {
    case .head, .name, .traffic: break
    case .author, .batch, .answer, .marker, .gap, .end: changed = recorded
    }
    guard !isClosed, !isPaused else { return }
    switch entry {
    case .batch:
      changes += 1
      isKeyframeDue = true
    case .name, .traffic: break
    default: isKeyframeDue = true
    }
    // While the document is behind, the keyframe that mends it will have this.
    if !isBehind || isMending {
      entries.append(entry)
      byteCount += entry.byteCount
    }
  }

  /// Takes note of a photo to keep.
  ///
  /// - Parameters:
  ///   - photo: The photo. One that is being stored is stored again: its file may be another now.
  ///   - isAwaited: Whether the next answer tells of it.
  mutating func record(_ photo: Photo, isAwaited: Bool = false) {
    guard isOpen else { return }
    if isAwaited { awaited.insert(photo) }
    lost[photo] = nil
    // One that waits already is answered for when it is stored.
    guard isClosed || !photos.contains(photo) else { return }
    recorded += 1
    changed = recorded
    if !isClosed { photos.append(photo) }
  }

  /// What is to be written now.
  ///
  /// Where the document is behind, the whole board is to be written instead of entries. Of each photo
  /// it is to be told what became of it.
  mutating func take() -> Work {
    defer {
      storing = Set(photos)
      photos = []
      forgetEntries()
    }
    isMending = isBehind
    return Work(photos: photos, entries: entries, mark: recorded)
  }

  private mutating func forgetEntries() {
    entries = []
    byteCount = 0
  }

  /// Records that a photo is stored.
  mutating func didStore(_ photo: Photo) {
    storing.remove(photo)
    missing[photo] = nil
  }

  /// Whether a photo must still be stored.
  func isWaiting(forPhoto sha256: [UInt8]) -> Bool {
    photos.contains { $0.sha256 == sha256 } || storing.contains { $0.sha256 == sha256 }
      || missing.keys.contains { $0.sha256 == sha256 }
  }

  /// Records that a photo can never be stored; the answer that reports it fails.
  mutating func didLose(_ photo: Photo, _ error: DocumentError) {
    storing.remove(photo)
    missing[photo] = nil
    lost[photo] = error
  }

  /// Records that another file has the whole board.
  ///
  /// - Parameters:
  ///   - mark: The value of ``recorded`` when the copy was begun.
  ///   - path: The copy.
  mutating func didCopy(upTo mark: Int, to path: String) { copy = (mark, path) }

  /// A photo could not be stored, and may be later.
  ///
  /// - Returns: Whether that is new.
  mutating func didMiss(_ photo: Photo, _ error: DocumentError) -> Bool {
    storing.remove(photo)
    return missing.updateValue(error, forKey: photo) == nil
  }

  /// Retries the photos that could not be stored.
  mutating func retryPhotos() {
    photos += missing.keys.filter { !photos.contains($0) }
  }

  /// Everything up to a number is kept.
  mutating func didKeep(upTo mark: Int) {
    kept = max(kept, mark)
    isBehind = false
    isMending = false
    behindSince = nil
    failure = nil
  }

  /// What was taken could not be kept.
  ///
  /// - Parameters:
  ///   - error: Why not.
  ///   - work: What was taken.
  ///   - now: Milliseconds since 1970.
  mutating func didFail(_ error: DocumentError, _ work: Work, now: Int64) {
    let first = (work.entries + entries).lazy.compactMap(\.time).first
    behindSince = behindSince ?? first ?? now
    isBehind = true
    isMending = false
    failure = error
    forgetEntries()
  }

  /// Records nothing from now on.
  ///
  /// - Parameter now: Milliseconds since 1970.
  mutating func pause(now: Int64) {
    isPaused = true
    behindSince = behindSince ?? now
    isBehind = true
    forgetEntries()
  }

  /// Resumes recording; the caller must write the whole board first.
  mutating func resume() { isPaused = false }

  /// Queues an answer until everything recorded so far is stored.
  ///
  /// - Parameters:
  ///   - isAboutChanges: Whether the answer confirms that changes are stored. Other answers keep
  ///     their place in the queue, but do not fail if storing fails.
  ///   - tell: Sends the answer; receives the error if the changes are not stored.
  mutating func answer(
    isAboutChanges: Bool = true,
    _ tell: @escaping (DocumentError?) -> Void
  ) {
    answers.append(
      Answer(mark: isAboutChanges ? recorded : 0, photos: awaited, tell: tell)
    )
    awaited = []
  }

  /// Removes and returns the answers that can be sent, in order.
  mutating func takeAnswers() -> [() -> Void] {
    let failure = isBehind || isClosed ? failure : nil
    let reached = kept
    let good = answers.prefix { $0.mark <= reached }.count
    let ready = failure == nil ? good : answers.count
    let told = answers.prefix(ready).map { answer in
      // Everything before the failure is stored.
      let outcome =
        answer.mark > reached
        ? failure : answer.photos.compactMap { missing[$0] ?? lost[$0] }.first
      return { answer.tell(outcome) }
    }
    answers.removeFirst(ready)
    return told
  }

  /// Whether a new answer can be sent at once.
  var isIdle: Bool { answers.isEmpty && awaited.isEmpty && recorded <= kept }

  /// The error that keeps recorded work out of the document; nil if all is stored or being stored.
  var loss: DocumentError? {
    if isBehind || recorded > kept, let failure { return failure }
    return missing.min { $0.key.path < $1.key.path }?.value ?? obstacle ?? membershipFailure
  }

  /// Whether changes of the board are not in the document.
  var hasUnsavedWork: Bool { obstacle == nil ? loss != nil : changed > kept }

  /// Whether the work is on disk; every report about saving is derived from this value.
  var state: SaveState {
    guard isOpen, !isPaused else { return .off }
    if let loss {
      // The copy is complete without the bookkeeping that came while it was written, and since.
      let isCopied = copy.map { $0.mark >= changed } ?? false
      return .notSaved(
        SaveProblem(loss, copy: isCopied ? copy?.path : nil, hasUnsavedWork: hasUnsavedWork)
      )
    }
    return recorded > kept || !photos.isEmpty ? .saving : .saved
  }

  /// Whether the disk keeps up, so that more may be made.
  ///
  /// Where it fails altogether the whole board is written later, and nothing waits.
  var hasRoom: Bool {
    byteCount < Self.room.byteCount && answers.count < Self.room.answers
  }
}
