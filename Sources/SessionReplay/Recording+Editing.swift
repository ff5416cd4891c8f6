import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Recordings made of recordings.
extension Recording {
  /// A part of the recording, which begins with the board as it was then.
  ///
  /// - Parameter range: From when to when, in milliseconds from the beginning; both are in it.
  /// - Returns: The part.
  /// - Throws: `damaged` if the board's id is none.
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
  /// - Throws: `wrongBoard` if they are not of one board; `notFound` if there is none.
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
}
