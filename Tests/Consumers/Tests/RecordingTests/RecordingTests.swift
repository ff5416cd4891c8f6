import SessionReplay
import Testing
import WhiteboardKit

@Test("the recording of a board gives the same board, in any order of its changes") func recording() async throws {
  let home = "/tmp/recording-\(UInt64.random(in: 0...UInt64.max))"
  let (file, digest) = try await Boards.with(identity: .ephemeral(), name: "Ada", directory: home) {
    let board = try await $0.host("notes", admitting: .anyone)
    for x in 1...9 { try await board.add(.text("note", at: .init(x: Double(x), y: 0))) }
    try await board.undo()
    return (await board.file, await board.digest)
  }
  let recording = try await Recording.open(#require(file))
  let check = await Verification(of: recording, seed: 1)
  #expect(check.isGood && check.digest.hex == digest)
}
