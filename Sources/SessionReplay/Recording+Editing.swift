import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Operations that create recordings from other recordings.
extension Recording {
  /// Returns a part of the recording.
  ///
  /// The result begins with the state of the board at the start of the part.
  ///
  /// - Parameter range: The first and the last time of the part, in milliseconds from the beginning.
  /// - Returns: The part.
  /// - Throws: `damaged` if the id of the board is invalid.
  /// - Complexity: O(n).
  public func cut(_ range: ClosedRange<Int64>) throws(DocumentError) -> Recording {
    let first = range.lowerBound <= 0 ? 0 : place(at: range.lowerBound - 1)
    let last = max(first, place(at: range.upperBound))
    var playback = Playback(self, spacing: .max)
    playback.seek(toPlace: first)
    var steps: [DocumentHistory.Step] = []
    let begin = (start ?? 0) &+ range.lowerBound
    if first > 0 { steps.append(DocumentHistory.Step(.keyframe(playback.board.keyframe), time: begin, row: 0)) }
    let shift = first - steps.count
    steps += history.steps[first..<last]
    let inside = history.marks.filter { $0.place > first && $0.place <= last }
    return try Recording(
      DocumentHistory(
        board: history.board,
        name: history.name,
        steps: steps,
        checks: history.checks.filter { $0.place > first && $0.place <= last }.map { check in
          DocumentHistory.Check(place: check.place - shift, time: check.time, name: check.name, digest: check.digest)
        },
        marks: inside.map { mark in
          DocumentHistory.Mark(name: mark.name, time: mark.time, until: mark.until, place: mark.place - shift)
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

  /// Joins recordings of one board, in the order in which they began.
  ///
  /// A batch that is already in an earlier recording is not repeated. Several recordings of one session thus become one
  /// recording with every batch.
  ///
  /// - Throws: `wrongBoard` if the recordings are of different boards; `notFound` if `parts` is empty.
  /// - Complexity: O(n).
  public static func concatenated(_ parts: [Recording]) throws(DocumentError) -> Recording {
    let parts = parts.enumerated().sorted { one, other in
      (one.element.start ?? .max, one.offset) < (other.element.start ?? .max, other.offset)
    }.map(\.element)
    guard let first = parts.first else { throw DocumentError(.notFound, "there are no recordings to join") }
    guard parts.allSatisfy({ $0.board == first.board }) else {
      throw DocumentError(
        .wrongBoard,
        "the recordings are of different boards; only recordings of one board can be joined"
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
      // The element at index n is the number of joined steps after n steps of this part.
      var places = [steps.count]
      for step in part.history.steps {
        if known.insert(step.content).inserted { steps.append(step) }
        places.append(steps.count)
      }
      // The joined board may contain more changes than the board of this part, so the part's digests no longer apply. A
      // named version becomes a marker.
      let versions = part.history.checks.filter { $0.name != nil }.map { check in
        DocumentHistory.Mark(name: check.name, time: check.time, until: check.time, place: check.place)
      }
      marks += (part.history.marks + versions).sorted { $0.place < $1.place }.map { mark in
        DocumentHistory.Mark(name: mark.name, time: mark.time, until: mark.until, place: places[mark.place])
      }
      damages += part.history.damages.map { damage in
        DocumentHistory.Damage(place: places[damage.place], words: damage.words)
      }
      // Traffic that several recorders recorded at the same time is included only once.
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
}
