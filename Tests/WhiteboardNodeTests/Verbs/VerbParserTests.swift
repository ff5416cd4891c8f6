import PeerTestKit
import Testing

@testable import WhiteboardNode

@Suite
struct VerbParserTests {
  private func point(_ x: Double, _ y: Double) throws -> BoardPoint {
    try #require(BoardPoint(x: x, y: y))
  }

  private func verb(_ line: String) throws -> Verb {
    try #require(try VerbParser.parse(line)).verb
  }

  /// The failure of a line; a line that parses fails the test.
  private func failure(_ line: String) -> VerbError? {
    do throws(VerbError) {
      let request = try VerbParser.parse(line)
      Issue.record("\(line) was read as \(String(describing: request))")
      return nil
    } catch {
      return error
    }
  }

  /// Each verb in both forms, with what both mean.
  private func pairs() throws -> [(words: String, json: String, means: Verb)] {
    let cat = try #require(ObjectAlias("cat"))
    let id = ObjectReference.id(sequence: 12, incarnation: "abcdefghijk27")
    return [
      (
        #"text 10,-20.5 "hi there" as=cat"#,
        #"{"verb":"text","at":[10,-20.5],"text":"hi there","as":"cat"}"#,
        .text(at: try point(10, -20.5), words: "hi there", alias: cat)
      ),
      (
        "stroke 0,0 1e2,5 over=1.5", #"{"verb":"stroke","points":[[0,0],[100,5]],"over":1.5}"#,
        .stroke(points: [try point(0, 0), try point(100, 5)], seconds: 1.5, alias: nil)
      ),
      (
        #"photo 1,2 "my cat.jpg" as=cat"#,
        #"{"verb":"photo","at":[1,2],"file":"my cat.jpg","as":"cat"}"#,
        .photo(at: try point(1, 2), file: "my cat.jpg", alias: cat)
      ),
      ("select cat", #"{"verb":"select","id":"cat"}"#, .select(.alias(cat))),
      ("deselect", #"{"verb":"deselect"}"#, .deselect),
      (
        "move last 5,-5", #"{"verb":"move","id":"last","to":[5,-5]}"#,
        .move(.last, .to(try point(5, -5)))
      ),
      (
        "move 12-abcdefghijk27 +-5,3", #"{"verb":"move","id":"12-abcdefghijk27","by":[-5,3]}"#,
        .move(id, .by(try point(-5, 3)))
      ),
      ("scale 7 1.5", #"{"verb":"scale","id":7,"factor":1.5}"#, .scale(.sequence(7), factor: 1.5)),
      (
        "rotate 7 -90", #"{"verb":"rotate","id":"7","degrees":-90}"#,
        .rotate(.sequence(7), degrees: -90)
      ),
      (
        #"edit cat "new""#, #"{"verb":"edit","id":"cat","text":"new"}"#,
        .edit(.alias(cat), words: "new")
      ),
      ("delete last", #"{"verb":"delete","id":"last"}"#, .delete(.last)),
      ("accept abc", #"{"verb":"accept","target":"abc"}"#, .accept(target: "abc")),
      (
        #"decline abc "not now""#, #"{"verb":"decline","target":"abc","reason":"not now"}"#,
        .decline(target: "abc", reason: "not now")
      ),
      ("kick bob", #"{"verb":"kick","target":"bob"}"#, .kick(target: "bob", reason: nil)),
      ("cancel t1", #"{"verb":"cancel","target":"t1"}"#, .cancel(target: "t1", reason: nil)),
      ("leave", #"{"verb":"leave"}"#, .leave),
      (#"say "a\nb""#, #"{"verb":"say","text":"a\nb"}"#, .say(words: "a\nb")),
      (
        #"send --to bob --unreliable "x""#,
        #"{"verb":"send","text":"x","to":"bob","unreliable":true}"#,
        .send(bytes: [0x78], to: ["bob"], isUnreliable: true)
      ),
      (
        "send x", #"{"verb":"send","base64":"eA==","to":null}"#,
        .send(bytes: [0x78], to: [], isUnreliable: false)
      ),
      (
        #"resource f.bin --name "a b" --to bob"#,
        #"{"verb":"resource","file":"f.bin","name":"a b","to":["bob"]}"#,
        .resource(file: "f.bin", name: "a b", to: ["bob"])
      ),
      (
        "stream log f.txt", #"{"verb":"stream","name":"log","file":"f.txt"}"#,
        .stream(name: "log", file: "f.txt", to: [])
      ),
      ("objects", #"{"verb":"objects"}"#, .objects),
      ("peers", #"{"verb":"peers"}"#, .peers),
      ("digest", #"{"verb":"digest"}"#, .digest),
      ("wait peers=2", #"{"verb":"wait","peers":2}"#, .wait(.peers(2), timeout: nil)),
      (
        "wait objects=0 timeout=5", #"{"verb":"wait","objects":0,"timeout":5}"#,
        .wait(.objects(0), timeout: 5)
      ),
      ("wait synced", #"{"verb":"wait","synced":true}"#, .wait(.synced, timeout: nil)),
      ("wait 0.25", #"{"verb":"wait","seconds":0.25}"#, .wait(.seconds(0.25), timeout: nil)),
      ("quit", #"{"verb":"quit"}"#, .quit),
      ("help verbs", #"{"verb":"help","topic":"verbs"}"#, .help(topic: "verbs")),
    ]
  }

  @Test("every verb means the same in words and in JSON")
  func bothForms() throws {
    let pairs = try pairs()
    for pair in pairs {
      #expect(try verb(pair.words) == pair.means)
      #expect(try verb(pair.json) == pair.means)
    }
    #expect(Set(pairs.map(\.means.name)) == Set(VerbName.allCases))
  }

  @Test("a mark comes back with the verb, whatever kind it is")
  func marks() throws {
    #expect(try VerbParser.parse("digest request=7")?.request == .word("7"))
    #expect(try VerbParser.parse(#"{"verb":"digest","request":7}"#)?.request == .number(7))
    #expect(
      try VerbParser.parse(#"{"v":1,"verb":"digest","request":"a b"}"#)?.request == .word("a b")
    )
    #expect(try VerbParser.parse("digest")?.request == nil)
  }

  @Test("an error carries the mark and the verb of its line")
  func errorsCarryMarks() {
    for line in [
      "move last request=m1", "fly request=m1", "scale 1 nan request=m1",
      #"{"verb":"move","id":"last","request":"m1"}"#, #"{"verb":"fly","request":"m1"}"#,
      #"{"verb":"move","id":"last","to":"here","request":"m1"}"#,
      #"{"verb":"digest","colour":1,"request":"m1"}"#, #"{"request":"m1"}"#,
    ] {
      #expect(failure(line)?.request == .word("m1"), "\(line)")
    }
    #expect(failure("move last request=m1")?.verb == "move")
    #expect(failure(#"{"verb":"move","id":"last","to":"here"}"#)?.verb == "move")
  }

  @Test("blank lines and comments hold no verb, and a # inside a word is no comment")
  func comments() throws {
    for line in ["", "   ", "# text 1,1 hi", "\t# x", "\r"] {
      #expect(try VerbParser.parse(line) == nil)
    }
    #expect(try verb("say hi # there") == .say(words: "hi"))
    #expect(try verb("say a#b") == .say(words: "a#b"))
    #expect(try verb("say \"# no comment\"\r") == .say(words: "# no comment"))
  }

  @Test("a quote opens at the start of a word or after =, and elsewhere is itself")
  func quotes() throws {
    #expect(
      try verb(#"resource f --name {"a":1}"#) == .resource(file: "f", name: #"{"a":1}"#, to: [])
    )
    #expect(try verb(#"say it"s"#) == .say(words: #"it"s"#))
    #expect(try verb(#"say "a"b"c"#) == .say(words: #"ab"c"#))
    let cat = ObjectAlias("cat")
    #expect(
      try verb(#"text 0,0 "a b" as="cat""#)
        == .text(at: point(0, 0), words: "a b", alias: cat)
    )
    #expect(failure(#"text 0,0 x as="cat"#)?.code == .syntax)
  }

  @Test("a quoted word is never an option")
  func quotedOptions() throws {
    #expect(try verb(#"say "as=x""#) == .say(words: "as=x"))
    #expect(
      try verb(#"send "--unreliable""#)
        == .send(bytes: Array("--unreliable".utf8), to: [], isUnreliable: false)
    )
    #expect(try verb(#"say "request=1""#) == .say(words: "request=1"))
  }

  @Test(
    "what is not of the grammar is refused by kind",
    arguments: [
      ("fly 1,1", VerbError.Code.unknownVerb),
      (#""say" hi"#, .unknownVerb),
      ("text", .missingArgument),
      ("text 1,1", .missingArgument),
      ("text 1;1 hi", .badArgument),
      ("text nan,0 hi", .badArgument),
      ("text inf,0 hi", .badArgument),
      ("text 0x10,0 hi", .badArgument),
      ("text 1e400,0 hi", .badArgument),
      ("text 33554433,0 hi", .badArgument),
      ("text 1,1,1 hi", .badArgument),
      ("text 1,1 hi there", .unknownArgument),
      ("text 1,1 hi as=9", .badArgument),
      ("text 1,1 hi as=last", .badArgument),
      ("text 1,1 hi as=a as=b", .badArgument),
      (#"say "open"#, .syntax),
      (#"say "\x""#, .syntax),
      (#"say "\"#, .syntax),
      ("stroke", .missingArgument),
      ("stroke over=-1 0,0", .badArgument),
      ("move last", .missingArgument),
      ("move 0 1,1", .badArgument),
      ("move 12-short 1,1", .badArgument),
      ("move 99999999999999999999 1,1", .badArgument),
      ("scale last 0", .badArgument),
      ("scale last -1", .badArgument),
      ("rotate last x", .badArgument),
      ("resource f", .missingArgument),
      ("resource f --name", .missingArgument),
      ("wait", .missingArgument),
      ("wait peers=-1", .badArgument),
      ("wait peers=x", .badArgument),
      ("wait forever", .badArgument),
      ("wait 1e9", .badArgument),
      ("deselect now", .unknownArgument),
      ("{", .syntax),
      ("{}", .missingArgument),
      ("{\"verb\":\"digest\"} x", .syntax),
      ("{\"verb\":7}", .missingArgument),
      (#"{"verb":"text","at":[1],"text":"x"}"#, .badArgument),
      (#"{"verb":"text","at":[1,"2"],"text":"x"}"#, .badArgument),
      (#"{"verb":"text","at":[1e999,2],"text":"x"}"#, .syntax),
      (#"{"verb":"stroke","points":[]}"#, .missingArgument),
      (#"{"verb":"move","id":"last","to":[1,1],"by":[1,1]}"#, .badArgument),
      (#"{"verb":"move","id":"last"}"#, .missingArgument),
      (#"{"verb":"wait","peers":1.5}"#, .badArgument),
      (#"{"verb":"wait","peers":1,"objects":1}"#, .missingArgument),
      (#"{"verb":"wait","synced":false}"#, .badArgument),
      (#"{"verb":"send","text":"a","base64":"YQ=="}"#, .badArgument),
      (#"{"verb":"send","base64":"%"}"#, .badArgument),
      (#"{"verb":"send","text":"a","to":[]}"#, .badArgument),
      (#"{"verb":"select","id":-1}"#, .badArgument),
      (#"{"verb":"select","id":"last","at":[0,0]}"#, .unknownArgument),
      (#"{"verb":"select","request":[1]}"#, .badArgument),
      (#"{"verb":"photo","at":[0,0],"file":"a\u0000b"}"#, .badArgument),
    ]
  )
  func refusals(line: String, code: VerbError.Code) {
    #expect(failure(line)?.code == code)
  }

  @Test("an error says how the verb is written")
  func usageInErrors() {
    #expect(failure("move last")?.message.hasSuffix("Usage: move ID X,Y|+DX,DY") == true)
    #expect(failure("say hi there")?.message.contains("double quotes") == true)
    #expect(failure("strok 0,0")?.message.contains("did you mean stroke?") == true)
    #expect(failure("xyzzy")?.message.contains("help verbs") == true)
  }

  @Test("lengths are bounded on both sides of each limit")
  func limits() throws {
    let longest = String(repeating: "a", count: VerbParser.maximumTextLength)
    #expect(try verb("say \(longest)") == .say(words: longest))
    #expect(failure("say \(longest)a")?.code == .tooBig)
    #expect(failure(#"{"verb":"say","text":"\#(longest)a"}"#)?.code == .tooBig)

    let name = String(repeating: "n", count: VerbParser.maximumNameLength)
    #expect(try verb("resource f --name \(name)") == .resource(file: "f", name: name, to: []))
    #expect(failure("resource f --name \(name)n")?.code == .tooBig)

    let points = Array(repeating: "1,1", count: VerbParser.maximumPoints).joined(separator: " ")
    guard case .stroke(let drawn, _, _) = try verb("stroke \(points)") else {
      Issue.record("not a stroke")
      return
    }
    #expect(drawn.count == VerbParser.maximumPoints)
    #expect(failure("stroke \(points) 1,1")?.code == .tooBig)

    let line = [UInt8](repeating: 0x20, count: VerbParser.maximumLineLength)
    #expect(try VerbParser.parse(bytes: line) == nil)
    #expect(throws: VerbError.self) { try VerbParser.parse(bytes: line + [0x20]) }
  }

  @Test("no bytes make the parser trap, and what it reads it reads twice alike")
  func randomBytes() throws {
    var generator = SeededGenerator(seed: 20_261_121)
    let seeds = try pairs().flatMap { [Array($0.words.utf8), Array($0.json.utf8)] }
    var readable = 0
    for _ in 0..<20_000 {
      var line = seeds[Int.random(in: 0..<seeds.count, using: &generator)]
      for _ in 0..<Int.random(in: 0...3, using: &generator) where !line.isEmpty {
        let at = Int.random(in: 0..<line.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: line[at] = UInt8.random(in: 0...255, using: &generator)
        case 1: line.remove(at: at)
        default: line.insert(UInt8.random(in: 0...255, using: &generator), at: at)
        }
      }
      if let request = try? VerbParser.parse(bytes: line) {
        readable += 1
        #expect(try VerbParser.parse(bytes: line) == request)
      }
    }
    #expect(readable > 1_000)
  }

  @Test("help lists every verb with its usage")
  func help() {
    for name in VerbName.allCases {
      #expect(VerbTable.text.contains("\n  \(VerbTable.entry(name).usage)\n"))
    }
    #expect(VerbTable.text(for: .move).contains("JSON keys: verb, id, to, by, request"))
  }
}
