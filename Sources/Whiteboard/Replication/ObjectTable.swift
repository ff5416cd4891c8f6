/// An open-addressing hash table that finds the index of an object in an array of ids.
///
/// Peers choose ids and could choose many with the same hash. The hash therefore has a secret seed that differs in each
/// run of the program. The seed does not affect anything that leaves the board.
struct ObjectTable: Sendable {
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  /// A slot is 0 if it is free; otherwise, it is the index in the array plus 1.
  ///
  /// At least half of the slots are free.
  private var places: [UInt32] = []

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

  /// Reserves space for `count` ids if the table is empty.
  mutating func reserve(_ count: Int) {
    guard places.isEmpty, count > 0 else { return }
    var size = 16
    while size < count * 2 { size *= 2 }
    places = Array(repeating: 0, count: size)
  }

  /// Adds the last id of `ids`.
  ///
  /// The id must be new.
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

  mutating func willSwapRemove(_ place: Int, of ids: [ObjectID]) {
    let mask = places.count - 1
    var hole = probe(of: place, ids, mask)
    var next = (hole + 1) & mask
    // Move back entries that were inserted past the removed entry, because a search ends at a free slot.
    while places[next] != 0 {
      let home = hash(ids[Int(places[next]) - 1]) & mask
      if (next - home) & mask >= (next - hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    places[hole] = 0
    if place != ids.count - 1 { places[probe(of: ids.count - 1, ids, mask)] = UInt32(place + 1) }
  }

  /// The search begins at the slot for the hash of the id at that index.
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
