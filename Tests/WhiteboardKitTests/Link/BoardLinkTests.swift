import Testing

@testable import WhiteboardKit

@Suite struct BoardLinkTests {
  private let board = "abcdefghijklmnopqrstuvwxyz"
  private let peer = String(repeating: "abcdefghijkl2", count: 4)

  @Test("a link is encoded and decoded with all its parts") func roundTrips() throws {
    for (host, port) in [("192.168.1.20", 26_273), ("fe80::1%eth0", 1), ("2001:db8::1", 65_535), ("anna-pc.local", 80)]
    {
      for code in [[], ["river", "moss", "candle", "frost"]] {
        let address = try #require(HostPort(host: host, port: port))
        for (peer, pass) in [(peer, nil), (peer, board), (nil, board)] {
          let link = BoardLink(address: address, board: board, peer: peer, pass: pass, code: code)
          #expect(try BoardLink(link.text) == link)
        }
      }
    }
  }

  @Test("an IPv6 address is in brackets, with its scope after %25") func scope() throws {
    let address = try #require(HostPort(host: "fe80::1%eth0", port: 26_273))
    let link = BoardLink(address: address, board: board, peer: peer, code: ["a", "b"])
    #expect(link.text == "whiteboard://[fe80::1%25eth0]:26273/\(board)?peer=\(peer)#a-b")
    #expect(address.description == "[fe80::1%eth0]:26273")
  }

  @Test("the description of a link shows neither the pass nor the code") func secrecy() throws {
    let pass = String(repeating: "p", count: 26)
    let link = try BoardLink("whiteboard://10.0.0.1:1/\(board)?peer=\(peer)&pass=\(pass)#river-moss-candle-frost")
    #expect(!"\(link)".contains("river"))
    #expect(!"\(link)".contains(pass))
    #expect(link.pass == pass)
    #expect(link.code == ["river", "moss", "candle", "frost"])
  }

  @Test("case is ignored, unknown parameters are skipped, and the peer is optional") func lenience() throws {
    let link = try BoardLink("WHITEBOARD://10.0.0.1/\(board.uppercased())?x=1&peer=\(peer.uppercased())&y#River-MOSS")
    #expect(link.address.port == HostPort.defaultPort)
    #expect(link.peer == peer)
    #expect(link.code == ["river", "moss"])
    #expect(try BoardLink("whiteboard://10.0.0.1:5/\(board)").peer == nil)
  }

  @Test("each kind of bad link has its own error") func refusals() {
    func error(_ text: String) -> LinkError? {
      do throws(LinkError) {
        _ = try BoardLink(text)
        return nil
      } catch { return error }
    }
    let good = "whiteboard://10.0.0.1:5/\(board)"
    #expect(error(good) == nil)
    #expect(error("http://10.0.0.1:5/\(board)") == .notALink)
    #expect(error("") == .notALink)
    #expect(error("whiteboard://") == .badAddress)
    #expect(error("whiteboard://10.0.0.1:0/\(board)") == .badAddress)
    #expect(error("whiteboard://10.0.0.1:65536/\(board)") == .badAddress)
    #expect(error("whiteboard://fe80::1:5/\(board)") == .badAddress)
    #expect(error("whiteboard://[fe80::1%eth0]:5/\(board)") == .badAddress)
    #expect(error("whiteboard://[fe80::1:5/\(board)") == .badAddress)
    #expect(error("whiteboard://a b:5/\(board)") == .badAddress)
    #expect(error("whiteboard://10.0.0.1:5") == .badBoard)
    #expect(error("whiteboard://10.0.0.1:5/\(board)x") == .badBoard)
    #expect(error("whiteboard://10.0.0.1:5/\(board.dropLast())1") == .badBoard)
    #expect(error("\(good)?peer=abc") == .badPeer)
    #expect(error("\(good)?peer=\(peer)&peer=\(peer)") == .badPeer)
    #expect(error("\(good)?pass=abc") == .badPass)
    #expect(error("\(good)?pass=\(board)&pass=\(board)") == .badPass)
    #expect(error("\(good)#a--b") == .badCode)
    #expect(error("\(good)#a-b1") == .badCode)
    #expect(error("\(good)#" + String(repeating: "a", count: 1_024)) == .tooLong)
  }

  @Test("a link is read without blanks, quotes, brackets and the command around it") func wrapping() throws {
    let text = "whiteboard://10.0.0.1:26273/\(String(repeating: "a", count: 26))"
    let link = try BoardLink(text)
    for wrapped in [
      " \(text)\n", "<\(text)>", "'\(text)'", "“\(text)”", "whiteboard-peer join '\(text)'",
      "  whiteboard-peer join <\(text)> ", "\u{FEFF}\(text)", "\u{200B}\(text)\u{200D}\u{2060}",
      "«\u{A0}\(text)\u{A0}»",
      "‹\(text)›", "„\(text)“", "「\(text)」", "(\(text)).", "`\(text)`", "\u{FEFF}\u{201C}\(text)\u{200B}\u{201D}",
      "whiteboard-\u{200B}peer join “\(text)”",
    ] { #expect(try JoinTarget(wrapped) == .link(link), "\(wrapped)") }
    #expect(try JoinTarget("whiteboard-peer join") == .name("whiteboard-peer join"))
    #expect(try JoinTarget("<plan>") == .name("<plan>"))
  }

  @Test("the target of `join` is a link, an address or a name") func targets() throws {
    #expect(try JoinTarget(nil) == .nearby)
    for blank in ["", " ", "\n\t", "\u{FEFF}", "\u{200B}\u{2060} "] {
      #expect(throws: LinkError.noName, "\(blank.debugDescription)") { try JoinTarget(blank) }
    }
    let link = "whiteboard://10.0.0.1:80/\(String(repeating: "a", count: 26))"
    for text in [" \(link)\n", "<\(link)>", "\"\(link)\"", "“<\(link)> ”"] {
      #expect(try JoinTarget(text) == .link(BoardLink(link)), "\(text)")
    }
    #expect(try JoinTarget("<3") == .name("<3"))
    #expect(try JoinTarget("standup") == .name("standup"))
    #expect(try JoinTarget("10.0.0.1") == .address(try #require(HostPort(host: "10.0.0.1", port: 26_273))))
    #expect(try JoinTarget("anna.local:80") == .address(try #require(HostPort(host: "anna.local", port: 80))))
    #expect(try JoinTarget("[::1]:80") == .address(try #require(HostPort(host: "::1", port: 80))))
    #expect(try JoinTarget("fe80::1%eth0") == .address(try #require(HostPort(host: "fe80::1%eth0", port: 26_273))))
    #expect(try JoinTarget("plan: b") == .name("plan: b"))
    #expect(try JoinTarget("plan:b") == .name("plan:b"))
    #expect(try JoinTarget("[team] board") == .name("[team] board"))
    for text in ["10.0.0.1:0", "10.0.0.1:x", "anna.local:65536", "[::1]:0", "[::1]:x"] {
      #expect(throws: LinkError.badPort, "\(text)") { try JoinTarget(text) }
    }
    for text in ["http://10.0.0.1:26273/", "whiteboards://10.0.0.1"] {
      #expect(throws: LinkError.notALink, "\(text)") { try JoinTarget(text) }
    }
    #expect(throws: LinkError.badBoard) { try JoinTarget("whiteboard://10.0.0.1:5/") }
  }
}
