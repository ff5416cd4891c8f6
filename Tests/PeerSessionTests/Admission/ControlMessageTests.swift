import Foundation
import PeerCore
import PeerDiscovery
import PeerTestKit
import PeerWire
import Testing

@testable import PeerSession

/// One payload of each type, and all ways in which its values can be wrong.
struct ControlMessageTests {
  static let peer = PeerIdentity.ephemeral().peerID
  static let session = SessionID.random()
  static let id = TransferID.random()
  static let hash = String(repeating: "0a", count: 32)
  static let proof = Base64.encode(Array(0..<32))
  static let ticket = "{\"admitter\":\"\(peer.text)\",\"key\":\"AAEC\",\"signature\":\"AA==\"}"
  static let member =
    "{\"addresses\":[\"10.0.0.1\",\"fe80::1\"],\"incarnation\":\"aaaaaaaaaaaaa\",\"name\":\"Mia\","
    + "\"peer\":\"\(peer.text)\",\"port\":26273,\"role\":\"relay\"}"
  static let recommended = "{\"addresses\":[\"10.0.0.1\"],\"peer\":\"\(peer.text)\",\"port\":1}"
  static let introduction =
    "\"addresses\":[],\"incarnation\":\"aaaaaaaaaaaac\",\"links\":3,\"name\":\"Zoë\",\"port\":0,"
    + "\"protocol\":[1,2],\"role\":\"member\",\"session\":\"\(session.text)\""

  /// Texts with sorted keys, to which the decoded payloads must encode.
  static let valid: [(any ControlPayload.Type, String)] = [
    (Control.DiallerHello.self, "{\(introduction)}"),
    (
      Control.DiallerHello.self,
      "{\"addresses\":[],\"incarnation\":\"aaaaaaaaaaaac\","
        + "\"invitation\":{\"context\":\"AQI=\",\"pass\":\"\(session.text)\",\"timeout\":1000},\"links\":3,\"name\":\"Zoë\","
        + "\"port\":0,\"protocol\":[1,1],"
        + "\"resume\":{\"incarnation\":\"aaaaaaaaaaaae\",\"received\":9007199254740991},"
        + "\"role\":\"member\",\"session\":\"\(session.text)\",\"ticket\":\(ticket)}"
    ),
    (
      Control.ListenerHello.self,
      "{\"addresses\":[],\"admission\":\"ask\",\"incarnation\":\"aaaaaaaaaaaac\",\"links\":3,"
        + "\"name\":\"Zoë\",\"port\":65535,\"protocol\":[1,2],\"role\":\"relay\"," + "\"session\":\"\(session.text)\"}"
    ), (Control.Accept.self, "{\"host\":\"\(peer.text)\",\"maximum\":16,\"members\":[]}"),
    (
      Control.Accept.self,
      "{\"host\":\"\(peer.text)\",\"maximum\":2,\"members\":[\(member)],\"proof\":\"\(proof)\","
        + "\"resume\":{\"received\":0},\"ticket\":\(ticket)}"
    ), (Control.Close.self, "{\"code\":\"left\",\"message\":\"\"}"),
    (Control.CodeProof.self, "{\"proof\":\"\(proof)\"}"), (Control.ShortWordsCommit.self, "{\"commit\":\"\(proof)\"}"),
    (Control.ShortWordsNonce.self, "{\"nonce\":\"\(proof)\"}"),
    (Control.ShortWordsReveal.self, "{\"nonce\":\"\(proof)\"}"),
    (Control.Members.self, "{\"members\":[\(member),\(member)]}"),
    (Control.Members.self, "{\"members\":[],\"relays\":[\(recommended),\(recommended)]}"),
    (Control.Kick.self, "{\"peer\":\"\(peer.text)\",\"reason\":\"noise\"}"),
    (Control.Addresses.self, "{\"addresses\":[\"::1\"],\"port\":1}"), (Control.BulkRequest.self, "{\"count\":8}"),
    (RelayGrant.self, "{\"key\":\"AAEC\",\"signature\":\"AA==\"}"),
    (
      Control.Attach.self,
      "{\"incarnation\":\"aaaaaaaaaaaaa\",\"opener\":\"listener\",\"proof\":\"\(proof)\","
        + "\"session\":\"\(session.text)\"}"
    ), (Control.Attached.self, "{}"), (Control.ResourceOffer.self, "{\"id\":\"\(id.text)\",\"name\":\"\",\"size\":0}"),
    (
      Control.ResourceOffer.self,
      "{\"id\":\"\(id.text)\",\"modified\":-5,\"name\":\"a/../b\\n\",\"size\":9007199254740991}"
    ), (Control.ResourceAccept.self, "{\"id\":\"\(id.text)\",\"offset\":0}"),
    (Control.ResourceAccept.self, "{\"id\":\"\(id.text)\",\"offset\":1,\"prefix\":\"\(hash)\"}"),
    (Control.ResourceStart.self, "{\"id\":\"\(id.text)\",\"offset\":7}"),
    (Control.ResourceEnd.self, "{\"id\":\"\(id.text)\",\"sha256\":\"\(hash)\"}"),
    (Control.ResourceDone.self, "{\"id\":\"\(id.text)\"}"),
    (Control.ResourceCancel.self, "{\"code\":\"hash-mismatch\",\"id\":\"\(id.text)\",\"message\":\"x\"}"),
    (Control.WebChallenge.self, "{\"nonce\":\"\(proof)\",\"peer\":\"\(String(repeating: "a", count: 52))\"}"),
    (Control.WebProof.self, "{\"key\":\"AA==\",\"nonce\":\"\(proof)\",\"signature\":\"AQ==\"}"),
    (Control.StreamOpen.self, "{\"id\":\"\(id.text)\",\"name\":\"log\"}"),
    (Control.StreamReset.self, "{\"code\":4294967295,\"id\":\"\(id.text)\",\"message\":\"x\"}"),
  ]

