import Whiteboard

/// The verbs about versions of the board.
extension Node {
  /// Carries out a verb about versions that changes nothing on the board.
  func keep(_ request: VerbRequest) async throws(VerbError) {
    let versions = try kept()
    switch request.verb {
    case .checkpoint(let name):
      try await versions.checkpoint(name)
    case .checkpoints:
      let list = try await versions.checkpoints().map {
        NodeEvent.CheckpointDescription(
          name: $0.name,
          at: Timestamp.text(milliseconds: $0.madeAt)
        )
      }
      emit(.checkpoints(.init(count: list.count, checkpoints: list, request: request.request)))
    case .saveAs(let file):
      try await versions.save(as: file)
    default:
      throw VerbError(.refused, "this board does not do that yet")
    }
  }

  /// Where the board is kept.
  ///
  /// - Throws: `refused` where it is not.
  func kept() throws(VerbError) -> any BoardVersions {
    guard let versions else { throw VerbError(.refused, "this board is not kept on disk") }
    return versions
  }
}
