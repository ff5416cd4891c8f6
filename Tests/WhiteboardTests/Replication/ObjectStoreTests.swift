import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct ObjectStoreTests {
  /// Compares the totals, the lists and the orphans with a count of all objects.
  private func check(_ store: ObjectStore) {
    #expect(store.cellCount == store.records.reduce(0) { $0 + $1.count })
    #expect(store.valueBytes == store.records.reduce(0) { $0 + $1.valueBytes })
    let orphans = zip(store.ids, store.records).filter { $0.1[.kind] == nil }.map(\.0)
    #expect(store.orphans == Set(orphans))
    #expect(store.shownCount == store.records.count(where: \.isShown))
    for (list, isListed) in [
      (ObjectStore.everyChatLine, { $0.kind == .chat }), (ObjectStore.everyPhoto, { $0.kind == .photo }),
      (ObjectStore.everyDeletion, { $0.kind != nil && $0.isDeleted }),
      (ObjectStore.everySelection, { $0.kind != nil && $0.selection != nil }),
    ] as [(ObjectID, (ObjectRecord) -> Bool)] {
      let listed = zip(store.ids, store.records).filter { isListed($0.1) }.map(\.0)
      #expect(store.lists.members(of: list) == listed.sorted())
    }
    for (index, id) in store.ids.enumerated() { #expect(store.index(of: id) == index) }
  }

  private func cell(_ random: inout SeededGenerator, _ sequence: UInt64) -> Cell {
    Cell(value: .unsigned(random.next() % 5), time: HybridTime(random.next() % 50), dot: Dot(Incarnation(1), sequence))
  }

  @Test("the totals agree with the cells, and a gesture's edits can be restored", arguments: 1...20) func totals(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var store = ObjectStore()
    var changes = ChangeLog()
    let properties: [Property] = [.kind, .color, .scale, .selection, .deleted]
    for sequence in 1...UInt64(400) {
      let id = ObjectID(Dot(Incarnation(2), 1 + random.next() % 12))
      let property = properties[Int(random.next() % 5)]
      switch random.next() % 8 {
      case 0: store.remove(id, changes: &changes)
      case 1:
        _ = store.removeCells(changes: &changes) { object, entry in object == id && entry.property == property }
        store.removeEmpty(changes: &changes)
      case 2:
        let before = store
        let stored = store.stored(id)
        store.overwrite(property, of: id, with: cell(&random, sequence))
        check(store)
        store.restore(stored, as: id)
        #expect(Set(store.ids) == Set(before.ids))
        #expect(store.record(id)?.entries == before.record(id)?.entries)
      default:
        let known = store.index(of: id)
        let cell = cell(&random, sequence)
        _ = store.write(cell, at: property, of: id, at: known, changes: &changes)
      }
      check(store)
    }
    #expect(!store.ids.isEmpty && !changes.isEmpty)
  }

  @Test("a piecewise array has the elements of an array, and copies do not change") func pieces() {
    var random = SeededGenerator(seed: 1)
    var (array, pieces) = ([Int](), PiecewiseArray<Int>())
    for step in 0..<3000 {
      switch random.next() % 4 {
      case 0 where !array.isEmpty:
        let index = Int(random.next() % UInt64(array.count))
        for change in [0, 1] {
          let copy = pieces
          if change == 0 {
            array[index] = step
            pieces[index] = step
            #expect(copy[index] != step)
          } else {
            array.swapAt(index, array.count - 1)
            array.removeLast()
            pieces.swapAt(index, pieces.count - 1)
            pieces.removeLast()
            #expect(copy.count == array.count + 1)
          }
        }
      default:
        array.append(-step)
        pieces.append(-step)
      }
      if step % 97 == 0 { #expect(Array(pieces) == array) }
    }
    #expect(Array(pieces) == array && pieces.count > 512)
    while !array.isEmpty {
      array.removeLast()
      pieces.removeLast()
    }
    #expect(pieces.isEmpty)
  }
}