  private func roundTrip(_ type: any ControlPayload.Type, _ text: String) throws -> String {
    String(decoding: try type.decode(Array(text.utf8)).encoded(), as: UTF8.self)
  }

  private func error(_ type: any ControlPayload.Type, _ text: String) -> ControlMessageError? {
    do throws(ControlMessageError) {
      _ = try type.decode(Array(text.utf8))
      return nil
    } catch { return error }
  }

  @Test("every payload is decoded, and encoded in one form") func roundTrips() throws {
    for (type, text) in Self.valid { #expect(try roundTrip(type, text) == text) }
    let types = Set(Self.valid.map { $0.0.frameType })
    #expect(types == Set(FrameType.allCases.filter(\.isControl)))
  }

  @Test("[FRM-5] unknown keys are ignored at every level") func unknownKeys() throws {
    for (type, text) in Self.valid {
      let more = text.replacing("{", with: "{\"zz\":[{\"\":null}],").replacing(",}", with: "}")
      #expect(try roundTrip(type, more) == text)
    }
  }

  @Test("[FRM-5] the error names a required key that is missing, and a value of the wrong type") func keys() throws {
    let optional: Set = ["resume", "ticket", "invitation", "proof", "modified", "relays"]
    var tried = 0
    for (type, text) in Self.valid {
      let object = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      for key in object.keys {
        var changed = object
        changed[key] = nil
        let without = String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self)
        let isOptional = optional.contains(key) && !(type == Control.CodeProof.self) && !(type == Control.Attach.self)
        if isOptional {
          #expect(error(type, without) == nil, "\(type) without \(key)")
        } else {
          #expect(error(type, without) == .missing(key), "\(type) without \(key)")
        }
        // An object with unknown keys is a valid invitation.
        for wrong: Any in [true, key == "invitation" ? "x" : ["x": 1], 1.5, [1.5]] {
          changed[key] = wrong
          let bytes = String(decoding: try JSONSerialization.data(withJSONObject: changed), as: UTF8.self)
          let found = error(type, bytes)
          #expect(found != nil && found != .notJSON, "\(type) with \(key) = \(wrong)")
          tried += 1
        }
      }
    }
    #expect(tried > 200)
  }

