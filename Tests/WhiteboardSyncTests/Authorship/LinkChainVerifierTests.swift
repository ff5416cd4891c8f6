import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct LinkChainVerifierTests {
  private let author = Author(board: World.board, key: SimulatedKey(1))

  /// Introduces an incarnation at the start of its chain; returns the error code, or nil.
  private func introduce(_ incarnation: Incarnation, on link: inout LinkChainVerifier) -> String? {
    do throws(ReplicaError) {
      let head = author.sign(BatchChain(incarnation))
      try link.introduce(author.record(of: incarnation), head)
      return nil
    } catch { return error.code }
  }

  @Test("[AUT-5] a link has a limit of incarnations; each can be introduced any number of times") func limit() {
    var link = LinkChainVerifier(limit: 3)
    let incarnations = (0..<4).map { _ in author.makeIncarnation() }
    for incarnation in incarnations.prefix(3) { #expect(introduce(incarnation, on: &link) == nil) }
    for incarnation in incarnations.prefix(3) { #expect(introduce(incarnation, on: &link) == nil) }
    #expect(introduce(incarnations[3], on: &link) == "limit")
  }

  @Test("[AUT-7] a head that its author signed, but of other batches than those of the link, is refused")
  func otherBatches() throws {
    var link = LinkChainVerifier(limit: 3)
    let incarnation = author.makeIncarnation()
    #expect(introduce(incarnation, on: &link) == nil)
    try link.check(author.sign(BatchChain(incarnation)), with: SimulatedVerifier())
    let other = BatchChain(incarnation, sequence: 0, hash: .sha256([1]))
    #expect(throws: ReplicaError.brokenChain) { try link.check(author.sign(other), with: SimulatedVerifier()) }
  }
}
