import PeerTestKit
import Testing
import Whiteboard

@testable import CommandLines
@testable import WhiteboardKit

@Suite struct CommandParserTests {
  private func point(_ x: Double, _ y: Double) throws -> BoardPoint { try #require(BoardPoint(x: x, y: y)) }

  private func verb(_ line: String) throws -> Command { try #require(try CommandParser.parse(line)).command }

  /// Returns the error of a line; a line without an error fails the test.
  private func failure(_ line: String) -> CommandError? {
    do throws(CommandError) {
      let request = try CommandParser.parse(line)
      Issue.record("\(line) was parsed as \(String(describing: request))")
      return nil
    } catch { return error }
  }

  private func pairs() throws -> [(words: String, json: String, means: Command)] {
    let cat = try #require(ObjectAlias("cat"))
    let id = ObjectReference.id(try #require(ObjectID("12-abcdefghijk26")))
    return [
      (
        #"text 10,-20.5 "hi there" as=cat"#, #"{"verb":"text","at":[10,-20.5],"text":"hi there","as":"cat"}"#,
        .text(at: try point(10, -20.5), words: "hi there", alias: cat)
      ),
      (
        "stroke 0,0 1e2,5 over=1.5", #"{"verb":"stroke","points":[[0,0],[100,5]],"over":1.5}"#,
        .stroke(points: [try point(0, 0), try point(100, 5)], seconds: 1.5, alias: nil)
      ),
      (
        ##"rect 1,2 size=30,40 label="Log in" fill=#FFEC99 width=3 as=cat"##,
        ##"{"verb":"rect","at":[1,2],"size":[30,40],"label":"Log in","fill":"#FFEC99","width":3,"as":"cat"}"##,
        .shape(
          .rectangle,
          at: try point(1, 2),
          size: try point(30, 40),
          label: "Log in",
          fill: 0xFFEC_99FF,
          pen: Pen(width: 3),
          alias: cat
        )
      ),
      ("ellipse 1,2", #"{"verb":"ellipse","at":[1,2]}"#, .shape(.ellipse, at: try point(1, 2))),
      ("diamond 1,2", #"{"verb":"diamond","at":[1,2]}"#, .shape(.diamond, at: try point(1, 2))),
      ("note 1,2", #"{"verb":"note","at":[1,2]}"#, .shape(.note, at: try point(1, 2))),
      (
        "line 0,0 5,5", #"{"verb":"line","points":[[0,0],[5,5]]}"#, .line([try point(0, 0), try point(5, 5)])
      ),
      (
        "arrow 0,0 5,5", #"{"verb":"arrow","start":[0,0],"end":[5,5]}"#,
        .arrow(from: try point(0, 0), to: try point(5, 5), connects: false)
      ),
      (
        "style cat line=dashed fill=default bold=yes size=24",
        ##"{"verb":"style","id":"cat","lineStyle":"dashed","fill":"default","isBold":true,"textSize":24}"##,
        .style([.alias(cat)], [.fill(nil), .lineStyle(.dashed), .textSize(24), .isBold(true)])
      ),
      (
        "resize cat 30,40", #"{"verb":"resize","id":"cat","size":[30,40]}"#, .resize(.alias(cat), to: try point(30, 40))
      ),
      (
        "resize cat 30,40 at=1,2", #"{"verb":"resize","id":"cat","size":[30,40],"at":[1,2]}"#,
        .resize(.alias(cat), to: try point(30, 40), center: try point(1, 2))
      ),
      (
        #"label cat "Log in""#, #"{"verb":"label","id":"cat","text":"Log in"}"#,
        .label(.alias(cat), words: "Log in")
      ),
      (
        "points cat 0,0 5,5", #"{"verb":"points","id":"cat","points":[[0,0],[5,5]]}"#,
        .points([try point(0, 0), try point(5, 5)], of: .alias(cat))
      ),
      (
        "text 1,2 hi color=#102030", ##"{"verb":"text","at":[1,2],"text":"hi","color":"#102030"}"##,
        .text(at: try point(1, 2), words: "hi", color: 0x1020_30FF, alias: nil)
      ),
      (
        "stroke 0,0 5,5 width=8 color=#10203040",
        ##"{"verb":"stroke","points":[[0,0],[5,5]],"width":8,"color":"#10203040"}"##,
        .stroke(
          points: [try point(0, 0), try point(5, 5)],
          pen: Pen(color: 0x1020_3040, width: 8),
          seconds: 0,
          alias: nil
        )
      ),
      (
        "pen 0,0 5,5 width=2 as=cat", #"{"verb":"pen","points":[[0,0],[5,5]],"width":2,"as":"cat"}"#,
        .pen(points: [try point(0, 0), try point(5, 5)], pen: Pen(color: nil, width: 2), alias: cat)
      ), ("lift", #"{"verb":"lift"}"#, .lift), ("point 3,4", #"{"verb":"point","at":[3,4]}"#, .point(try point(3, 4))),
      ("point none", #"{"verb":"point"}"#, .point(nil)),
      ("point 3,4 laser", #"{"verb":"point","at":[3,4],"laser":true}"#, .point(try point(3, 4), isLaser: true)),
      (
        "view 3,-4 80.4 24", #"{"verb":"view","at":[3,-4],"width":80.4,"height":24}"#,
        .view(BoardView(center: try point(3, -4), width: 80, height: 24))
      ), ("view none", #"{"verb":"view"}"#, .view(nil)),
      (
        #"photo 1,2 "my cat.jpg" as=cat"#, #"{"verb":"photo","at":[1,2],"file":"my cat.jpg","as":"cat"}"#,
        .photo(at: try point(1, 2), file: "my cat.jpg", alias: cat)
      ),
      (
        "game wordle 5,5 as=cat", #"{"verb":"game","game":"wordle","at":[5,5],"as":"cat"}"#,
        .game(.wordle, at: try point(5, 5), opponent: nil, alias: cat)
      ),
      (
        "game connect-four 0,0 opponent=ben", #"{"verb":"game","game":"connect-four","at":[0,0],"opponent":"ben"}"#,
        .game(.connectFour, at: try point(0, 0), opponent: "ben", alias: nil)
      ),
      (
        "duplicate cat 7", #"{"verb":"duplicate","ids":["cat",7]}"#,
        .duplicate([.alias(cat), .sequence(7)], alias: nil)
      ),
      (
        "duplicate selected by=+5,-5 as=cat", #"{"verb":"duplicate","id":"selected","by":[5,-5],"as":"cat"}"#,
        .duplicate([.selected], by: try point(5, -5), alias: cat)
      ), ("select cat", #"{"verb":"select","id":"cat"}"#, .select([.alias(cat)])),
      (
        "select cat last selected", #"{"verb":"select","ids":["cat","last","selected"]}"#,
        .select([.alias(cat), .last, .selected])
      ), ("take cat", #"{"verb":"take","id":"cat"}"#, .take([.alias(cat)])),
      ("deselect", #"{"verb":"deselect"}"#, .deselect),
      ("move last 5,-5", #"{"verb":"move","id":"last","to":[5,-5]}"#, .move([.last], .to(try point(5, -5)))),
      (
        "move 12-abcdefghijk26 +-5,3", #"{"verb":"move","id":"12-abcdefghijk26","by":[-5,3]}"#,
        .move([id], .by(try point(-5, 3)))
      ),
      (
        "move cat 7 1,2", #"{"verb":"move","ids":["cat","7"],"to":[1,2]}"#,
        .move([.alias(cat), .sequence(7)], .to(try point(1, 2)))
      ), ("scale 7 1.5", #"{"verb":"scale","id":7,"factor":1.5}"#, .scale([.sequence(7)], factor: 1.5)),
      (
        "scale 7 1.5 about=10,-5 line=keep", #"{"verb":"scale","id":7,"factor":1.5,"about":[10,-5],"line":"keep"}"#,
        .scale([.sequence(7)], factor: 1.5, about: try point(10, -5), keepsLineWidth: true)
      ), ("rotate 7 -90", #"{"verb":"rotate","id":"7","degrees":-90}"#, .rotate([.sequence(7)], degrees: -90)),
      ("color cat #3060C0", ##"{"verb":"color","id":"cat","color":"#3060C0"}"##, .color([.alias(cat)], 0x3060_C0FF)),
      (
        "color cat 7 #3060c080 # half", ##"{"verb":"color","ids":["cat",7],"color":"#3060C080"}"##,
        .color([.alias(cat), .sequence(7)], 0x3060_C080)
      ), ("color last default", #"{"verb":"color","id":"last","color":"default"}"#, .color([.last], nil)),
      ("width cat 2.5", #"{"verb":"width","id":"cat","width":2.5}"#, .width([.alias(cat)], 2.5)),
      (
        "order cat 7 front", #"{"verb":"order","ids":["cat",7],"place":"front"}"#,
        .order([.alias(cat), .sequence(7)], .front)
      ), ("order last back", #"{"verb":"order","id":"last","place":"back"}"#, .order([.last], .back)),
      ("order last forward", #"{"verb":"order","id":"last","place":"forward"}"#, .order([.last], .forward)),
      ("order last backward", #"{"verb":"order","id":"last","place":"backward"}"#, .order([.last], .backward)),
      ("order last above=cat", #"{"verb":"order","id":"last","above":"cat"}"#, .order([.last], .above(.alias(cat)))),
      ("order last below=7", #"{"verb":"order","id":"last","below":7}"#, .order([.last], .below(.sequence(7)))),
      (
        "group cat 7 as=cat", #"{"verb":"group","ids":["cat",7],"as":"cat"}"#,
        .group([.alias(cat), .sequence(7)], alias: cat)
      ),
      (
        "align left cat 7", #"{"verb":"align","edge":"left","ids":["cat",7]}"#,
        .align([.alias(cat), .sequence(7)], .left)
      ),
      ("align middle", #"{"verb":"align","edge":"middle"}"#, .align([.selected], .middle)),
      (
        "distribute vertically selected", #"{"verb":"distribute","axis":"vertically","id":"selected"}"#,
        .distribute([.selected], .vertically)
      ), ("clear board sure", #"{"verb":"clear","board":true,"sure":true}"#, .clearBoard),
      (
        "flip horizontally cat", #"{"verb":"flip","axis":"horizontally","id":"cat"}"#,
        .flip([.alias(cat)], .horizontally)
      ),
      (
        "crop cat 0,0,50,100", #"{"verb":"crop","id":"cat","part":"0,0,50,100"}"#,
        .crop(.alias(cat), to: Rectangle(Point(x: 0, y: 0), Point(x: 0.5, y: 1)))
      ), ("crop cat none", #"{"verb":"crop","id":"cat","part":"none"}"#, .crop(.alias(cat), to: nil)),
      (
        "link cat https://example.org/a", #"{"verb":"link","id":"cat","link":"https://example.org/a"}"#,
        .link(.alias(cat), "https://example.org/a")
      ), ("link cat none", #"{"verb":"link","id":"cat","link":"none"}"#, .link(.alias(cat), nil)),
      ("vote cat 👍", #"{"verb":"vote","id":"cat","reaction":"👍"}"#, .vote(.alias(cat), "👍")),
      (
        "vote cat yes off", #"{"verb":"vote","id":"cat","reaction":"yes","off":true}"#,
        .vote(.alias(cat), "yes", isWithdrawn: true)
      ), (#"comment cat "why?""#, #"{"verb":"comment","id":"cat","text":"why?"}"#, .comment(.alias(cat), "why?")),
      (
        "resolve 5-aaaaaaaaaaaac off", #"{"verb":"resolve","line":"5-aaaaaaaaaaaac","off":true}"#,
        .resolve(ObjectID(Dot(Incarnation(1), 5)), isOpen: true)
      ),
      (
        "frame 1,2 size=300,200", #"{"verb":"frame","at":[1,2],"size":[300,200]}"#,
        .shape(.frame, at: try point(1, 2), size: try point(300, 200))
      ),
      (
        #"text 1,2 "a" from=corner"#, #"{"verb":"text","at":[1,2],"text":"a","from":"corner"}"#,
        .text(at: try point(1, 2), words: "a", startsAtCorner: true, alias: nil)
      ),
      ("ungroup last", #"{"verb":"ungroup","id":"last"}"#, .ungroup(.last)),
      ("lock cat 7", #"{"verb":"lock","ids":["cat",7]}"#, .lock([.alias(cat), .sequence(7)])),
      ("unlock selected", #"{"verb":"unlock","id":"selected"}"#, .unlock([.selected])),
      (
        #"insert cat 3 "é!""#, #"{"verb":"insert","id":"cat","at":3,"text":"é!"}"#,
        .insert(.alias(cat), at: 3, words: "é!", replacing: 0)
      ),
      (
        #"insert cat 0 "" replacing=4"#, #"{"verb":"insert","id":"cat","at":0,"text":"","replacing":4}"#,
        .insert(.alias(cat), at: 0, words: "", replacing: 4)
      ),
      (
        "erase 0,0 10,0", #"{"verb":"erase","points":[[0,0],[10,0]]}"#,
        .erase(points: [try point(0, 0), try point(10, 0)], radius: 8)
      ),
      (
        "erase 1,1 radius=2.5", #"{"verb":"erase","points":[[1,1]],"radius":2.5}"#,
        .erase(points: [try point(1, 1)], radius: 2.5)
      ), (#"edit cat "new""#, #"{"verb":"edit","id":"cat","text":"new"}"#, .edit(.alias(cat), words: "new")),
      ("delete last", #"{"verb":"delete","id":"last"}"#, .delete([.last])),
      ("delete last cat", #"{"verb":"delete","ids":["last","cat"]}"#, .delete([.last, .alias(cat)])),
      ("undelete 7", #"{"verb":"undelete","id":7}"#, .undelete(.sequence(7))),
      ("purge cat", #"{"verb":"purge","id":"cat"}"#, .purge(.alias(cat))),
      ("purge --author anna", #"{"verb":"purge","author":"anna"}"#, .purgeAuthor(target: "anna")),
      ("play cat crane", #"{"verb":"play","id":"cat","move":"crane"}"#, .play(.alias(cat), move: "crane")),
      ("play last 4", #"{"verb":"play","id":"last","move":4}"#, .play(.last, move: "4")),
      ("play last resign", #"{"verb":"play","id":"last","move":"resign"}"#, .play(.last, move: "resign")),
      ("undo", #"{"verb":"undo"}"#, .undo), ("redo", #"{"verb":"redo"}"#, .redo),
      (#"set title "Our plan""#, #"{"verb":"set","title":"Our plan"}"#, .set(.title("Our plan"))),
      ("set background #ffffff", ##"{"verb":"set","background":"#FFFFFF"}"##, .set(.background(0xFFFF_FFFF))),
      ("set background default", #"{"verb":"set","background":"default"}"#, .set(.background(nil))),
      ("set grid 12.5", #"{"verb":"set","grid":12.5}"#, .set(.grid(12.5))),
      ("set language pt-BR", #"{"verb":"set","language":"pt-BR"}"#, .set(.language("pt-BR"))),
      ("accept abc", #"{"verb":"accept","target":"abc"}"#, .accept(target: "abc")),
      (
        #"decline abc "not now""#, #"{"verb":"decline","target":"abc","reason":"not now"}"#,
        .decline(target: "abc", reason: "not now")
      ), ("hide bob", #"{"verb":"hide","target":"bob"}"#, .hide(target: "bob", isHidden: true)),
      ("unhide bob", #"{"verb":"unhide","target":"bob"}"#, .hide(target: "bob", isHidden: false)),
      ("kick bob", #"{"verb":"kick","target":"bob"}"#, .kick(target: "bob", reason: nil)),
      (
        "kick --with-admitted bob spam --keep-code",
        #"{"verb":"kick","target":"bob","reason":"spam","withAdmitted":true,"keepCode":true}"#,
        .kick(target: "bob", reason: "spam", withAdmitted: true, keepsCode: true)
      ), ("role bob viewer", #"{"verb":"role","target":"bob","role":"viewer"}"#, .role(target: "bob", .viewer)),
      ("invite", #"{"verb":"invite"}"#, .invite(.init())),
      (
        "invite view expires=2h", #"{"verb":"invite","view":true,"expires":"2h"}"#,
        .invite(.init(isView: true, seconds: 7200))
      ), ("cancel t1", #"{"verb":"cancel","target":"t1"}"#, .cancel(target: "t1", reason: nil)),
      ("accept abc always", #"{"verb":"accept","target":"abc","always":true}"#, .accept(target: "abc", isAlways: true)),
      ("leave", #"{"verb":"leave"}"#, .leave), ("continue", #"{"verb":"continue"}"#, .continue),
      (
        #"profile name="Ada L." icon=ghost"#, #"{"verb":"profile","name":"Ada L.","icon":"ghost"}"#,
        .profile(name: "Ada L.", icon: .to(.ghost))
      ), ("profile icon=👻", #"{"verb":"profile","icon":"👻"}"#, .profile(name: nil, icon: .to(.ghost))),
      (
        // Some keyboards omit the variation selector.
        "profile icon=\u{1F636}\u{200D}\u{1F32B}", "{\"verb\":\"profile\",\"icon\":\"\u{1F636}\u{200D}\u{1F32B}\"}",
        .profile(name: nil, icon: .to(.foggy))
      ), ("profile icon=none", #"{"verb":"profile","icon":"none"}"#, .profile(name: nil, icon: .removed)),
      ("profile", #"{"verb":"profile"}"#, .profile(name: nil, icon: nil)),
      (#"say "a\nb""#, #"{"verb":"say","text":"a\nb"}"#, .say(words: "a\nb")),
      (
        #"send --to bob --unreliable "x""#, #"{"verb":"send","text":"x","to":"bob","unreliable":true}"#,
        .send(bytes: [0x78], to: ["bob"], isUnreliable: true)
      ), ("send x", #"{"verb":"send","base64":"eA==","to":null}"#, .send(bytes: [0x78], to: [], isUnreliable: false)),
      (
        #"resource f.bin --name "a b" --to bob"#, #"{"verb":"resource","file":"f.bin","name":"a b","to":["bob"]}"#,
        .resource(file: "f.bin", name: "a b", to: ["bob"])
      ),
      (
        #"resource f.bin "my photos" --to bob"#, #"{"verb":"resource","files":["f.bin","my photos"],"to":"bob"}"#,
        .files(["f.bin", "my photos"], to: ["bob"])
      ), ("resource f", #"{"verb":"resource","file":"f"}"#, .files(["f"], to: [])),
      (
        "stream log f.txt", #"{"verb":"stream","name":"log","file":"f.txt"}"#,
        .stream(name: "log", file: "f.txt", to: [])
      ), ("objects", #"{"verb":"objects"}"#, .objects),
      ("show cat", #"{"verb":"show","id":"cat"}"#, .show(.alias(cat))),
      ("find 1,2", #"{"verb":"find","at":[1,2]}"#, .find(.point(try point(1, 2)))),
      (
        "find 1,2 3,4", #"{"verb":"find","at":[1,2],"to":[3,4]}"#,
        .find(.rectangle(try point(1, 2), try point(3, 4), isInside: false))
      ),
      (
        "find 1,2 3,4 inside", #"{"verb":"find","at":[1,2],"to":[3,4],"inside":true}"#,
        .find(.rectangle(try point(1, 2), try point(3, 4), isInside: true))
      ), (#"find text "log in""#, #"{"verb":"find","text":"log in"}"#, .find(.text("log in"))),
      ("chat", #"{"verb":"chat"}"#, .chat), ("settings", #"{"verb":"settings"}"#, .settings),
      (
        #"checkpoint "before lunch""#, #"{"verb":"checkpoint","name":"before lunch"}"#,
        .checkpoint(name: "before lunch")
      ), ("checkpoints", #"{"verb":"checkpoints"}"#, .checkpoints),
      ("diff a", #"{"verb":"diff","from":"a"}"#, .diff(from: "a", to: nil)),
      ("diff a b", #"{"verb":"diff","from":"a","to":"b"}"#, .diff(from: "a", to: "b")),
      ("restore a", #"{"verb":"restore","name":"a"}"#, .restore(name: "a")),
      (
        #"save-as "my plan.whiteboard""#, #"{"verb":"save-as","file":"my plan.whiteboard"}"#,
        .saveAs(file: "my plan.whiteboard")
      ), ("peers", #"{"verb":"peers"}"#, .peers), ("digest", #"{"verb":"digest"}"#, .digest),
      ("wait peers=2", #"{"verb":"wait","peers":2}"#, .wait(.peers(2), timeout: nil)),
      ("wait objects=0 timeout=5", #"{"verb":"wait","objects":0,"timeout":5}"#, .wait(.objects(0), timeout: 5)),
      ("wait synced", #"{"verb":"wait","synced":true}"#, .wait(.synced, timeout: nil)),
      ("wait 0.25", #"{"verb":"wait","seconds":0.25}"#, .wait(.seconds(0.25), timeout: nil)),
      ("quit", #"{"verb":"quit"}"#, .quit), ("quit anyway", #"{"verb":"quit","anyway":true}"#, .quitAnyway),
      ("save", #"{"verb":"save"}"#, .save),
      (
        "export a.svg region=-10,0,20.5,30 scale=2 page=letter embed force",
        #"{"verb":"export","file":"a.svg","region":[-10,0,20.5,30],"scale":2,"page":"letter","embed":true,"force":true}"#,
        .export(
          file: "a.svg",
          of: .region(Rectangle(Point(x: -10, y: 0), Point(x: 10.5, y: 30))),
          scale: 2,
          paper: .letter,
          embedsDrawing: true,
          isReplacing: true
        )
      ),
      (
        #"export "my board.json""#, #"{"verb":"export","file":"my board.json"}"#,
        .export(file: "my board.json", isReplacing: false)
      ),
      (
        #"export a.png frame="Sprint one""#, #"{"verb":"export","file":"a.png","frame":"Sprint one"}"#,
        .export(file: "a.png", of: .frame("Sprint one"), isReplacing: false)
      ),
      (
        "export a.pdf frames", #"{"verb":"export","file":"a.pdf","frames":true}"#,
        .export(file: "a.pdf", of: .eachFrame, isReplacing: false)
      ),
      (
        "import a.excalidraw at=1,2", #"{"verb":"import","file":"a.excalidraw","at":[1,2]}"#,
        .import(file: "a.excalidraw", at: try point(1, 2))
      ), ("copy 1 cat", #"{"verb":"copy","ids":[1,"cat"]}"#, .copy([.sequence(1), .alias(cat)])),
      ("paste", #"{"verb":"paste"}"#, .paste(at: nil)),
      ("paste 1,2", #"{"verb":"paste","at":[1,2]}"#, .paste(at: try point(1, 2))),
      ("import a.png", #"{"verb":"import","file":"a.png"}"#, .import(file: "a.png", at: nil)),
      (
        "invite web view expires=2h", #"{"verb":"invite","web":true,"view":true,"expires":"2h"}"#,
        .invite(InvitationTerms(isView: true, isForBrowsers: true, seconds: 7_200))
      ),
      (
        "invite web once", #"{"verb":"invite","web":true,"once":true}"#,
        .invite(InvitationTerms(isForBrowsers: true, isOnce: true))
      ), ("web off", #"{"verb":"web","state":"off"}"#, .web(.off)),
      ("broadcast pause", #"{"verb":"broadcast","action":"pause"}"#, .broadcast(.pause)),
      (
        "broadcast start fps=30 size=1280x720 codec=png follow=ada",
        #"{"verb":"broadcast","action":"start","fps":30,"size":"1280x720","codec":"png","follow":"ada"}"#,
        .broadcast(
          .start(
            try CommandParser.broadcastOptions(
              fps: 30,
              size: "1280x720",
              codec: "png",
              region: nil,
              follow: "ada",
              showsFrames: false
            )
          )
        )
      ),
      ("help verbs", #"{"verb":"help","topic":"verbs"}"#, .help(text: CommandTable.text)),
    ]
  }

  @Test("every command has the same meaning in words and in JSON") func bothForms() throws {
    let pairs = try pairs()
    for pair in pairs {
      #expect(try verb(pair.words) == pair.means)
      #expect(try verb(pair.json) == pair.means)
    }
    #expect(Set(pairs.map(\.means.name)) == Set(CommandName.allCases))
  }

  @Test("the answer to a command has its request id, of any JSON type") func marks() throws {
    #expect(try CommandParser.parse("digest request=7")?.request == .word("7"))
    #expect(try CommandParser.parse(#"{"verb":"digest","request":7}"#)?.request == .number(7))
    #expect(try CommandParser.parse(#"{"v":1,"verb":"digest","request":"a b"}"#)?.request == .word("a b"))
    #expect(try CommandParser.parse("digest")?.request == nil)
  }

  @Test("an error has the request id and the command of its line") func errorsCarryMarks() {
    for line in [
      "move last request=m1", "fly request=m1", "scale 1 nan request=m1",
      #"{"verb":"move","id":"last","request":"m1"}"#, #"{"verb":"fly","request":"m1"}"#,
      #"{"verb":"move","id":"last","to":"here","request":"m1"}"#, #"{"verb":"digest","colour":1,"request":"m1"}"#,
      #"{"request":"m1"}"#, #"{"verb":"text","at":[1e999,0],"text":"x","request":"m1"}"#,
      #"{"verb":"scale","id":"last","factor":1e999,"request":"m1"}"#,
      #"{"verb":"pen","points":[[0,-1e999]],"request":"m1"}"#,
      #"{"verb":"export","file":"x.svg","region":[0,0,1e400,1],"request":"m1"}"#,
      #"{"verb":"show","id":123456789012345678901234567890,"request":"m1"}"#,
      #"{"verb":"select","ids":[1e999],"request":"m1"}"#,
    ] { #expect(failure(line)?.request == .word("m1"), "\(line)") }
    #expect(failure("move last request=m1")?.verb == "move")
    #expect(failure(#"{"verb":"move","id":"last","to":"here"}"#)?.verb == "move")
  }

  @Test("[BRD-55] an error about a link says what to change, and does not repeat a password") func linkErrors() throws {
    for (link, words) in [
      ("HTTPS://example.org", "small letters"), ("http://example.org", "begins with https://"), ("https://", "no host"),
      ("https://user:secret@example.org", "remove the part up to @"), ("https://examplé.org/", "xn--"),
      ("https://example.org/é", "%C3%A9"), ("\"https://example.org/a b\"", "%20"), ("\"#\"", "is not an object"),
      ("https://example.org/" + String(repeating: "a", count: 2_048), "the link has 2068 bytes"),
    ] {
      let failure = failure("link last \(link)")
      #expect(failure?.code == .badArgument && failure?.message.contains(words) == true, "\(link)")
      #expect(failure?.message.contains("secret") == false)
    }
  }

  @Test("blank lines and comments contain no command, and a # inside a word begins no comment") func comments() throws {
    for line in ["", "   ", "# text 1,1 hi", "\t# x", "\r"] { #expect(try CommandParser.parse(line) == nil) }
    #expect(try verb("say hi # there") == .say(words: "hi"))
    #expect(try verb("say hi #") == .say(words: "hi"))
    #expect(try verb("say a#b") == .say(words: "a#b"))
    #expect(try verb("say #5") == .say(words: "#5"))
    #expect(failure("say see #5")?.code == .unknownArgument)
    #expect(try verb("say \"# no comment\"\r") == .say(words: "# no comment"))
  }

  @Test("a # in front of a color, a word or an id begins no comment") func colors() throws {
    #expect(try verb("color last #102030 # 7") == .color([.last], 0x1020_30FF))
    #expect(try verb("color last #10203040 #\tfff") == .color([.last], 0x1020_3040))
    #expect(try verb("color last \"#102030\"") == .color([.last], 0x1020_30FF))
    #expect(failure("color last #12345")?.code == .badArgument)
    #expect(try verb("link last #5-aaaaaaaaaaaac # x") == .link(.last, "#5-aaaaaaaaaaaac"))
    let cat = try #require(ObjectAlias("cat"))
    for target in ["#7", "7", "cat", "#cat", "last", "5-aaaaaaaaaaaac"] {
      #expect(try verb("link cat \(target)") == .link(.alias(cat), target))
    }
    #expect(try CommandParser.parse("#102030 color") == nil)
    for color: UInt32 in [0, 1, 0x1020_30FF, .max] { #expect(ColorText.color(ColorText.text(color)) == color) }
    for text in ["", "#", "#12345", "#1234567", "#123456789", "102030", "#+12345", "#12345 "] {
      #expect(ColorText.color(text) == nil, "\(text)")
    }
  }

  @Test("a quote opens at the start of a word or after =, and is a plain character elsewhere") func quotes() throws {
    #expect(try verb(#"resource f --name {"a":1}"#) == .resource(file: "f", name: #"{"a":1}"#, to: []))
    #expect(try verb(#"say it"s"#) == .say(words: #"it"s"#))
    #expect(try verb(#"say "a"b"c"#) == .say(words: #"ab"c"#))
    let cat = ObjectAlias("cat")
    #expect(try verb(#"text 0,0 "a b" as="cat""#) == .text(at: point(0, 0), words: "a b", alias: cat))
    #expect(failure(#"text 0,0 x as="cat"#)?.code == .syntax)
  }

  @Test("a quoted word is never an option") func quotedOptions() throws {
    #expect(try verb(#"say "as=x""#) == .say(words: "as=x"))
    #expect(try verb(#"send "--unreliable""#) == .send(bytes: Array("--unreliable".utf8), to: [], isUnreliable: false))
    #expect(try verb(#"say "request=1""#) == .say(words: "request=1"))
  }

  @Test(
    "each kind of malformed line is rejected with its own code",
    arguments: [
      ("fly 1,1", CommandError.Code.unknownCommand), (#""say" hi"#, .unknownCommand), ("text", .missingArgument),
      ("text 1,1", .missingArgument), ("text 1;1 hi", .badArgument), ("text nan,0 hi", .badArgument),
      ("text inf,0 hi", .badArgument), ("text 0x10,0 hi", .badArgument), ("text 1e400,0 hi", .badArgument),
      ("text 33554433,0 hi", .badArgument), ("text 1,1,1 hi", .badArgument), ("text 1,1 hi there", .unknownArgument),
      ("text 1,1 hi as=9", .badArgument), ("text 1,1 hi as=last", .badArgument),
      ("text 1,1 hi as=a as=b", .badArgument), (#"say "open"#, .syntax), (#"say "\x""#, .syntax), (#"say "\"#, .syntax),
      ("stroke", .missingArgument), ("stroke over=-1 0,0", .badArgument), ("move last", .missingArgument),
      ("move 0 1,1", .badArgument), ("move 12-short 1,1", .badArgument), ("move 12-abcdefghijk27 1,1", .noSuchObject),
      ("move 12-aaaaaaaaaaaaa 1,1", .noSuchObject), ("move 99999999999999999999 1,1", .badArgument),
      ("scale last 0", .badArgument), ("scale last 2 line=thin", .badArgument), ("scale last -1", .badArgument),
      ("rotate last x", .badArgument), ("select", .missingArgument), ("select last ,", .badArgument),
      ("select selected last 1,1", .badArgument), ("text 1,1 hi as=selected", .badArgument),
      ("move last other", .badArgument), ("scale a b", .badArgument), ("export", .missingArgument),
      ("copy", .missingArgument), ("paste here", .badArgument), ("export a.svg region=0,0,10", .badArgument),
      ("export a.svg region=0,0,10,0", .badArgument), ("export a.svg region=0,0,nan,5", .badArgument),
      ("export a.svg region=33554431,0,10,10", .badArgument), ("export a.png scale=0", .badArgument),
      ("export a.pdf page=a5", .badArgument), ("export a.pdf frames frame=1", .badArgument),
      ("export a.png scale=65", .badArgument), ("export a.svg b.svg", .unknownArgument),
      ("import a.png at=1", .badArgument), ("color last", .missingArgument), ("color last red", .badArgument),
      ("color last #12345", .badArgument), ("color last #1234567", .badArgument),
      ("color last #gggggg", .badArgument), ("width last 0", .badArgument), ("width last 1024.5", .badArgument),
      ("order last", .missingArgument), ("order last sideways", .badArgument),
      ("order last above=a below=b", .badArgument), ("order above=a", .missingArgument),
      ("group as=g", .missingArgument), ("ungroup a b", .unknownArgument), ("duplicate last by=1", .badArgument),
      ("duplicate last by=1,1 by=1,1", .badArgument), ("insert last 1", .missingArgument),
      ("insert last -1 x", .badArgument), ("insert last 1.5 x", .badArgument), ("insert last 65537 x", .badArgument),
      ("insert last 0 x replacing=65537", .badArgument), ("insert last 0 two words", .unknownArgument),
      ("erase", .missingArgument), ("erase 0,0 radius=0", .badArgument), ("erase 0,0 radius=x", .badArgument),
      ("erase 0,0 radius=1025", .badArgument), ("undo 2", .unknownArgument), ("point", .missingArgument),
      ("point none laser", .badArgument), ("point 1,1 light", .unknownArgument), ("view", .missingArgument),
      ("view 1,1 80", .missingArgument), ("view 1,1 80 none", .badArgument), ("view 1,1 0.4 24", .badArgument),
      ("view 1,1 80 67108865", .badArgument), ("view none 80 24", .unknownArgument), ("game wordle", .missingArgument),
      ("game chess 1,1", .badArgument), ("game connect-four 0,0 opponent=", .badArgument),
      ("play last", .missingArgument), (#"play last """#, .badArgument), ("find", .missingArgument),
      ("find 1,1 inside", .missingArgument), ("find 1,1 2,2 3,3", .unknownArgument), ("find text", .missingArgument),
      (#"find text " ""#, .badArgument), ("clear", .missingArgument), ("clear board", .missingArgument),
      ("align up", .badArgument), ("distribute", .missingArgument), ("set", .missingArgument),
      ("flip", .missingArgument),
      ("crop cat 0,0,50", .badArgument), ("crop cat 50,0,50,100", .badArgument), ("crop cat 0,0,101,100", .badArgument),
      ("link cat http://example.org", .badArgument), ("link cat", .missingArgument), ("vote cat", .missingArgument),
      ("vote cat 👍 on", .unknownArgument), ("vote cat 12345678901234567", .badArgument),
      ("comment cat", .missingArgument),
      ("resolve 5", .badArgument), ("text 1,2 a from=center", .badArgument),
      ("set title", .missingArgument), ("set colour #ffffff", .badArgument), ("set background white", .badArgument),
      ("set grid -1", .badArgument), ("set grid 65537", .badArgument), ("set language 1", .badArgument),
      ("set language abcdefghijklmnopq", .badArgument), ("set title Our plan", .unknownArgument),
      ("profile name=", .badArgument), ("profile Ada", .unknownArgument), ("checkpoint", .missingArgument),
      (#"checkpoint """#, .badArgument), ("diff", .missingArgument), ("diff a b c", .unknownArgument),
      ("restore", .missingArgument), ("save-as", .missingArgument), ("resource", .missingArgument),
      ("resource f --name", .missingArgument), ("resource f g --name n", .badArgument),
      (#"{"verb":"resource","files":["f"],"name":"n"}"#, .badArgument), (#"{"verb":"resource","files":[]}"#, .tooBig),
      ("wait", .missingArgument), ("wait peers=-1", .badArgument), ("wait peers=x", .badArgument),
      ("wait forever", .badArgument), ("wait 1e9", .badArgument), ("deselect now", .unknownArgument), ("{", .syntax),
      ("{}", .missingArgument), ("{\"verb\":\"digest\"} x", .syntax), ("{\"verb\":7}", .missingArgument),
      (#"{"verb":"text","at":[1],"text":"x"}"#, .badArgument),
      (#"{"verb":"text","at":[1,"2"],"text":"x"}"#, .badArgument),
      (#"{"verb":"text","at":[1e999,2],"text":"x"}"#, .syntax), (#"{"verb":"stroke","points":[]}"#, .missingArgument),
      (#"{"verb":"move","id":"last","to":[1,1],"by":[1,1]}"#, .badArgument),
      (#"{"verb":"move","id":"last"}"#, .missingArgument), (#"{"verb":"wait","peers":1.5}"#, .badArgument),
      (#"{"verb":"wait","peers":1,"objects":1}"#, .missingArgument), (#"{"verb":"wait","synced":false}"#, .badArgument),
      (#"{"verb":"send","text":"a","base64":"YQ=="}"#, .badArgument), (#"{"verb":"send","base64":"%"}"#, .badArgument),
      (#"{"verb":"send","text":"a","to":[]}"#, .badArgument), (#"{"verb":"select","id":-1}"#, .badArgument),
      (#"{"verb":"select","id":"last","at":[0,0]}"#, .unknownArgument), (#"{"verb":"select"}"#, .missingArgument),
      (#"{"verb":"select","ids":[]}"#, .missingArgument), (#"{"verb":"select","ids":"last"}"#, .badArgument),
      (#"{"verb":"select","ids":["last",{}]}"#, .badArgument), (#"{"verb":"select","ids":["last",-1]}"#, .badArgument),
      (#"{"verb":"select","id":"a","ids":["b"]}"#, .badArgument),
      (#"{"verb":"edit","ids":["a"],"text":"x"}"#, .unknownArgument),
      (#"{"verb":"insert","id":"a","at":[0,0],"text":"x"}"#, .badArgument),
      (#"{"verb":"insert","id":"a","at":1.5,"text":"x"}"#, .badArgument),
      (#"{"verb":"insert","id":"a","at":1e300,"text":"x"}"#, .badArgument),
      (#"{"verb":"insert","id":"a","text":"x"}"#, .missingArgument), (#"{"verb":"order","id":"a"}"#, .missingArgument),
      (#"{"verb":"order","id":"a","place":"up"}"#, .badArgument),
      (#"{"verb":"order","id":"a","place":"front","above":"b"}"#, .badArgument),
      (#"{"verb":"color","id":"a"}"#, .missingArgument), (#"{"verb":"color","id":"a","color":"red"}"#, .badArgument),
      (#"{"verb":"color","id":"a","color":16711680}"#, .badArgument),
      (#"{"verb":"width","id":"a","width":"thin"}"#, .badArgument),
      (#"{"verb":"erase","points":[]}"#, .missingArgument), (#"{"verb":"point","laser":true}"#, .badArgument),
      (#"{"verb":"point","at":[1,1],"laser":1}"#, .badArgument),
      (#"{"verb":"view","at":[1,1],"width":80}"#, .missingArgument),
      (#"{"verb":"view","width":80,"height":24}"#, .missingArgument),
      (#"{"verb":"view","at":[1,1],"width":80,"height":1e300}"#, .badArgument),
      (#"{"verb":"play","id":"a","move":1.5}"#, .badArgument), (#"{"verb":"play","id":"a","move":""}"#, .badArgument),
      (#"{"verb":"find","at":[0,0],"inside":true}"#, .missingArgument),
      (#"{"verb":"find","at":[0,0],"to":"x"}"#, .badArgument), (#"{"verb":"set"}"#, .missingArgument),
      (#"{"verb":"set","title":"a","grid":1}"#, .badArgument), (#"{"verb":"set","grid":"50"}"#, .badArgument),
      (#"{"verb":"diff","from":"a","to":["b"]}"#, .badArgument), (#"{"verb":"diff","to":"b"}"#, .missingArgument),
      (#"{"verb":"profile","icon":""}"#, .badArgument), (#"{"verb":"select","request":[1]}"#, .badArgument),
      (#"{"verb":"photo","at":[0,0],"file":"a\u0000b"}"#, .badArgument),
    ]
  ) func refusals(line: String, code: CommandError.Code) { #expect(failure(line)?.code == code) }

  @Test("[BRD-33] line ends and controls are normalized in words and in JSON alike") func controlCharacters() throws {
    func verb(_ line: String) throws -> Command? { try CommandParser.parse(line)?.command }
    let at = try #require(BoardPoint(x: 0, y: 0))
    let text = Command.text(at: at, words: "a\nb", color: nil, alias: nil)
    #expect(try verb("text 0,0 \"a\rb\"") == text)
    #expect(try verb(#"{"verb":"text","at":[0,0],"text":"a\r\nb\u0007"}"#) == text)
    #expect(try verb(#"{"verb":"say","text":"x\ry"}"#) == .say(words: "x\ny"))
    #expect(try verb(#"{"verb":"profile","name":"A\r\nB"}"#) == .profile(name: "A B", icon: nil))
    #expect(try verb(#"{"verb":"set","title":"A\tB\u001b"}"#) == .set(.title("A B")))
    #expect(try verb(#"{"verb":"checkpoint","name":"A\rB"}"#) == .checkpoint(name: "A B"))
    #expect(failure(#"{"verb":"profile","name":"\u0001"}"#)?.code == .badArgument)
    // `was` is compared with the board, on which another member may have written any text.
    let insert = try verb(#"{"verb":"insert","id":"last","at":0,"text":"\r","was":"a\r\nb"}"#)
    #expect(insert == .insert(.last, at: 0, words: "\n", replacing: 0, was: "a\r\nb"))
  }

  @Test("an error contains the usage of the command") func usageInErrors() {
    #expect(failure("move last")?.message.hasSuffix("Usage: move ID … X,Y|+DX,DY") == true)
    #expect(failure("say hi there")?.message.contains("double quotes") == true)
    #expect(failure("strok 0,0")?.message.contains("did you mean stroke?") == true)
    #expect(failure("xyzzy")?.message.contains("help verbs") == true)
    #expect(failure("colour last default")?.message.contains("did you mean color?") == true)
    #expect(failure("deselct")?.message.contains("did you mean deselect?") == true)
    #expect(failure("set colour red")?.message.contains("title, background, grid") == true)
    #expect(failure("game chess 0,0")?.message.contains("wordle and connect-four") == true)
  }

  @Test("lengths are accepted up to each limit and rejected above it") func limits() throws {
    let longest = String(repeating: "a", count: CommandLimits.maximumTextLength)
    #expect(try verb("say \(longest)") == .say(words: longest))
    #expect(failure("say \(longest)a")?.code == .tooBig)
    #expect(failure(#"{"verb":"say","text":"\#(longest)a"}"#)?.code == .tooBig)

    let name = String(repeating: "n", count: CommandLimits.maximumNameLength)
    #expect(try verb("resource f --name \(name)") == .resource(file: "f", name: name, to: []))
    #expect(failure("resource f --name \(name)n")?.code == .tooBig)

    let points = Array(repeating: "1,1", count: CommandLimits.maximumPoints).joined(separator: " ")
    let drawn: [BoardPoint] = try #require(try verb("stroke \(points)").argument())
    #expect(drawn.count == CommandLimits.maximumPoints)
    #expect(failure("stroke \(points) 1,1")?.code == .tooBig)

    let ids = Array(repeating: "7", count: CommandLimits.maximumReferences)
    #expect(try verb("delete " + ids.joined(separator: " ")).name == .delete)
    #expect(failure("delete 7 " + ids.joined(separator: " "))?.code == .tooBig)
    #expect(failure("move 7 " + ids.joined(separator: " ") + " 1,1")?.code == .tooBig)
    let list = ids.joined(separator: ",")
    #expect(try verb(#"{"verb":"delete","ids":[\#(list)]}"#).name == .delete)
    #expect(failure(#"{"verb":"delete","ids":[7,\#(list)]}"#)?.code == .tooBig)

    let path = Array(repeating: "1,1", count: CommandLimits.maximumErasePoints)
    #expect(try verb("erase " + path.joined(separator: " ")).name == .erase)
    #expect(failure("erase 1,1 " + path.joined(separator: " "))?.code == .tooBig)

    let title = String(repeating: "é", count: CommandLimits.maximumTitleLength / 2)
    #expect(try verb("set title \(title)") == .set(.title(title)))
    #expect(failure("set title \(title)a")?.code == .tooBig)
    #expect(try verb("checkpoint \(title)") == .checkpoint(name: title))
    #expect(failure(#"{"verb":"restore","name":"\#(title)a"}"#)?.code == .tooBig)

    let person = String(repeating: "p", count: CommandLimits.maximumPersonLength)
    #expect(try verb("profile name=\(person)") == .profile(name: person, icon: nil))
    #expect(failure("profile name=\(person)p")?.code == .tooBig)
    #expect(failure("profile icon=\(String(repeating: "i", count: 17))")?.message.contains("angel") == true)

    let line = [UInt8](repeating: 0x20, count: CommandParser.maximumLineLength)
    #expect(try CommandParser.parse(bytes: line) == nil)
    #expect(throws: CommandError.self) { try CommandParser.parse(bytes: line + [0x20]) }
  }

  @Test("no bytes make the parser trap, and the same bytes parse equally twice") func randomBytes() throws {
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
      if let request = try? CommandParser.parse(bytes: line) {
        readable += 1
        #expect(try CommandParser.parse(bytes: line) == request)
      }
    }
    #expect(readable > 1_000)
  }

  @Test("every command has its own entry in the table", arguments: CommandName.allCases)
  func entries(name: CommandName) { #expect(CommandTable.entry(name).name == name) }

  @Test("help lists every command with its usage") func help() throws {
    for name in CommandName.allCases { #expect(CommandTable.text.contains("\n  \(CommandTable.entry(name).usage)\n")) }
    #expect(try CommandTable.help("move").contains("JSON keys: verb, id, ids, to, by, request"))
  }
}
