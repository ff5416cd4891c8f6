import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Recordings made of recordings.
extension Recording {
  /// A part of the recording, which begins with the board as it was then.
  ///
  /// - Parameter range: From when to when, in milliseconds from the beginning; both are in it.
  /// - Returns: The part.
  /// - Throws: `damaged` where the board's id is none.
  /// - Complexity: O(n).
  public func cut(_ range: ClosedRange<Int64>) throws(DocumentError) -> Recording {
    let first = range.lowerBound <= 0 ? 0 : place(at: range.lowerBound - 1)
    let last = max(first, place(at: range.upperBound))
    var playback = Playback(self, spacing: .max)
    playback.seek(toPlace: first)
    var steps: [DocumentHistory.Step] = []
    let begin = (start ?? 0) &+ range.lowerBound
    if first > 0 {
      steps.append(DocumentHistory.Step(.keyframe(playback.board.keyframe), time: begin, row: 0))
    }
    let shift = first - steps.count
    steps += history.steps[first..<last]
    let inside = history.marks.filter { $0.place > first && $0.place <= last }
    return try Recording(
      DocumentHistory(
        board: history.board,
        name: history.name,
        steps: steps,
        checks: history.checks.filter { $0.place > first && $0.place <= last }.map { check in
          DocumentHistory.Check(
            place: check.place - shift,
            time: check.time,
            name: check.name,
            digest: check.digest
          )
        },
        marks: inside.map { mark in
          DocumentHistory.Mark(
            name: mark.name,
            time: mark.time,
            until: mark.until,
            place: mark.place - shift
          )
        },
        authors: history.authors,
        damages: history.damages.filter { $0.place <= last }.map { damage in
          DocumentHistory.Damage(place: max(0, damage.place - shift), words: damage.words)
        },
        names: history.names,
        traffic: history.traffic.filter { range.contains(elapsed($0.time)) },
        end: (start ?? 0) &+ min(range.upperBound, duration)
      )
    )
  }

  /// Recordings of one board, one behind the other, in the order in which they began.
  ///
  /// A batch that an earlier one has is not repeated, so that several recordings of one session become one
  /// that has what any of them has.
  ///
  /// - Throws: `wrongBoard` where they are not of one board; `notFound` where there is none.
  /// - Complexity: O(n).
  public static func concatenated(_ parts: [Recording]) throws(DocumentError) -> Recording {
    let parts = parts.enumerated().sorted { one, other in
      (one.element.start ?? .max, one.offset) < (other.element.start ?? .max, other.offset)
    }.map(\.element)
    guard let first = parts.first else {
      throw DocumentError(.notFound, "there is nothing to put together; name recordings")
    }
    guard parts.allSatisfy({ $0.board == first.board }) else {
      throw DocumentError(
        .wrongBoard,
        "they are recordings of different boards; only those of one go together"
      )
    }
    var steps: [DocumentHistory.Step] = []
    var marks: [DocumentHistory.Mark] = []
    var authors: [UInt64: StoredAuthor] = [:]
    var known: Set<DocumentHistory.Step.Content> = []
    var damages: [DocumentHistory.Damage] = []
    var traffic: [TrafficEntry] = []
    var names: [String: String] = [:]
    for part in parts {
      // How many steps there are here after so many of the part.
      var places = [steps.count]
      for step in part.history.steps {
        if known.insert(step.content).inserted { steps.append(step) }
        places.append(steps.count)
      }
      // With what an earlier part has besides, the board has other digests: a version is a marker then.
      let versions = part.history.checks.filter { $0.name != nil }.map { check in
        DocumentHistory.Mark(
          name: check.name,
          time: check.time,
          until: check.time,
          place: check.place
        )
      }
      marks += (part.history.marks + versions).sorted { $0.place < $1.place }.map { mark in
        DocumentHistory.Mark(
          name: mark.name,
          time: mark.time,
          until: mark.until,
          place: places[mark.place]
        )
      }
      damages += part.history.damages.map { damage in
        DocumentHistory.Damage(place: places[damage.place], words: damage.words)
      }
      // What two saw at one time is shown once.
      let told = traffic.last?.time ?? .min
      traffic += part.history.traffic.filter { $0.time > told }
      names.merge(part.history.names) { $1 }
      for author in part.history.authors {
        let other = authors[author.incarnation]
        if author.sequence >= other?.sequence ?? 0 || other?.record.isEmpty == true {
          authors[author.incarnation] = author
        }
      }
    }
    return try Recording(
      DocumentHistory(
        board: first.history.board,
        name: first.history.name,
        steps: steps,
        marks: marks,
        authors: authors.keys.sorted().compactMap { authors[$0] },
        damages: damages,
        names: names,
        traffic: traffic,
        end: parts.compactMap(\.history.end).max()
      )
    )
  }

