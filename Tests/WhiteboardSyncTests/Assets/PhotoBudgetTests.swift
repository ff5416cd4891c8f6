import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite final class PhotoBudgetTests {
  private let anna = World(seed: 1, nodes: 1).nodes[0]
  private let log = ActionLog()
  private var bo = ScriptedReplica(9)
  private var cleo = ScriptedReplica(10)
  private var now = Moment(wall: 1_700_000_000_000, uptime: 2_000_000)

  /// Returns a reference to a photo of 32 MiB.
  private func photo(_ number: UInt8, bytes: Int = BoardLimits.photoBytes) throws -> AssetReference {
    let id = try #require(AssetID([UInt8](repeating: number, count: 32)))
    let header = try PhotoHeader(format: .jpeg, width: 100, height: 100)
    return try AssetReference(id: id, byteCount: bytes, header: header)
  }

  private func wait(_ milliseconds: UInt64) {
    now = Moment(wall: now.wall + milliseconds, uptime: now.uptime + milliseconds)
  }

  private func join(_ scriptedReplica: inout ScriptedReplica) {
    log += anna.replica.peerJoined(scriptedReplica.member, now: now)
    log += anna.replica.received(scriptedReplica.hello(), from: scriptedReplica.member, now: now)
    _ = log.take()
  }

  private func show(_ photo: AssetReference, by scriptedReplica: inout ScriptedReplica) throws -> [ReplicaAction] {
    let id = ObjectID(Dot(scriptedReplica.incarnation, scriptedReplica.chain.sequence + 1))
    let message = try scriptedReplica.send([
      Operation(id, .kind, .unsigned(3)), Operation(id, .position, .pair(0, 0)), Operation(id, .size, .pair(64, 64)),
      Operation(id, .asset, photo.value),
    ])
    log += anna.replica.received(message, from: scriptedReplica.member, now: now)
    return log.take()
  }

  /// Stores the bytes of a photo.
  private func store(_ photo: AssetReference) {
    log += anna.replica.assetStored(photo.id, bytes: photo.byteCount, now: now)
    _ = log.take()
  }

  private func isWanted(_ photo: AssetReference) -> Bool { anna.replica.photos.exchange.reference(of: photo.id) != nil }

  @Test("[BRD-38] photos of an author beyond 512 MiB are not requested, and one warning is emitted") func author()
    throws
  {
    join(&bo)
    join(&cleo)
    for number: UInt8 in 1...16 {
      #expect(!(try show(photo(number), by: &bo).contains(.photosLeftOut(bo.member))))
      #expect(isWanted(try photo(number)))
      store(try photo(number))
    }
    #expect(try show(photo(17), by: &bo).contains(.photosLeftOut(bo.member)))
    #expect(!isWanted(try photo(17)))
    #expect(!(try show(photo(18), by: &bo).contains(.photosLeftOut(bo.member))))
    // There is room for photos of others.
    _ = try show(photo(19), by: &cleo)
    #expect(isWanted(try photo(19)))
    // A photo that was wanted before is refused when it is offered now.
    #expect(anna.replica.hasRoom(forPhoto: try photo(19).id, bytes: BoardLimits.photoBytes))
    #expect(!anna.replica.hasRoom(forPhoto: try photo(17).id, bytes: 1))
  }

  @Test("[BRD-38] stated sizes do not use up the budget, whether they are too large or too small") func statedSizes()
    throws
  {
    join(&bo)
    join(&cleo)
    for number: UInt8 in 1...100 { _ = try show(photo(number), by: &bo) }
    _ = try show(photo(200), by: &cleo)
    #expect(isWanted(try photo(200)))
    // Stored photos count with their real size.
    for number: UInt8 in 1...16 {
      _ = try show(photo(100 + number, bytes: 1), by: &cleo)
      store(try photo(100 + number))
    }
    #expect(!anna.replica.hasRoom(forPhoto: try photo(200).id, bytes: 1))
  }

  @Test("[BRD-38] photos of a board beyond 2 GiB are not requested") func board() throws {
    var number: UInt8 = 0
    for author: UInt64 in 20..<24 {
      var scriptedReplica = ScriptedReplica(author)
      join(&scriptedReplica)
      for _ in 0..<16 {
        number += 1
        _ = try show(photo(number), by: &scriptedReplica)
        #expect(isWanted(try photo(number)))
        store(try photo(number))
      }
    }
    join(&bo)
    #expect(try show(photo(200), by: &bo).contains(.photosLeftOut(bo.member)))
  }

  @Test("[BRD-38] photos that were left out are requested when others were purged") func purged() throws {
    join(&bo)
    for number: UInt8 in 1...17 {
      _ = try show(photo(number), by: &bo)
      if number < 17 { store(try photo(number)) }
    }
    #expect(!isWanted(try photo(17)))
    let first = ObjectID(Dot(bo.incarnation, 1))
    log += try anna.replica.change(now: now) { board in
      try board.delete(first)
      try board.purge(first)
    }.actions
    _ = log.take()
    wait(5000)
    log += anna.replica.tick(now: now)
    #expect(isWanted(try photo(17)))
  }

  @Test("[BRD-16] a false statement about a photo does not block the true one") func falseProperties() throws {
    join(&bo)
    join(&cleo)
    let (lie, truth) = (try photo(1, bytes: 5), try photo(1, bytes: 1000))
    _ = try show(lie, by: &bo)
    _ = try show(truth, by: &cleo)
    #expect(anna.replica.expectedAsset(truth.id, from: bo.member) == [lie, truth])
  }

  @Test("[BRD-38] an author's own photos beyond 512 MiB are refused with an error") func own() throws {
    for number: UInt8 in 1...16 {
      let photo = try photo(number)
      try anna.replica.requireRoom(for: photo)
      log += try anna.replica.change(now: now) { board in _ = try board.createPhoto(photo, at: Point(x: 0, y: 0)) }
        .actions
    }
    #expect(throws: BoardError.photosUsed) { try anna.replica.requireRoom(for: photo(17)) }
    // The same photo again needs no room.
    #expect(throws: Never.self) { try anna.replica.requireRoom(for: photo(3)) }
  }
}
