import PeerSession
import Whiteboard

/// The authors of a board, with their names for commands and exported files.
struct Authors {
  let board: Board
  let members: Members
  let persistence: Persistence

  /// Returns the present or former member that a command argument names.
  ///
  /// - Parameters:
  ///   - word: An id prefix or a display name.
  ///   - others: Members that can be named even if they wrote nothing on this board.
  /// - Returns: The member.
  /// - Throws: ``CommandError`` if no member or more than one matches.
  func find(_ word: String, or others: Set<MemberID> = []) throws(CommandError) -> MemberID {
    var resolver = ReferenceResolver<MemberID>()
    // Members that wrote nothing are included, so that a name shared by two members is ambiguous.
    let present = members.ids.map { MemberID($0) }
    for member in Set(board.authors.values).union(others).union(present) {
      let name = members.name(of: member) ?? persistence.names[member.description]
      resolver.add(id: member.description, names: name.map { [$0] } ?? [], value: member)
    }
    return try resolver.find(word, what: "author", missing: .noSuchPeer)
  }

  /// The display names of the authors for board lists; an id prefix if no name is known.
  var listed: [String] {
    var names: [MemberID: String] = [:]
    for line in board.chat { names[line.author] = line.name }
    return Set(board.authors.values).sorted().map { member in
      (members.name(of: member) ?? persistence.names[member.description])?.raw ?? names[member] ?? member.shortText
    }
  }

  /// The known display names of the authors.
  var displayNames: [MemberID: String] {
    var names: [MemberID: String] = [:]
    for member in Set(board.authors.values) {
      let look = members.looks[PeerID(member)]
      names[member] = (look?.name ?? members.name(of: member))?.raw
    }
    return names
  }
}
