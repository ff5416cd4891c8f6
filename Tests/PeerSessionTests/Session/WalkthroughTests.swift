import Foundation
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// `Protocol/Vectors/walkthrough.json`, which another implementation created.
private struct Walkthrough: Decodable {
  struct Person: Decodable {
    var name: String
    var keyInfo: Hex
    var certificate: Hex
    var peerID: Hex
    var peerIDText: String
    var sessionIncarnation: String
  }

  struct Exporters: Decodable {
    var binding: Hex
    var attachControl: Hex
    var attachBulk: Hex
  }

  struct Proofs: Decodable {
    var joiner: Hex
    var host: Hex
  }

  struct Step: Decodable, CustomTestStringConvertible, Sendable {
    var title: String
    var from: String
    var link: String
    var frame: String
    var hex: String
    var message: String?
    var testDescription: String { "\(title) of \(from)" }
  }

  var people: [Person]
  var session: Hex
  var sessionText: String
  var code: String
  var stretchedCode: Hex
  var exporters: Exporters
  var proofs: Proofs
  var ticketInput: Hex
  var answer: Hex
  var steps: [Step]

  static let all: Walkthrough = {
    do {
      return try JSONDecoder().decode(
        Walkthrough.self,
        from: Data(contentsOf: AdmissionVectors.protocolFile("Vectors/walkthrough.json"))
      )
    } catch { preconditionFailure("Protocol/Vectors/walkthrough.json: \(error)") }
  }()
}

/// The session of `Protocol/Walkthrough.md`, with this program's own encoders.
struct WalkthroughTests {
  private static let told = Walkthrough.all
  private let told = Walkthrough.all

  private func person(_ name: String) throws -> Walkthrough.Person {
    try #require(told.people.first { $0.name == name })
  }

  private func id(_ name: String) throws -> PeerID { try #require(PeerID(bytes: try person(name).peerID.bytes)) }

  private func payload(_ step: Walkthrough.Step) throws -> (FrameType, [UInt8]) {
    let frame = bytes(step.hex)
    var offset = 0
    let isEarly = ["HELLO", "CODE-PROOF", "ACCEPT", "ATTACH", "ATTACHED"].contains(step.frame)
    let header = try #require(
      try FrameHeader.read(
        from: frame.span,
        at: &offset,
        limit: isEarly ? Limits.framePayloadBeforeAdmission : Limits.framePayload
      )
    )
    #expect(frame.count - offset == header.length)
    return (try #require(header.type), Array(frame[offset...]))
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).map {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
    }
  }

