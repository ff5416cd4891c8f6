import PeerSession
import Whiteboard
import WhiteboardKit

/// Edits a board, prints the objects that others add, and leaves when a member writes "bye".
@main struct Bot {
  static func main() async throws {
    let (link, directory) = (CommandLine.arguments[1], CommandLine.arguments[2])
    let me = try PeerIdentity.loadOrCreate(inDirectory: directory)
    try await Boards.with(identity: me, name: "Bot", directory: directory) { boards in
      let board = try await boards.join(BoardLink(link))
      let changes = board.changes
      try await board.caughtUp()
      let note = try await board.add(.text("hello", at: Point(x: 10, y: 20)))
      try await board.edit { board in
        let object = try board[note]
        try object.select()
        try object.move(to: Point(x: 40, y: -30))
        try object.scale(to: 1.5)
        try object.rotate(to: .degrees(30))
        try object.deselect()
      }
      for await change in changes {
        switch change {
        case .added(let object, by: .other(let author)): print("\(author.name) added a \(object.kind)")
        case .chat(let line, by: .other) where line.text == "bye":
          try await board.synced()
          print(await board.digest)
          return
        default: break
        }
      }
    }
  }
}
