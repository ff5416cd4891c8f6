/// The one table from which usage, help and the parsers' messages are made.
package enum VerbTable {
  /// What is known of one verb.
  package struct Entry: Sendable {
    /// The verb.
    package let name: VerbName
    /// How to write it, after its name.
    package let arguments: String
    /// What it does, in one line.
    package let summary: String
    /// The keys of its JSON form, besides `verb` and `request`.
    package let keys: [String]

    /// How to write the verb.
    package var usage: String {
      arguments.isEmpty ? name.rawValue : "\(name.rawValue) \(arguments)"
    }
  }

  /// What is known of a verb.
  package static func entry(_ name: VerbName) -> Entry {
    switch name {
    case .text:
      Entry(
        name: name,
        arguments: #"X,Y "WORDS" [as=ALIAS]"#,
        summary: "put a text on the board, its centre at X,Y",
        keys: ["at", "text", "as"]
      )
    case .stroke:
      Entry(
        name: name,
        arguments: "X,Y X,Y … [over=SECONDS] [as=ALIAS]",
        summary: "draw a line through the points, live over that time",
        keys: ["points", "over", "as"]
      )
    case .photo:
      Entry(
        name: name,
        arguments: "X,Y FILE [as=ALIAS]",
        summary: "put a photo on the board (JPEG or PNG)",
        keys: ["at", "file", "as"]
      )
    case .select:
      Entry(name: name, arguments: "ID", summary: "take an object in hand", keys: ["id"])
    case .deselect:
      Entry(name: name, arguments: "", summary: "let go of what is in hand", keys: [])
    case .move:
      Entry(
        name: name,
        arguments: "ID X,Y|+DX,DY",
        summary: "move an object to a point, or by a distance",
        keys: ["id", "to", "by"]
      )
    case .scale:
      Entry(
        name: name,
        arguments: "ID FACTOR",
        summary: "set an object's scale; 1 is as it was made",
        keys: ["id", "factor"]
      )
    case .rotate:
      Entry(
        name: name,
        arguments: "ID DEGREES",
        summary: "set an object's angle, clockwise; 0 is upright",
        keys: ["id", "degrees"]
      )
    case .edit:
      Entry(
        name: name,
        arguments: #"ID "WORDS""#,
        summary: "replace the words of a text",
        keys: ["id", "text"]
      )
    case .delete:
      Entry(name: name, arguments: "ID", summary: "delete an object", keys: ["id"])
    case .accept:
      Entry(
        name: name,
        arguments: "INVITATION",
        summary: "let somebody in who asks to join, or say that the words are the same",
        keys: ["target"]
      )
    case .decline:
      Entry(
        name: name,
        arguments: #"INVITATION ["WHY"]"#,
        summary: "turn somebody away who asks to join, or say that the words differ",
        keys: ["target", "reason"]
      )
    case .kick:
      Entry(
        name: name,
        arguments: #"PEER ["WHY"]"#,
        summary: "disconnect a peer and keep it out",
        keys: ["target", "reason"]
      )
    case .cancel:
      Entry(
        name: name,
        arguments: #"TRANSFER ["WHY"]"#,
        summary: "stop a resource, from either side",
        keys: ["target", "reason"]
      )
    case .leave:
      Entry(
        name: name,
        arguments: "",
        summary: "leave the board with a goodbye, and stay in the program",
        keys: []
      )
    case .say:
      Entry(
        name: name,
        arguments: #""WORDS""#,
        summary: "say something in the chat",
        keys: ["text"]
      )
    case .send:
      Entry(
        name: name,
        arguments: #"[--to PEER] [--unreliable] "WORDS""#,
        summary: "send a message to everybody, or to one peer",
        keys: ["text", "base64", "to", "unreliable"]
      )
    case .resource:
      Entry(
        name: name,
        arguments: "FILE --name TEXT [--to PEER]",
        summary: "send a file under a name; answered when it has arrived",
        keys: ["file", "name", "to"]
      )
    case .stream:
      Entry(
        name: name,
        arguments: "NAME FILE [--to PEER]",
        summary: "send a file through a byte stream; answered when it has been read",
        keys: ["name", "file", "to"]
      )
    case .objects:
      Entry(name: name, arguments: "", summary: "list the objects on the board", keys: [])
    case .peers:
      Entry(name: name, arguments: "", summary: "list the peers of the session", keys: [])
    case .digest:
      Entry(name: name, arguments: "", summary: "tell the digest of the board", keys: [])
    case .wait:
      Entry(
        name: name,
        arguments: "peers=N|objects=N|synced|SECONDS [timeout=SECONDS]",
        summary:
          "wait for at least N (0: for none), for everything to be everywhere, or for a time",
        keys: ["peers", "objects", "synced", "seconds", "timeout"]
      )
    case .quit:
      Entry(name: name, arguments: "", summary: "leave the board and end the program", keys: [])
    case .help:
      Entry(
        name: name,
        arguments: "[VERB|verbs]",
        summary: "explain one verb, or all",
        keys: ["topic"]
      )
    }
  }

  /// What `help verbs` prints.
  package static var text: String {
    let entries = VerbName.allCases.map(entry)
    var lines = ["Verbs, one a line:", ""]
    for entry in entries {
      lines.append("  \(entry.usage)")
      lines.append("      \(entry.summary)")
    }
    lines += [
      "",
      "ID is an alias, `last`, an object id (SEQ-INCARNATION), or its SEQ where only one has it.",
      "PEER and INVITATION are an id, the start of one, or a name, where only one fits.",
      #"Words with spaces go in double quotes; inside them \" is a quote, \\ a backslash, \n a new line."#,
      #"A quote opens at the start of a word or after =; elsewhere it is itself: --name {"a":1}"#,
      "Who joins by name or address a board that asks answers too: both compare the same words.",
      "X and Y are board units, y downwards, from -33554432 to just below 33554432.",
      "A # at the start of a word begins a comment. request=MARK comes back in the answer.",
      #"A line that starts with { is JSON: {"verb":"move","id":"last","to":[10,20],"request":1}"#,
    ]
    return lines.joined(separator: "\n")
  }

  /// What `help VERB` prints.
  package static func text(for name: VerbName) -> String {
    let entry = entry(name)
    var lines = [entry.usage, "    \(entry.summary)"]
    let keys = ["verb"] + entry.keys + ["request"]
    lines.append("    JSON keys: \(keys.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  /// The verb nearest in spelling to a word, where one is near.
  ///
  /// - Complexity: O(*n*) in the verbs; the word is cut to 32 bytes.
  package static func nearest(to word: String) -> VerbName? {
    let letters = Array(word.lowercased().utf8.prefix(32))
    let candidates = VerbName.allCases.map {
      (name: $0, distance: editDistance(letters, Array($0.rawValue.utf8)))
    }
    guard let best = candidates.min(by: { $0.distance < $1.distance }),
      best.distance <= 2, best.distance < best.name.rawValue.utf8.count - 1
    else { return nil }
    return best.name
  }

  private static func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let substitution = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
