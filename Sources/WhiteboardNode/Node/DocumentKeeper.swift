import WhiteboardDocument

/// What waits to be in the document, and who waits for it.
///
/// Everything recorded gets a number; `kept` is the greatest that is known to survive the end of the
/// process. Answers to verbs leave in their order, each when what it tells of is kept.
struct DocumentKeeper {
  /// What is to be appended, oldest first.
  private(set) var entries: [DocumentEntry] = []
  /// How much was recorded.
  private(set) var recorded = 0
  /// How much of it is kept.
  private(set) var kept = 0
  /// Whether something could not be appended, so that only a keyframe makes the document whole.
  private(set) var isBehind = false
  /// Why not.
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
  /// Whether anything was recorded since the last keyframe.
  var isKeyframeDue = false
  private var answers: [(mark: Int, tell: (DocumentError?) -> Void)] = []

  /// There is a document from now on.
  mutating func open() { isOpen = true }

  /// Nothing is kept any more, and whoever waits or comes is told so.
  mutating func close() {
    isClosed = true
    if failure == nil { failure = DocumentError(.closed, "the board is closed") }
  }

  /// Takes note of something to keep.
  mutating func record(_ entry: DocumentEntry) {
    guard isOpen else { return }
    recorded += 1
    guard !isClosed else { return }
    isKeyframeDue = true
    // While the document is behind, the keyframe that mends it will have this.
    if !isBehind || isMending { entries.append(entry) }
  }

  /// What is to be written now, and the number up to which that is everything.
  ///
  /// Where the document is behind, that is nothing, and the whole board is to be written.
  mutating func take() -> (entries: [DocumentEntry], mark: Int) {
    defer { entries = [] }
    isMending = isBehind
    return (entries, recorded)
  }

  /// Everything up to a number is kept.
  mutating func didKeep(upTo mark: Int) {
    kept = max(kept, mark)
    isBehind = false
    isMending = false
    failure = nil
  }

  /// What was taken could not be kept.
  mutating func didFail(_ error: DocumentError) {
    isBehind = true
    isMending = false
    failure = error
    entries = []
  }

  /// Has an answer told when all that was recorded by now is kept, after those before it.
  mutating func answer(_ tell: @escaping (DocumentError?) -> Void) {
    answers.append((recorded, tell))
  }

  /// The answers that can be told, in order.
  mutating func takeAnswers() -> [() -> Void] {
    let failure = isBehind || isClosed ? failure : nil
    let reached = kept
    let good = answers.prefix { $0.mark <= reached }.count
    let ready = failure == nil ? good : answers.count
    let told = answers.prefix(ready).map { answer in
      // What was kept before the failure was kept.
      { answer.tell(answer.mark <= reached ? nil : failure) }
    }
    answers.removeFirst(ready)
    return told
  }

  /// Whether an answer given now may be told at once.
  var isIdle: Bool { answers.isEmpty && recorded <= kept }
}
