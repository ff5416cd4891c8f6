import Crypto
import PeerCore
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

extension Recording {
  /// Returns a recording of the same changes by anonymous authors.
  ///
  /// The authors get new keys and names. The board gets a new id and a new date. If requested, all text is hidden. Each
  /// author is replaced by exactly one anonymous author, so that the recording can be replayed. Anyone who has the
  /// original can identify the authors by comparing the drawings.
  ///
  /// - Parameters:
  ///   - seed: The seed for the board's id and for the incarnations. Keys are always new.
  ///   - hidesWords: Whether to replace all characters of text, except white space, by `x`.
  /// - Returns: The anonymous recording.
  /// - Throws: `wrongKind` if the board is owned, since the rights on it depend on the keys; `tooLarge` if the
  ///   recording has too many incarnations.
  /// - Complexity: O(n) in the steps, and O(m²) in the incarnations.
  public func anonymized(seed: UInt64, hidesWords: Bool) throws(DocumentError) -> Recording {
    guard !board.isOwned else {
      throw DocumentError(
        .wrongKind,
        "a recording of an owned board cannot be made anonymous, because rights depend on the members' keys"
      )
    }
    var random = SplitMix64(seed: seed)
    var id = (0..<BoardID.byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    // Begin the id with a zero byte, which the id of an owned board never does.
    id[0] = 0
    guard let newBoard = BoardID(bytes: id) else { preconditionFailure("an id has 16 bytes") }
    let crowd = try AnonymousCrowd(of: self, on: newBoard, using: &random)
    // The new recording begins on 1 January 2000, and all differences between times are preserved.
    let shift = min(max(946_684_800_000, start ?? 0), 1 << 46) - 946_684_800_000
    var mask = AnonymousValues(
      members: crowd.members,
      salt: random.next(),
      hidesWords: hidesWords,
      shift: UInt64(shift)
    )
    let renaming = crowd.renaming
    var playback = Playback(self, spacing: .max)
    var steps: [DocumentHistory.Step] = []
    for (place, step) in history.steps.enumerated() {
      playback.step()
      let content: DocumentHistory.Step.Content
      if case .batch(let bytes) = step.content, let found = try? EncodedBatch(decoding: bytes),
        let batch = try? renaming.batch(found.batch, mask.time(found.batch.time), { mask.value($0, $1) })
      {
        content = .batch(EncodedBatch(batch).bytes)
      } else if playback.faults.last?.place == place {
        // Omit a step that could not be applied, because it may contain identifying data.
        continue
      } else {
        content = .keyframe(playback.board.keyframe(renaming) { (mask.value($0, $1), mask.time($2)) })
      }
      steps.append(DocumentHistory.Step(content, time: step.time &- shift, row: step.row))
    }
    // The name of a mark may identify a person.
    let marks = history.marks.enumerated().map { number, mark in
      DocumentHistory.Mark(
        name: mark.name.map { _ in "mark \(number + 1)" },
        time: mark.time &- shift,
        until: mark.until &- shift,
        place: mark.place
      )
    }
    var names: [String: String] = [:]
    for (old, new) in crowd.members {
      let name = name(of: old) ?? crowd.chatNames[old] ?? ""
      names[new.description] = "person \(mask.number(of: Array(name.utf8), old))"
    }
    return try Recording(
      DocumentHistory(
        board: id,
        name: "board",
        steps: steps,
        marks: steps.count == history.steps.count ? marks : [],
        authors: crowd.records.map { record in
          StoredAuthor(incarnation: record.incarnation.rawValue, record: record.bytes, sequence: 0, head: [])
        },
        names: names,
        end: history.end.map { $0 &- shift }
      )
    )
  }
}

private struct AnonymousCrowd {
  /// The maximum number of incarnations. Replacing more incarnations would take minutes.
  private static let limit = 4096

  private(set) var members: [MemberID: MemberID] = [:]
  private(set) var records: [AuthorRecord] = []
  private(set) var chatNames: [MemberID: String] = [:]
  private var names: [Incarnation: Incarnation] = [:]

