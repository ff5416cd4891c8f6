import Whiteboard

extension RecordingReplay {
  /// Searches for the smallest set of batches in a part with which a replay still fails.
  ///
  /// It removes runs of batches by delta debugging (Zeller and Hildebrandt, 2002).
  ///
  /// - Parameters:
  ///   - index: The index of the part.
  ///   - limit: The maximum number of attempts.
  ///   - fails: A closure that returns whether a replay fails. It must always return the same result for the same
  ///     replay.
  /// - Returns: The smallest replay, with one part, and the number of attempts; `nil` if even a replay without batches
  ///   fails.
  public func shrunk(part index: Int, attempts limit: Int = 1000, _ fails: (RecordingReplay) throws -> Bool) rethrows
    -> (smallest: RecordingReplay, attempts: Int)?
  {
    let nothing = [Bool](repeating: false, count: parts[index].acts.count)
    guard try !fails(keeping(nothing, ofPart: index)) else { return nil }
    var kept = [Bool](repeating: true, count: parts[index].acts.count)
    var smallest = keeping(kept, ofPart: index)
    var attempts = 1
    var pieces = 2
    while attempts < limit {
      let left = kept.indices.filter { kept[$0] }
      guard left.count > 1 else { break }
      pieces = min(pieces, left.count)
      var hasShrunk = false
      for piece in 0..<pieces where attempts < limit {
        var fewer = kept
        for place in left[(left.count * piece / pieces)..<(left.count * (piece + 1) / pieces)] { fewer[place] = false }
        let candidate = keeping(fewer, ofPart: index)
        attempts += 1
        guard try fails(candidate) else { continue }
        (kept, smallest, hasShrunk) = (candidate.kept(of: fewer, part: parts[index]), candidate, true)
        break
      }
      if hasShrunk {
        pieces = max(2, pieces - 1)
      } else {
        guard pieces < left.count else { break }
        pieces *= 2
      }
    }
    return (smallest, attempts)
  }

  /// Returns which batches of `part` this replay contains.
  ///
  /// The replay may contain fewer batches than were requested.
  private func kept(of wanted: [Bool], part: Part) -> [Bool] {
    var left = Set(parts[0].acts)
    return zip(part.acts, wanted).map { act, isWanted in isWanted && left.remove(act) != nil }
  }
}
