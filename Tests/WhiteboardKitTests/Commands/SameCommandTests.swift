import CommandLines
import Foundation
import Testing
import WhiteboardRendering

@testable import WhiteboardKit

/// Checks that keys and mouse, a script and a program give the same board.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SameCommandTests: BoardSuite {
  struct Action: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// The terminal input, with ^ for Escape.
    let keys: String
    let script: [String]
    let program: [String]
    /// The number of objects after the action.
    var count = 1

    init(_ name: String, _ keys: String, _ script: [String], _ program: [String], count: Int = 1) {
      testDescription = name
      (self.keys, self.script, self.program, self.count) = (keys, script, program, count)
    }
  }

  // The board has 74 columns of 8 units and 21 rows of 16 units; cell 38, 13 is at point 4, 0.
  private static let line = "'l^[<0;38;13M^[<32;42;15M^[<0;42;15m"
  private static let lineScript = "line 4,0 36,32 width=5"
  private static let lineProgram = #"{"verb":"line","points":[[4,0],[36,32]],"width":5}"#

  private static func withLine(_ name: String, _ keys: String, _ script: String..., program: String..., count: Int = 1)
    -> Action
  {
    Action(
      name,
      line + "\t" + keys,
      [lineScript, "select last"] + script,
      [lineProgram, #"{"verb":"select","id":"last"}"#] + program,
      count: count
    )
  }

  static let actions: [Action] = [
    Action("a line", line, [lineScript], [lineProgram]),
    Action(
      "a stroke, point by point",
      "2}^[<0;38;13M^[<32;40;13M^[<32;42;15M^[<0;42;15m",
      ["stroke 4,0 20,0 36,32 color=#56b4e9 width=8"],
      [##"{"verb":"stroke","points":[[4,0],[20,0],[36,32]],"color":"#56b4e9","width":8}"##]
    ),
    Action(
      "a stroke with the keyboard pen",
      "^[<35;38;13M; ^[1;5C^[1;5C^[1;5B ;",
      ["pen 4,0 width=5", "pen 12,0 20,0 20,16", "lift"],
      [
        #"{"verb":"pen","points":[[4,0]],"width":5}"#, #"{"verb":"pen","points":[[12,0],[20,0],[20,16]]}"#,
        #"{"verb":"lift"}"#,
      ]
    ),
    Action(
      "a rectangle",
      "r^[<0;38;13M^[<32;42;15M^[<0;42;15m",
      ["rect 20,16 size=32,32 width=5"],
      [#"{"verb":"rect","at":[20,16],"size":[32,32],"width":5}"#]
    ),
    Action(
      "a text, typed letter by letter, with a mistake",
      "6t^[<0;38;13M^[<0;38;13mhellp\u{7F}o \"漢\"^[D^[D^[D^[D,\r",
      [#"text 0,-8 "hello, \"漢\"" from=corner color=#e8601c"#],
      [##"{"verb":"text","at":[0,-8],"text":"hello, \"漢\"","from":"corner","color":"#e8601c"}"##]
    ),
    Action(
      "a text of two lines, pasted",
      "^[200~two\nlines^[201~",
      [#"text 0,0 "two\nlines""#],
      [#"{"verb":"text","at":[0,0],"text":"two\nlines"}"#]
    ),
    Action(
      "words typed into a text",
      "^[200~ab^[201~v\t\rc^[H^[3~\r",
      ["text 0,0 ab", "insert last 2 c", "insert last 0 \"\" replacing=1"],
      [
        #"{"verb":"text","at":[0,0],"text":"ab"}"#, #"{"verb":"insert","id":"last","at":2,"text":"c"}"#,
        #"{"verb":"insert","id":"last","at":0,"text":"","replacing":1}"#,
      ]
    ),
    Action(
      "a text that becomes empty",
      "t^[<0;38;13M^[<0;38;13mx\u{7F}^",
      ["text 4,8 x", "delete last"],
      [#"{"verb":"text","at":[4,8],"text":"x"}"#, #"{"verb":"delete","id":"last"}"#],
      count: 0
    ),
    withLine(
      "moved by the mouse",
      "v^[<0;40;14M^[<32;42;15M^[<0;42;15m",
      "move selected +16,16",
      program: #"{"verb":"move","id":"selected","by":[16,16]}"#
    ),
    withLine(
      "moved by keys",
      "^[C^[1;5B",
      "move last +4,0",
      "move last +0,16",
      program: #"{"verb":"move","id":"last","by":[4,16]}"#
    ), withLine("rotated", "..,>", "rotate last 16", program: #"{"verb":"rotate","id":"selected","degrees":16}"#),
    withLine(
      "scaled",
      "SS",
      // Each step rounds the width of the line.
      "scale last 1.1 line=keep",
      "scale last 1.21 line=keep",
      program: #"{"verb":"scale","id":"last","factor":1.1,"line":"keep"}"#,
      #"{"verb":"scale","id":"last","factor":1.21,"line":"keep"}"#
    ),
    withLine(
      "another color and width",
      "3}",
      "color selected #1fae84",
      "width selected 8",
      program: ##"{"verb":"color","id":"last","color":"#1fae84ff"}"##,
      #"{"verb":"width","id":"last","width":8}"#
    ), withLine("locked", "L", "lock selected", program: #"{"verb":"lock","id":"last"}"#),
    withLine(
      "unlocked",
      "LL",
      "lock selected",
      "unlock selected",
      program: #"{"verb":"lock","id":"last"}"#,
      #"{"verb":"unlock","id":"last"}"#
    ), withLine("duplicated", "d", "duplicate selected", program: #"{"verb":"duplicate","id":"last"}"#, count: 2),
    withLine("deleted", "x", "delete selected", program: #"{"verb":"delete","id":"last"}"#, count: 0),
    withLine(
      "deleted, restored and deleted again",
      "xuU",
      "delete selected",
      "undo",
      "redo",
      program: #"{"verb":"delete","id":"last"}"#,
      #"{"verb":"undo"}"#,
      #"{"verb":"redo"}"#,
      count: 0
    ),
    withLine(
      "erased",
      "e^[<0;40;14M^[<0;40;14m",
      "erase 20,16 radius=8",
      program: #"{"verb":"erase","points":[[20,16]],"radius":8}"#,
      count: 0
    ),
    withLine(
      "deleted with the object eraser",
      "E^[<0;40;14M^[<0;40;14m",
      "delete last",
      program: #"{"verb":"delete","id":"last"}"#,
      count: 0
    ),
    Action(
      "objects, grouped, ungrouped and grouped again, moved to the back and the front",
      line + "^[200~text^[201~\u{1}gGg[]",
      [
        lineScript + " as=line", "text 36,32 text as=text", "group line text as=group", "ungroup group",
        "group line text", "order line text back", "order line text front",
      ],
      [
        lineProgram.dropLast() + #","as":"line"}"#, #"{"verb":"text","at":[36,32],"text":"text","as":"text"}"#,
        #"{"verb":"group","ids":["line","text"],"as":"group"}"#, #"{"verb":"ungroup","id":"group"}"#,
        #"{"verb":"group","ids":["line","text"]}"#, #"{"verb":"order","ids":["line","text"],"place":"back"}"#,
        #"{"verb":"order","ids":["line","text"],"place":"front"}"#,
      ],
      count: 2
    ),
    Action(
      "a chat line",
      "chi \\ \"there\"\r",
      [#"say "hi \\ \"there\"""#],
      [#"{"verb":"say","text":"hi \\ \"there\""}"#],
      count: 0
    ),
    Action(
      "a game with a move",
      ":game connect-four 0,0\rW4\r",
      ["game connect-four 0,0", "play last 4"],
      [#"{"verb":"game","game":"connect-four","at":[0,0]}"#, #"{"verb":"play","id":"last","move":"4"}"#]
    ),
    Action(
      "commands in the prompt",
      ":text 5,6 words color=#102030\r:set title Plans\r:edit last others\r",
      ["text 5,6 words color=#102030", "set title Plans", "edit last others"],
      [
        ##"{"verb":"text","at":[5,6],"text":"words","color":"#102030"}"##, #"{"verb":"set","title":"Plans"}"#,
        #"{"verb":"edit","id":"last","text":"others"}"#,
      ]
    ),
  ]

  /// Returns the objects of a board, without the values that differ on every board.
  private func content(_ objects: [ReportedObject]) -> [String] {
    var names: [String: String] = [:]
    for (index, object) in objects.enumerated() { names[object.snapshot.id.description] = "object \(index)" }
    return objects.map { object in
      var line = String(
        decoding: EventLine.json(.answer(.object(ReportedObject(object.snapshot)))),
        as: UTF8.self
      )
      for group in object.snapshot.groups where names[group.description] == nil {
        names[group.description] = "group \(names.count)"
      }
      for (id, name) in names { line = line.replacing("\"\(id)\"", with: "\"\(name)\"") }
      line.replace(/,"(updatedAt|zIndex|selectedBy|path)":"[^"]*"/, with: "")
      // The key of a player is different on every board.
      let game = object.game?.lines.map(\.raw).joined(separator: "\n").replacing(/\([a-z2-7]{8}\)/, with: "(key)")
      return "\(line) \(game ?? "")"
    }
  }

  private func outcome(of action: @Sendable (Hand) async -> Void) async throws -> (
    content: [String], chat: [String], errors: [String]
  ) {
    var outcome: (content: [String], chat: [String], errors: [String])?
    try await withRoom { room in
      let hand = Hand()
      var hosting = await room.configuration(.host(boardName: "board"), "ada")
      hosting.remembersBoards = false
      let configuration = hosting
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await hand.run(configuration) }
        await action(hand)
        outcome = (content(await hand.look()), await hand.chat, await hand.errors)
        await hand.end()
        try await group.waitForAll()
      }
    }
    return try #require(outcome)
  }

  @Test("keys, a script and a program create the same board", arguments: actions) func same(action: Action) async throws
  {
    let byKeys = try await outcome { await $0.type(action.keys) }
    let byScript = try await outcome { for line in action.script { await $0.write(line) } }
    let byProgram = try await outcome { for line in action.program { await $0.write(line) } }
    #expect(byKeys.content.count == action.count)
    #expect(byKeys.errors == [] && byScript.errors == [] && byProgram.errors == [])
    #expect(byKeys.content == byScript.content)
    #expect(byProgram.content == byScript.content)
    #expect(byKeys.chat == byScript.chat && byProgram.chat == byScript.chat)
  }

  @Test("a photo is the same, dropped on the terminal or named in a command") func photo() async throws {
    try await withRoom { room in
      let file = room.path("photo of one dot.png")
      let png = [UInt8](
        try #require(
          Data(
            base64Encoded:
              "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
          )
        )
      )
      try Data(png).write(to: URL(fileURLWithPath: file))
      let dropped = try await outcome { await $0.type("^[200~'\(file)'^[201~") }
      let asked = try await outcome { await $0.type("I\(file)\r") }
      let script = try await outcome { await $0.write("photo 0,0 \"\(file)\"") }
      let program = try await outcome { await $0.write(#"{"verb":"photo","at":[0,0],"file":"\#(file)"}"#) }
      #expect(dropped.errors == [] && dropped.content.count == 1)
      #expect(dropped.content == script.content)
      #expect(asked.content == script.content)
      #expect(program.content == script.content)
    }
  }
}
