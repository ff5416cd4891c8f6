import WhiteboardDocument

/// The entries and photos that must be written to the document, and the answers that wait for them. Each recorded item
/// has a number. All items up to ``stored`` survive the end of the process. Answers are sent in order, each when the
/// items that it confirms are stored.
struct PersistenceQueue {
  struct Photo: Hashable, Sendable {
    let sha256: [UInt8]
    let path: String
  }

  struct Work {
    /// The entries, oldest first.
    let entries: [DocumentEntry]
    /// The number of items that were recorded when the work was taken.
    let mark: Int
  }

  /// The entries that are not appended to the document yet, oldest first.
  private(set) var entries: [DocumentEntry] = []
  /// The photos that are not stored yet, oldest first. Entries that show these photos may be stored earlier, because
  /// the photo directory keeps the file of a photo until the photo is stored.
  private(set) var photos: [Photo] = []
  private var storing: Set<Photo> = []
  /// The photos that could not be stored, with the errors. Storing them is retried.
  private(set) var missing: [Photo: DocumentError] = [:]
  /// The photos that can never be stored, because their files are missing or have other contents.
  private var lost: [Photo: DocumentError] = [:]
  var membershipFailure: DocumentError?
  /// The reason why the document is open only for reading.
  var obstacle: DocumentError?
  /// The value of ``recorded`` after the last change of the board.
  private var changed = 0
  /// The last complete copy in another file, and the value of ``recorded`` when the copy was started.
  private var copy: (mark: Int, path: String)?
  /// The photos whose storage the next answer confirms.
  private var awaited: Set<Photo> = []
  private var byteCount = 0
  /// The numbers of queued bytes and queued answers above which callers must wait.
  private static let room = (byteCount: 16 << 20, answers: 4_096)
  private(set) var recorded = 0
  /// The number of recorded changes of the board, without the discarded changes.
  private(set) var changes = 0
  private(set) var stored = 0
  /// Whether an entry could not be appended, so that a keyframe must complete the document.
  private(set) var isBehind = false
  /// The time of the first change that the log lacks, in milliseconds since 1970.
  private(set) var behindSince: Int64?
  private(set) var failure: DocumentError?
  /// Whether a document was opened; without a document, nothing is recorded.
  private(set) var isOpen = false
  private(set) var isClosed = false
  /// Whether a keyframe that completes the document is being written. The keyframe does not contain items recorded
  /// after its start.
  private var isMending = false
  var isWriting = false
  /// Whether the whole board is being written; entries can be written at the same time.
  var isWritingBoard = false
  /// Whether photos are being stored; entries can be written at the same time.
  var isStoringPhotos = false
  /// The value of ``recorded`` when the counts for board lists were last stored.
  var counted = 0
  /// Whether an item that belongs in a keyframe was recorded since the last keyframe.
  var isKeyframeDue = false
  /// Whether recording is paused. The keyframe after the pause contains the changes made during the pause.
  private(set) var isPaused = false
  private var answers: [Answer] = []

  private struct Answer {
    /// The value of ``recorded`` that must be stored before the answer is sent.
    let mark: Int
    /// The photos that must be stored before the answer is sent.
    let photos: Set<Photo>
    let respond: (DocumentError?) -> Void
  }

  mutating func open() { isOpen = true }