  private func step(_ frame: String) throws -> Walkthrough.Step { try #require(told.steps.first { $0.frame == frame }) }

  @Test("[LNK-2] each certificate of the walkthrough has the PeerID beside it") func identities() throws {
    #expect(told.people.map(\.name) == ["anna", "ben"])
    for person in told.people {
      let id = try PeerID(certificateDER: person.certificate.bytes)
      #expect(id.bytes == person.peerID.bytes)
      #expect(id.text == person.peerIDText)
      #expect(PeerID(spki: person.keyInfo.bytes) == id)
    }
    #expect(SessionID(bytes: told.session.bytes)?.text == told.sessionText)
  }

  @Test(
    "[FRM-1] [FRM-5] each frame of the walkthrough is decoded, and encoded to the same bytes",
    arguments: told.steps
  ) private func frames(step: Walkthrough.Step) throws {
    let (type, payload) = try payload(step)
    let again: [UInt8]
    switch type {
    case .hello where step.from == "ben": again = try Control.DiallerHello.decode(payload).encoded()
    case .hello: again = try Control.ListenerHello.decode(payload).encoded()
    case .codeProof: again = try Control.CodeProof.decode(payload).encoded()
    case .accept: again = try Control.Accept.decode(payload).encoded()
    case .bulkRequest: again = try Control.BulkRequest.decode(payload).encoded()
    case .attach: again = try Control.Attach.decode(payload).encoded()
    case .attached: again = try Control.Attached.decode(payload).encoded()
    case .resourceOffer: again = try Control.ResourceOffer.decode(payload).encoded()
    case .resourceAccept: again = try Control.ResourceAccept.decode(payload).encoded()
    case .resourceStart: again = try Control.ResourceStart.decode(payload).encoded()
    case .resourceEnd: again = try Control.ResourceEnd.decode(payload).encoded()
    case .resourceDone: again = try Control.ResourceDone.decode(payload).encoded()
    case .close: again = try Control.Close.decode(payload).encoded()
    case .message:
      var offset = 0
      let part = try MessagePart.read(from: payload.span, at: &offset)
      #expect(part.isFirst && part.isLast)
      let message = bytes(try #require(step.message))
      #expect(Array(payload[offset...]) == message)
      var head: [UInt8] = []
      part.append(to: &head)
      again = head + message
    case .ack:
      var written: [UInt8] = []
      Acknowledgement.append(try Acknowledgement.read(payload: payload.span), to: &written)
      again = written
    case .chunk:
      #expect(payload == told.answer.bytes)
      again = payload
    case .ping, .pong:
      #expect(payload.count == 8)
      again = payload
    default:
      Issue.record("no frame of the walkthrough")
      return
    }
    #expect(again == payload)
  }

  @Test("[MSG-2] [MSG-4] parts are numbered from 1, and only sent messages are acknowledged") func numbering() throws {
    var sent: [String: UInt64] = [:]
    for step in told.steps where step.frame == "MESSAGE" || step.frame == "ACK" {
      let (type, payload) = try payload(step)
      if type == .message {
        var offset = 0
        let part = try MessagePart.read(from: payload.span, at: &offset)
        #expect(part.sequence == sent[step.from, default: 0] + 1)
        sent[step.from] = part.sequence
      } else {
        let other = step.from == "ben" ? "anna" : "ben"
        #expect(try Acknowledgement.read(payload: payload.span) == sent[other])
      }
    }
  }

  @Test("[ADM-1] the proofs of the walkthrough are those of its code") func proofs() throws {
    let (anna, ben) = (try id("anna"), try id("ben"))
    let session = try #require(SessionID(bytes: told.session.bytes))
    let key = CodeKey(code: try JoinCode(words: told.code), session: session, listener: anna)
    #expect(key.bytes == told.stretchedCode.bytes)
    let binding = told.exporters.binding.bytes
    let joiner = key.proof(of: .joiner, binding: binding, dialler: ben)
    let host = key.proof(of: .host, binding: binding, dialler: ben)
    #expect(joiner.bytes == told.proofs.joiner.bytes)
    #expect(host.bytes == told.proofs.host.bytes)
    #expect(try Control.CodeProof.decode(try payload(step("CODE-PROOF")).1).proof == joiner)
    #expect(try Control.Accept.decode(try payload(step("ACCEPT")).1).proof == host)
  }

  @Test("[TCK-1] the ticket of the walkthrough admits Ben and no other peer") func ticket() throws {
    let accept = try Control.Accept.decode(try payload(step("ACCEPT")).1)
    let ticket = try #require(accept.ticket)
    let (anna, ben) = (try id("anna"), try id("ben"))
    let session = try #require(SessionID(bytes: told.session.bytes))
    #expect(accept.host == anna)
    #expect(Ticket.signedBytes(session: session, admitter: anna, member: ben) == told.ticketInput.bytes)
    try ticket.verify(session: session, member: ben, mayAdmit: { $0 == anna })
    #expect(throws: TicketError.invalid) { try ticket.verify(session: session, member: anna, mayAdmit: { $0 == anna }) }
  }

  @Test("[BLK-1] the proof of ATTACH depends on both connections") func attach() throws {
    let attach = try Control.Attach.decode(try payload(step("ATTACH")).1)
    #expect(attach.opener == .listener)
    #expect(attach.incarnation.text == (try person("ben").sessionIncarnation))
    #expect(attach.proof == attachProof(told.exporters.attachControl.bytes, told.exporters.attachBulk.bytes))
  }
}
