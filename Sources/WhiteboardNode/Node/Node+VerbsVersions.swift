import Whiteboard

/// The verbs about versions of the board.
extension Node {
  /// Has the verbs about versions ask here.
  func keep(in versions: any BoardVersions) {
    self.versions = versions
  }

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
    case .diff(let from, let to):
      try await tellDifference(from, to, versions, request)
    case .saveAs(let file):
      try await versions.save(as: file)
    default:
      preconditionFailure("\(request.verb.name.rawValue) is about no versions")
    }
  }

  /// Makes the board what it was at a checkpoint.
  func restore(_ name: String) async throws(VerbError) -> VerbOutcome {
    let earlier = try await kept().state(at: name)
    let outcome = try onWholeBoard { (board) throws(BoardError) in try board.restore(earlier) }
    let touched = outcome.changed + outcome.deleted + outcome.replaced.values
    return VerbOutcome(ids: touched.sorted())
  }

  private func tellDifference(
    _ from: String,
    _ to: String?,
    _ versions: any BoardVersions,
    _ request: VerbRequest
  ) async throws(VerbError) {
    let earlier = try await versions.state(at: from)
    let later: BoardState
    if let to {
      later = try await versions.state(at: to)
    } else {
      guard let replica else { throw VerbError(.ending, "the board is closed") }
      later = replica.board.state
    }
    let changes = BoardDiff.between(earlier, later).changes.compactMap { JSONValue($0.json) }
    emit(
      .diff(
        .init(
          from: from,
          to: to,
          count: changes.count,
          changes: changes,
          request: request.request
        )
      )
    )
  }

  /// Where the board is kept.
  ///
  /// - Throws: `refused` where it is not.
  private func kept() throws(VerbError) -> any BoardVersions {
    guard let versions else { throw VerbError(.refused, "this board is not kept on disk") }
    return versions
  }
}