  mutating func close() {
    isClosed = true
    if failure == nil { failure = DocumentError(.closed, "the board is closed") }
  }

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
    // If the document is incomplete, the keyframe that completes it will contain this entry.
    if !isBehind || isMending {
      entries.append(entry)
      byteCount += entry.byteCount
    }
  }

  /// Queues a photo; if it is already being stored, it is stored again, because its file may have changed.
  mutating func record(_ photo: Photo, isAwaited: Bool = false) {
    guard isOpen else { return }
    if isAwaited { awaited.insert(photo) }
    lost[photo] = nil
    // A photo that is already in the queue need not be queued again.
    guard isClosed || !photos.contains(photo) else { return }
    recorded += 1
    changed = recorded
    if !isClosed { photos.append(photo) }
  }

  /// Returns the entries to write now. If the document is incomplete, the caller must write a keyframe instead of the
  /// entries.
  mutating func take() -> Work {
    defer { forgetEntries() }
    isMending = isBehind
    return Work(entries: entries, mark: recorded)
  }

  /// Returns the photos to store now. The caller must report the result for each photo.
  mutating func takePhotos() -> [Photo] {
    defer { photos = [] }
    storing.formUnion(photos)
    return photos
  }

  private func isPending(_ photo: Photo) -> Bool { photos.contains(photo) || storing.contains(photo) }

  var hasPendingPhotos: Bool { !photos.isEmpty || !storing.isEmpty }

  private mutating func forgetEntries() {
    entries = []
    byteCount = 0
  }

  mutating func didStore(_ photo: Photo) {
    storing.remove(photo)
    missing[photo] = nil
  }

  func isWaiting(forPhoto sha256: [UInt8]) -> Bool {
    photos.contains { $0.sha256 == sha256 } || storing.contains { $0.sha256 == sha256 }
      || missing.keys.contains { $0.sha256 == sha256 }
  }

  /// Records that a photo cannot be stored at all. The answer that waits for the photo fails.
  mutating func didLose(_ photo: Photo, _ error: DocumentError) {
    storing.remove(photo)
    missing[photo] = nil
    lost[photo] = error
  }

  /// The file at `path` contains the whole board.
  mutating func didCopy(upTo mark: Int, to path: String) { copy = (mark, path) }

  /// Storing the photo will be retried. Returns whether this is its first failure.
  mutating func didMiss(_ photo: Photo, _ error: DocumentError) -> Bool {
    storing.remove(photo)
    return missing.updateValue(error, forKey: photo) == nil
  }

  mutating func retryPhotos() { photos += missing.keys.filter { !photos.contains($0) } }

  mutating func didStore(upTo mark: Int) {
    stored = max(stored, mark)
    isBehind = false
    isMending = false
    behindSince = nil
    failure = nil
  }

  mutating func didFail(_ error: DocumentError, _ work: Work, now: Int64) {
    let first = (work.entries + entries).lazy.compactMap(\.time).first
    behindSince = behindSince ?? first ?? now
    isBehind = true
    isMending = false
    failure = error
    forgetEntries()
  }

  mutating func pause(now: Int64) {
    isPaused = true
    behindSince = behindSince ?? now
    isBehind = true
    forgetEntries()
  }

  /// Resumes recording. The caller must write the whole board first.
  mutating func resume() { isPaused = false }

  /// Queues an answer until everything recorded so far is stored. An answer that is not about changes keeps its
  /// position in the queue, but does not fail if storing fails.
  mutating func answer(isAboutChanges: Bool = true, _ respond: @escaping (DocumentError?) -> Void) {
    answers.append(Answer(mark: isAboutChanges ? recorded : 0, photos: awaited, respond: respond))
    awaited = []
  }

  mutating func takeAnswers() -> [() -> Void] {
    let failure = isBehind || isClosed ? failure : nil
    let reached = stored
    let good = answers.prefix { $0.mark <= reached && !$0.photos.contains(where: isPending) }.count
    let ready = failure == nil ? good : answers.count
    let sent = answers.prefix(ready).map { answer in
      // All items before the failure are stored.
      let isStored = answer.mark <= reached && !answer.photos.contains(where: isPending)
      let outcome = !isStored ? failure : answer.photos.compactMap { missing[$0] ?? lost[$0] }.first
      return { answer.respond(outcome) }
    }
    answers.removeFirst(ready)
    return sent
  }

  var isBusy: Bool { isWriting || isWritingBoard }

  var isIdle: Bool { answers.isEmpty && awaited.isEmpty && recorded <= stored }

  /// The error that prevents recorded work from being stored; nil if all work is stored or being stored.
  var loss: DocumentError? {
    if isBehind || recorded > stored, let failure { return failure }
    return missing.min { $0.key.path < $1.key.path }?.value ?? obstacle ?? membershipFailure
  }

  var hasUnsavedWork: Bool { obstacle == nil ? loss != nil : changed > stored }

  /// The save state, from which every report about saving is derived.
  var state: SaveState {
    guard isOpen, !isPaused else { return .off }
    if let loss {
      // The copy is complete if no change of the board was recorded after the copy was started; other items do not
      // matter.
      let isCopied = copy.map { $0.mark >= changed } ?? false
      return .notSaved(SaveProblem(loss, copy: isCopied ? copy?.path : nil, hasUnsavedWork: hasUnsavedWork))
    }
    return recorded > stored || hasPendingPhotos ? .saving : .saved
  }

  /// Whether there is room for more entries. If writing fails, entries are discarded and a keyframe is written later,
  /// so callers need not wait.
  var hasRoom: Bool { byteCount < Self.room.byteCount && answers.count < Self.room.answers }
}
