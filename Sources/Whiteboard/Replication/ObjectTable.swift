/// Finds the place of an object by its id: an open hash table of places, beside the ids in an array.
///
/// Ids come from others, who could choose many that fall on one place. So the hash has a seed that
/// they do not know, another in each run of the program; nothing that leaves a board depends on it.
struct ObjectTable: Sendable {
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  /// 0 for a free place, else 1 + the place in the array; twice as many as there are ids, at least.
  private var places: [UInt32] = []

  /// The place of an id among `ids`, or nil.
  func find(_ id: ObjectID, in ids: [ObjectID]) -> Int? {
    guard !places.isEmpty else { return nil }
    let mask = places.count - 1
    var probe = hash(id) & mask
    while true {
      let place = Int(places[probe])
      guard place > 0 else { return nil }
      if ids[place - 1] == id { return place - 1 }
      probe = (probe + 1) & mask
    }
  }

  /// Makes room for as many ids, where there is none yet.
  mutating func reserve(_ count: Int) {
    guard places.isEmpty, count > 0 else { return }
    var size = 16
    while size < count * 2 { size *= 2 }
    places = Array(repeating: 0, count: size)
  }

  /// Adds the last id of `ids`, which is new.
  mutating func appended(to ids: [ObjectID]) {
    if ids.count * 2 > places.count {
      places = Array(repeating: 0, count: max(16, places.count * 2))
      for place in ids.indices { add(place, ids) }
    } else {
      add(ids.count - 1, ids)
    }
  }

  private mutating func add(_ place: Int, _ ids: [ObjectID]) {
    let mask = places.count - 1
    var probe = hash(ids[place]) & mask
    while places[probe] != 0 { probe = (probe + 1) & mask }
    places[probe] = UInt32(place + 1)
  }

  /// Forgets the id at a place of `ids`, whose last one moves there; tell before that is done.
  mutating func willSwapRemove(_ place: Int, of ids: [ObjectID]) {
    let mask = places.count - 1
    var hole = probe(of: place, ids, mask)
    var next = (hole + 1) & mask
    // What was pushed on by the one that goes moves back, so that searches may end at a free place.
    while places[next] != 0 {
      let home = hash(ids[Int(places[next]) - 1]) & mask
      if (next - home) & mask >= (next - hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    places[hole] = 0
    if place != ids.count - 1 {
      places[probe(of: ids.count - 1, ids, mask)] = UInt32(place + 1)
    }
  }

  /// Where the table says `place`, on the way that the id of that place takes.
  private func probe(of place: Int, _ ids: [ObjectID], _ mask: Int) -> Int {
    var probe = hash(ids[place]) & mask
    while places[probe] != UInt32(place + 1) { probe = (probe + 1) & mask }
    return probe
  }

  private func hash(_ id: ObjectID) -> Int {
    let mixed = BucketHash.mix(id.dot.incarnation.rawValue ^ BucketHash.mix(id.dot.sequence ^ seed))
    return Int(truncatingIfNeeded: mixed)
  }
}