  init(of recording: Recording, on board: BoardID, using random: inout SplitMix64) throws(DocumentError) {
    var playback = Playback(recording, spacing: .max)
    var seen: Set<Incarnation> = []
    let looking = IncarnationRenaming { incarnation in
      seen.insert(incarnation)
      return incarnation
    }
    for step in recording.history.steps {
      playback.step()
      if case .batch(let bytes) = step.content, let found = try? EncodedBatch(decoding: bytes) {
        _ = try? looking.batch(found.batch, found.batch.time) { $1 }
      } else {
        _ = looking.difference(playback.board.state.difference(since: Context())) { ($1, $2) }
      }
    }
    for line in playback.board.shown().chat { chatNames[line.author] = line.name }
    let old = playback.board.records
    seen.formUnion(old.keys)
    guard seen.count <= Self.limit else {
      throw DocumentError(
        .tooLarge,
        "the recording has more than \(Self.limit) incarnations; cut out a part of it first"
      )
    }
    var keys: [MemberID: AnonymousKey] = [:]
    let width = UInt64.max / UInt64(max(seen.count, 1))
    // Choose each new incarnation from a separate range, so that the incarnations keep their order.
    for (place, incarnation) in seen.sorted().enumerated() {
      let range = UInt64(place) * width + 1...UInt64(place) * width + width - 1
      if let record = old[incarnation] {
        let key = keys[record.member] ?? AnonymousKey()
        keys[record.member] = key
        let new = AuthorRecord.make(board: board, role: record.role, key: key, in: range, using: &random)
        members[record.member] = new.member
        names[incarnation] = new.incarnation
        records.append(new)
      } else {
        names[incarnation] = Incarnation(exactly: UInt64.random(in: range, using: &random))
      }
    }
  }

  var renaming: IncarnationRenaming {
    let names = names
    return IncarnationRenaming { incarnation in
      guard let name = names[incarnation] else {
        preconditionFailure("every incarnation of the recording has a replacement")
      }
      return name
    }
  }
}

/// A key that is used for one anonymous recording and never stored.
private struct AnonymousKey: AuthorKey {
  private let key = P256.Signing.PrivateKey()

  var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

  func signature(of bytes: [UInt8]) -> [UInt8] {
    do { return Array(try key.signature(for: bytes).rawRepresentation) } catch {
      preconditionFailure("the new key cannot sign: \(error)")
    }
  }
}

private struct AnonymousValues {
  let members: [MemberID: MemberID]
  let salt: UInt64
  let hidesWords: Bool
  /// The amount by which all times are moved back, in milliseconds.
  let shift: UInt64
  private var numbers: [[UInt8]: Int] = [:]

  init(members: [MemberID: MemberID], salt: UInt64, hidesWords: Bool, shift: UInt64) {
    self.members = members
    self.salt = salt
    self.hidesWords = hidesWords
    self.shift = shift
  }

  func time(_ time: HybridTime) -> HybridTime {
    let early = shift << 16
    return HybridTime(time.rawValue > early ? time.rawValue - early : 0)
  }

  mutating func value(_ property: Property, _ value: Value) -> Value {
    switch (property, value) {
    case (.chatAuthor, .bytes(let bytes)), (.selection, .bytes(let bytes)):
      if let member = MemberID(bytes: bytes), let other = members[member] { return .bytes(other.bytes) }
      var random = SplitMix64(seed: salt &+ UInt64(number(of: bytes)))
      return .bytes(bytes.map { _ in UInt8(truncatingIfNeeded: random.next()) })
    case (.chatTime, .unsigned(let time)): return .unsigned(time > shift ? time - shift : 0)
    case (.chatName, .text(let name)): return .text("person \(number(of: Array(name.utf8)))")
    case (.chatText, .text(let text)), (.title, .text(let text)): return .text(hidden(text))
    case (_, .bytes(let bytes)) where property.number == Property.runNumber:
      guard let (anchor, text) = try? TextTree.decodeRun(bytes) else { return value }
      return TextTree.encodeRun(hidden(text), at: anchor)
    default: return value
    }
  }

  /// A person is identified by the name or, if there is none, by the id, because chat lines contain only names.
  mutating func number(of name: [UInt8], _ member: MemberID) -> Int { number(of: name.isEmpty ? member.bytes : name) }

  private mutating func number(of bytes: [UInt8]) -> Int {
    if let number = numbers[bytes] { return number }
    numbers[bytes] = numbers.count + 1
    return numbers.count
  }

  /// Returns a replacement with as many Unicode scalars as the text, because edits by other authors depend on the
  /// number of scalars.
  private func hidden(_ text: String) -> String {
    guard hidesWords else { return text }
    var hidden = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { hidden.append(scalar.properties.isWhitespace || scalar == "\n" ? scalar : "x") }
    return String(hidden)
  }
}