  /// The same changes by nobody in particular: without keys and signatures, on another board, at another time,
  /// with other names in the chat and, where that is asked for, other words.
  ///
  /// Who has the original finds out who is who. What a game's moves count for is lost with their authors.
  ///
  /// - Parameters:
  ///   - seed: From which ids are drawn.
  ///   - hidesWords: Whether letters and digits of texts become `x`.
  /// - Returns: The same, without people.
  /// - Throws: `wrongKind` where somebody owns the board, since then it hangs on keys what counts.
  /// - Complexity: O(n).
  public func anonymized(seed: UInt64, hidesWords: Bool) throws(DocumentError) -> Recording {
    guard !board.isOwned else {
      throw DocumentError(
        .wrongKind,
        "somebody owns this board: without keys nothing says who may write on it"
      )
    }
    var random = SplitMix64(seed: seed)
    var id = (0..<BoardID.byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    // No owned board begins so.
    id[0] = 0
    let salt = random.next()
    // The first of January 2000: clocks in it go as they went.
    let shift = min(max(946_684_800_000, start ?? 0), 1 << 46) - 946_684_800_000
    var mask = AnonymousValues(salt: salt, hidesWords: hidesWords, shift: UInt64(shift))
    var playback = Playback(self, spacing: .max)
    var steps: [DocumentHistory.Step] = []
    for (place, step) in history.steps.enumerated() {
      playback.step()
      let content: DocumentHistory.Step.Content
      if case .batch(let bytes) = step.content, let found = try? EncodedBatch(decoding: bytes),
        let batch = try? Batch(
          author: found.batch.author,
          firstSequence: found.batch.firstSequence,
          time: mask.time(found.batch.time),
          operations: found.batch.operations.map { operation in
            Operation(
              operation.object,
              operation.property,
              mask.value(operation.property, operation.value)
            )
          }
        )
      {
        content = .batch(EncodedBatch(batch).bytes)
      } else if playback.faults.last?.place == place {
        // What could not be applied may say anything.
        continue
      } else {
        content = .keyframe(playback.board.keyframe { (mask.value($0, $1), mask.time($2)) })
      }
      steps.append(DocumentHistory.Step(content, time: step.time &- shift, row: step.row))
    }
    // What a place was called may say anything.
    let marks = history.marks.enumerated().map { number, mark in
      DocumentHistory.Mark(
        name: mark.name.map { _ in "mark \(number + 1)" },
        time: mark.time &- shift,
        until: mark.until &- shift,
        place: mark.place
      )
    }
    return try Recording(
      DocumentHistory(
        board: id,
        name: "board",
        steps: steps,
        marks: steps.count == history.steps.count ? marks : [],
        end: history.end.map { $0 &- shift }
      )
    )
  }
}

/// Values that do not tell who somebody is.
private struct AnonymousValues {
  let salt: UInt64
  let hidesWords: Bool
  /// How much earlier everything was, in milliseconds.
  let shift: UInt64
  private var numbers: [[UInt8]: Int] = [:]

  init(salt: UInt64, hidesWords: Bool, shift: UInt64) {
    self.salt = salt
    self.hidesWords = hidesWords
    self.shift = shift
  }

  /// What stands where a time was.
  func time(_ time: HybridTime) -> HybridTime {
    let early = shift << 16
    return HybridTime(time.rawValue > early ? time.rawValue - early : 0)
  }

  /// What stands where a property had a value.
  mutating func value(_ property: Property, _ value: Value) -> Value {
    switch (property, value) {
    case (.chatAuthor, .bytes(let bytes)), (.selection, .bytes(let bytes)):
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

  private mutating func number(of bytes: [UInt8]) -> Int {
    if let number = numbers[bytes] { return number }
    numbers[bytes] = numbers.count + 1
    return numbers.count
  }

  /// As many scalars as before: what others did to a text hangs on their number.
  private func hidden(_ text: String) -> String {
    guard hidesWords else { return text }
    var hidden = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      hidden.append(scalar.properties.isWhitespace || scalar == "\n" ? scalar : "x")
    }
    return String(hidden)
  }
}