  @Test("values just inside their range are accepted, and those just outside are rejected") func ranges() throws {
    func name(_ count: Int) -> String { String(repeating: "n", count: count) }
    func hello(_ old: String, _ new: String) -> (any ControlPayload.Type, String) {
      (Control.DiallerHello.self, "{\(Self.introduction.replacing(old, with: new))}")
    }
    func addresses(_ texts: [String]) -> (any ControlPayload.Type, String) {
      let list = texts.map { "\"\($0)\"" }.joined(separator: ",")
      return (Control.Addresses.self, "{\"addresses\":[\(list)],\"port\":1}")
    }
    func members(_ count: Int) -> (any ControlPayload.Type, String) {
      let list = Array(repeating: Self.member, count: count).joined(separator: ",")
      return (Control.Members.self, "{\"members\":[\(list)]}")
    }
    func relays(_ count: Int, port: Int = 1) -> (any ControlPayload.Type, String) {
      let list = Array(repeating: Self.recommended, count: count).joined(separator: ",")
      return (Control.Members.self, "{\"members\":[],\"relays\":[\(list.replacing(":1}", with: ":\(port)}"))]}")
    }
    func invitation(_ text: String) -> (any ControlPayload.Type, String) {
      (Control.DiallerHello.self, "{\(Self.introduction),\"invitation\":\(text)}")
    }
    func context(_ count: Int) -> String { Base64.encode([UInt8](repeating: 1, count: count)) }
    func offer(_ size: String, _ name: String) -> (any ControlPayload.Type, String) {
      (Control.ResourceOffer.self, "{\"id\":\"\(Self.id.text)\",\"name\":\"\(name)\",\"size\":\(size)}")
    }
    func close(_ message: String) -> (any ControlPayload.Type, String) {
      (Control.Close.self, "{\"code\":\"left\",\"message\":\"\(message)\"}")
    }
    let inside = [
      hello("Zoë", name(64)), hello("Zoë", String(repeating: "ë", count: 32)), hello("[1,2]", "[0,9007199254740991]"),
      hello("\"port\":0", "\"port\":65535"), hello("\"role\":\"member\"", "\"role\":\"future\",\"zz\":[1.5e3,-0.0]"),
      hello("\"port\":0", "\"port\":-0"), invitation("null"), invitation("{\"timeout\":null,\"context\":null}"),
      addresses([]), addresses(Array(repeating: "1.2.3.4", count: 16)), addresses(["::ffff:1.2.3.4"]), members(0),
      members(256), relays(16), relays(1, port: 65_535), invitation("{}"), invitation("{\"timeout\":600000}"),
      invitation("{\"context\":\"\(context(1_024))\"}"), offer("9007199254740991", "x"), offer("1", name(16_384)),
      close(name(512)), (Control.StreamOpen.self, "{\"id\":\"\(Self.id.text)\",\"name\":\"\(name(1_024))\"}"),
      (Control.Close.self, "{\"code\":\"from-the-future\",\"message\":\"\"}"),
    ]
    for (type, text) in inside { #expect(error(type, text) == nil, "\(text.prefix(80))") }
    let outside: [((any ControlPayload.Type, String), String)] = [
      (hello("Zoë", ""), "name"), (hello("Zoë", name(65)), "name"),
      (hello("Zoë", String(repeating: "ë", count: 33)), "name"), (hello("Zoë", "a\\u0000b"), "name"),
      (hello("[1,2]", "[2,1]"), "protocol"), (hello("[1,2]", "[1,2,3]"), "protocol"),
      (hello("[1,2]", "[-1,2]"), "protocol"), (hello("[1,2]", "[1,9007199254740992]"), "protocol"),
      (hello("\"port\":0", "\"port\":65536"), "port"), (hello("\"port\":0", "\"port\":-1"), "port"),
      (hello("\"links\":3", "\"links\":9007199254740992"), "links"),
      (hello("\"links\":3", "\"links\":18446744073709551616"), "links"),
      (hello("\"links\":3", "\"links\":1e300"), "links"), (hello("\"links\":3", "\"links\":3.0"), "links"),
      (hello("\"links\":3", "\"links\":3e0"), "links"),
      (hello("\"links\":3", "\"zz\":\"\\\\\\\"\",\"links\":30E-1"), "links"), (hello("[1,2]", "[1.0,2]"), "protocol"),
      (hello("aaaaaaaaaaaac", "aaaaaaaaaaaab"), "incarnation"),
      (hello("aaaaaaaaaaaac", "AAAAAAAAAAAAC"), "incarnation"),
      (addresses(Array(repeating: "1.2.3.4", count: 17)), "addresses"), (addresses(["fe80::1%eth0"]), "addresses"),
      (addresses(["example.org"]), "addresses"), (addresses(["1.2.3.4 "]), "addresses"), (addresses([""]), "addresses"),
      (addresses(["1.2.3.4\\u0000"]), "addresses"), (members(257), "members"),
      (relays(17), "relays"), (relays(1, port: 0), "relays"), (relays(1, port: 65_536), "relays"),
      (invitation("{\"timeout\":999}"), "invitation.timeout"),
      (invitation("{\"timeout\":600001}"), "invitation.timeout"),
      (invitation("{\"context\":\"\(context(1_025))\"}"), "invitation.context"),
      (invitation("{\"context\":\"AA\"}"), "invitation.context"),
      (invitation("{\"context\":\"AB==\"}"), "invitation.context"), (offer("9007199254740992", "x"), "size"),
      (offer("-1", "x"), "size"), (offer("1", name(16_385)), "name"), (offer("1", "a\\u0000"), "name"),
      (close(name(513)), "message"), ((Control.BulkRequest.self, "{\"count\":0}"), "count"),
      ((Control.BulkRequest.self, "{\"count\":9}"), "count"),
      ((Control.CodeProof.self, "{\"proof\":\"AAAA\"}"), "proof"),
      ((Control.CodeProof.self, "{\"proof\":\"\(Base64.encode(Array(0..<33)))\"}"), "proof"),
      ((Control.ResourceAccept.self, "{\"id\":\"\(Self.id.text)\",\"offset\":1,\"prefix\":\"0\"}"), "prefix"),
      ((Control.ResourceEnd.self, "{\"id\":\"\(Self.id.text)\",\"sha256\":\"\(Self.hash.uppercased())\"}"), "sha256"),
      ((Control.StreamReset.self, "{\"code\":4294967296,\"id\":\"\(Self.id.text)\",\"message\":\"\"}"), "code"),
    ]
    for ((type, text), key) in outside {
      switch error(type, text) {
      case .outOfRange(let path), .wrongType(let path):
        #expect(path == key || path.hasPrefix(key + "."), "\(text.prefix(80))")
      case let other: Issue.record("\(String(describing: other)) for \(text.prefix(80))")
      }
    }
    #expect(error(Control.ResourceAccept.self, "{\"id\":\"\(Self.id.text)\",\"offset\":1}") == .missing("prefix"))
  }

  @Test("[FRM-5] a payload that is not one JSON object within the limits is rejected") func notJSON() {
    for text in [
      "", " ", "[]", "1", "null", "{", "{}x", "{} {}", "\u{FEFF}{}", "{\"a\":1,\"a\":2}",
      "{\"a\":\(String(repeating: "[", count: 16))\(String(repeating: "]", count: 16))}", "{\"a\":\"\u{1}\"}", "{a:1}",
      "{\"a\":01}", "{\"a\":NaN}",
    ] { #expect(error(Control.Attached.self, text) == .notJSON, "\(text)") }
    for bytes: [UInt8] in [
      Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8), [0x7B, 0x00, 0x7D, 0x00],
      [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00],
    ] { #expect(throws: ControlMessageError.notJSON) { try Control.Attached.decode(bytes) } }
    // Swift's String considers these keys equal; here they are two unknown keys.
    #expect(error(Control.Attached.self, "{\"\u{E9}\":1,\"e\u{301}\":2}") == nil)
    #expect(error(Control.Attached.self, "{\"a\":\"\\ud83d\\ude00\"}") == nil)
  }

  @Test("a randomly damaged payload is rejected or decodes to legal values") func damage() throws {
    let seed: UInt64 = 99
    var generator = SeededGenerator(seed: seed)
    func check(_ type: (some ControlPayload).Type, _ bytes: [UInt8]) -> Bool {
      guard let value = try? type.decode(bytes) else { return false }
      return (try? type.decode(value.encoded())) == value
    }
    var read = 0
    var refused = 0
    for _ in 0..<200 {
      for (type, text) in Self.valid {
        var bytes = Array(text.utf8)
        bytes.mutate(using: &generator)
        guard (try? JSONReader.strict(bytes)) != nil, error(type, bytes) == nil else {
          refused += 1
          continue
        }
        let isLegal = check(type, bytes)
        #expect(isLegal, "seed \(seed) \(String(decoding: bytes, as: UTF8.self))")
        read += 1
      }
    }
    #expect(read > 20 && refused > 1_000)
  }

  private func error(_ type: any ControlPayload.Type, _ bytes: [UInt8]) -> ControlMessageError? {
    do throws(ControlMessageError) {
      _ = try type.decode(bytes)
      return nil
    } catch { return error }
  }

  @Test("explanations are cut to 512 bytes between characters") func explanations() {
    let long = String(repeating: "ë", count: 400)
    #expect(Control.Close(.left, long).message.raw.utf8.count == 512)
    #expect(Control.Close(.left, "x" + long).message.raw.utf8.count == 511)
    #expect(Control.Kick(peer: Self.peer, reason: long).reason.raw.utf8.count == 512)
    #expect(error(Control.Close.self, Control.Close(.left, "x" + long).encoded()) == nil)
  }

  @Test("[FRM-1] members that do not fit in ACCEPT follow in MEMBERS, and each fits its frame") func sizes() throws {
    let members = (0..<256).map { number in
      Control.Member(
        peer: PeerID(spki: [UInt8(number)]),
        name: UntrustedText(String(repeating: "\"", count: 64)),
        incarnation: SessionIncarnation(UInt64(number)),
        port: 65_535,
        addresses: Array(repeating: "2001:db8:1111:2222:3333:4444:5555:6666", count: Limits.addresses),
        role: .member
      )
    }
    let accept = Control.Accept(host: Self.peer, maximum: 300, members: members, proof: ProofBytes.random())
    let (fitting, rest) = accept.fitting(Limits.acceptPayload)
    #expect(fitting.encoded().count <= Limits.acceptPayload)
    #expect(!fitting.members.isEmpty)
    let frames = Control.Members.split(rest)
    #expect(frames.count > 1)
    for frame in frames { #expect(frame.encoded().count <= Limits.framePayload) }
    #expect(fitting.members + frames.flatMap(\.members) == members)
    #expect(Control.Members.split([]) == [])
    let small = Control.Accept(host: Self.peer, maximum: 3, members: Array(members.prefix(1)))
    #expect(small.fitting(Limits.framePayload).accept == small)
    let many = (0..<600).map { _ in Control.Members.split(Array(members.prefix(1)))[0].members[0] }
    #expect(Control.Members.split(many).allSatisfy { $0.members.count <= Limits.members })
  }
}
