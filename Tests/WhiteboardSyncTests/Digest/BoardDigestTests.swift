import BoardWorlds
import PeerCore
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct BoardDigestTests {
  @Test("[SYN-40] the digest of a large board is the hash of all its cells", arguments: 1...3) func large(seed: UInt64)
    throws
  {
    let world = World(seed: seed, nodes: 1, weather: World.Weather(failures: 0, loss: 0, cuts: 0, crashes: 0, skew: 0))
    let replica = world.nodes[0].replica
    for _ in 0..<50 { world.edit(0) }
    for number in 0..<500 {
      _ = try replica.change(now: world.now(0)) { try $0.createText("text \(number)", at: Point(x: 0, y: 0)) }
    }
    let state = replica.board.state
    var input = Array("whiteboard-digest-1\n".utf8)
    for id in state.records.keys.sorted() {
      guard let record = state.record(id), record.kind != nil, !record.isDeleted else { continue }
      input += BoardDigest.encode(id, record)
    }
    #expect(input.count > 100_000)
    #expect(BoardDigest.digest(of: state) == Bytes32.sha256(input))
  }
}
