import Whiteboard
import WhiteboardSync

/// The SplitMix64 generator, so that every run has the same work.
struct Generator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}

/// The measured work: four replicas, 10,000 objects of 8 properties, then 200,000 position updates.
///
/// `Others/crdts.py` does the same with pycrdt and loro.
struct Work {
  static let replicas = 4
  static let objectsEach = 2500
  static let properties = 8
  static let updates = 200_000
  static let side = 64_000
  static let epoch: UInt64 = 1_700_000_000_000

  let authors = (0..<replicas).map { Incarnation(0x9E37_79B9_7F4A_7C15 &* UInt64($0 + 1)) }
  private(set) var objects: [ObjectID] = []
  private(set) var creation: [Batch] = []

  init() throws {
    var random = Generator(seed: 1)
    for number in 0..<Self.objectsEach {
      for author in authors {
        let first = UInt64(number * Self.properties + 1)
        let id = ObjectID(Dot(author, first))
        objects.append(id)
        creation.append(
          try Batch(
            author: author,
            firstSequence: first,
            time: Self.time(milliseconds: UInt64(number) * 20),
            operations: [
              Operation(id, .kind, .unsigned(1)), Operation(id, .position, Self.place(&random)),
              Operation(id, .size, .pair(12_800, 3200)), Operation(id, .scale, .unsigned(65_536)),
              Operation(id, .angle, .unsigned(UInt64(random.below(4096)))),
              Operation(id, .zIndex, .bytes([0x80, UInt8(number >> 8), UInt8(number & 255)])),
              Operation(id, .color, .unsigned(UInt64(random.below(1 << 24)) << 8 | 0xFF)),
              Operation(id, .lineWidth, .unsigned(320)),
            ]
          )
        )
      }
    }
  }

  static func time(milliseconds: UInt64) -> HybridTime { HybridTime((epoch + milliseconds) << 16) }

  private static func place(_ random: inout Generator) -> Value {
    .pair(Int32(random.below(side)), Int32(random.below(side)))
  }

  /// Returns updates that move random objects to random positions, in batches of `size` by the replicas in turn.
  func updates(batchedBy size: Int) throws -> [Batch] {
    var random = Generator(seed: 2)
    return try batches(of: size) { (_, size) in
      var chosen: Set<ObjectID> = []
      while chosen.count < size { chosen.insert(objects[random.below(objects.count)]) }
      // Replicas commit in ascending order, because that takes fewer bytes.
      return chosen.sorted { ($0.dot.sequence, $0.dot.incarnation) < ($1.dot.sequence, $1.dot.incarnation) }.map {
        Operation($0, .position, Self.place(&random))
      }
    }
  }

  /// Returns updates that drag the objects of each row a little further each time, in batches of `size`.
  func drags(batchedBy size: Int) throws -> [Batch] {
    var random = Generator(seed: 3)
    return try batches(of: size) { (number, size) in
      let author = authors[number % Self.replicas]
      let row = number / Self.replicas / 20 * size % (Self.objectsEach - size)
      let step = number / Self.replicas % 20
      return (0..<size).map { place in
        Operation(
          ObjectID(Dot(author, UInt64((row + place) * Self.properties + 1))),
          .position,
          .pair(Int32(6400 + place * 640 + step * 90), Int32(9600 + step * 40 + random.below(64)))
        )
      }
    }
  }

  private func batches(of size: Int, _ operations: (_ number: Int, _ size: Int) -> [Operation]) throws -> [Batch] {
    var next = [UInt64](repeating: UInt64(Self.objectsEach * Self.properties + 1), count: Self.replicas)
    return try (0..<(Self.updates / size)).map { number in
      let replica = number % Self.replicas
      defer { next[replica] += UInt64(size) }
      return try Batch(
        author: authors[replica],
        firstSequence: next[replica],
        time: Self.time(milliseconds: 100_000 + UInt64(number * (size == 1 ? 1 : 4))),
        operations: operations(number, size)
      )
    }
  }

  /// Returns the board after all objects were created.
  func board() throws -> BoardState {
    var state = BoardState()
    var changes = ChangeLog()
    for batch in creation { try state.apply(batch, changes: &changes) }
    return state
  }
}
