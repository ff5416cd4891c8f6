import Crypto
import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

@testable import PeerSession

/// Sends any frames in any state of a real link over TLS.
///
/// A stranger's bytes may end only its own link, and every answer must consist of frames.
func fuzzLink(_ input: inout Input) {
  var stranger = Stranger(&input)
  var steps = 0
  while !input.isEmpty && steps < 64 && stranger.step(&input) { steps += 1 }
  stranger.leave()
  runs += 1
  if runs.isMultiple(of: 50) { checkHealth() }
}

// Used only on the fuzzer's one thread.
nonisolated(unsafe) private var runs = 0

private struct Stranger {
  private var control: LinkConnection?
  private var bulk: LinkConnection?
  private let identity: Int
  private let place: LinkWorld.Place
  private let incarnation: SessionIncarnation
  private var sequence: UInt64 = 1
  private var isOpen = false
  private var transfer: TransferID

  init(_ input: inout Input) {
    let choice = input.byte()
    identity = Int(choice & 3) % 3
    let places = LinkWorld.Place.allCases
    place = places[Int(choice >> 2 & 7) % places.count]
    incarnation = SessionIncarnation(UInt64(choice >> 5))
    transfer = Self.transfer(choice)
    control = try? Dialled.dial(identity)
    // The first messages are mostly valid, so that the fuzzer reaches the states behind them.
    if choice != 0xFF {
      control?.send(frame(.hello, hello.encoded()))
      look()
    }
  }

  private static func transfer(_ byte: UInt8) -> TransferID {
    guard let id = TransferID(bytes: [UInt8](repeating: byte, count: 16)) else { preconditionFailure("16 bytes") }
    return id
  }

  private var hello: Control.DiallerHello {
    Control.DiallerHello(
      introduction: Control.Introduction(
        session: LinkWorld.session(place),
        name: UntrustedText("stranger"),
        incarnation: incarnation,
        port: 0,
        addresses: ["192.0.2.1"],
        role: .member,
        links: Int(sequence % 3)
      )
    )
  }

  /// Waits for an answer, and updates whether the link is open.
  private mutating func look() {
    guard var control else { return }
    for frame in control.frames(within: .milliseconds(20)) {
      insist(frame.type != nil, "the peer sends only known frame types")
      if frame.type == .accept { isOpen = true }
      if frame.type == .close { insist((try? Control.Close.decode(frame.payload)) != nil, "CLOSE decodes") }
    }
    self.control = control.isClosed ? nil : control
  }

  /// Performs one step; returns `false` if there is no connection left.
  mutating func step(_ input: inout Input) -> Bool {
    guard control != nil else { return false }
    let choice = input.byte()
    switch choice % 16 {
    case 0: look()
    case 1: send(input.bytes(Int(input.byte())))
    case 2, 3:
      let types = FrameType.allCases
      send(frame(types[Int(input.byte()) % types.count], input.bytes(Int(input.byte()))))
    case 4, 5, 6: wellFormed(&input)
    case 7:
      var payload: [UInt8] = []
      let flags = input.byte()
      MessagePart(
        sequence: sequence,
        isFirst: flags & 1 != 0,
        isLast: flags & 2 != 0,
        wantsAcknowledgement: flags & 4 != 0,
        total: flags & 3 == 1 ? Int(input.short()) : nil
      ).append(to: &payload)
      sequence += flags & 8 == 0 ? 1 : 0
      send(frame(.message, payload + input.bytes(Int(input.byte()))))
    case 8: attach()
    case 9:
      bulk?.close()
      bulk = nil
    case 10:
      // The same peer connects again, while the first link may be open (3.5).
      let second = try? Dialled.dial(identity)
      control?.close()
      control = second
      isOpen = false
      control?.send(frame(.hello, hello.encoded()))
      look()
    default: wellFormed(&input)
    }
    return true
  }

  private mutating func send(_ bytes: [UInt8]) {
    if bulk != nil {
      bulk?.send(bytes)
      _ = bulk?.frames(within: .milliseconds(2))
      if bulk?.isClosed == true { bulk = nil }
    } else {
      control?.send(bytes)
    }
  }

  private func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] {
    var bytes = [type.rawValue]
    Varint.append(UInt64(payload.count), to: &bytes)
    return bytes + payload
  }

  /// Sends a well-formed frame, which may not be allowed in the state.
  private mutating func wellFormed(_ input: inout Input) {
    let choice = input.byte()
    let small = Int(input.byte())
    guard let bytes = ProofBytes([UInt8](repeating: choice, count: 32)) else { return }
    let other = LinkWorld.shared.identities[small % 3].peerID
    let member = Control.Member(
      peer: other,
      name: UntrustedText("m"),
      incarnation: incarnation,
      port: 9,
      addresses: ["127.0.0.1"],
      role: .relay
    )
    if choice & 0x40 != 0 { transfer = Self.transfer(choice & 3) }
    func payload(_ payload: some ControlPayload) -> [UInt8] { frame(type(of: payload).frameType, payload.encoded()) }
    let hash = String(repeating: "0", count: 64)
    switch choice % 22 {
    case 0: send(payload(hello))
    case 1: send(payload(Control.ListenerHello(introduction: hello.introduction, admission: .ask)))
    case 2: send(payload(Control.Accept(host: other, maximum: 9, members: [member])))
    case 3: send(payload(Control.CodeProof(proof: bytes)))
    case 4: send(payload(Control.ShortWordsCommit(commit: bytes)))
    case 5: send(payload(Control.ShortWordsReveal(nonce: bytes)))
    case 6: send(payload(Control.Members(members: [member])))
    case 7: send(frame(.kick, json(["peer": other.text, "reason": "r"])))
    case 8: send(frame(.addresses, Array(#"{"port":7,"addresses":["127.0.0.1"]}"#.utf8)))
    case 9: send(frame(.bulkRequest, Array(#"{"count":2}"#.utf8)))
    case 10: send(payload(Control.ResourceOffer(id: transfer, name: UntrustedText("name"), size: small, modified: nil)))
    case 11: send(frame(.resourceAccept, Array(#"{"id":"\#(transfer.text)","offset":0}"#.utf8)))
    case 12: send(frame(.resourceStart, Array(#"{"id":"\#(transfer.text)","offset":0}"#.utf8)))
    case 13: send(frame(.chunk, [UInt8](repeating: choice, count: small)))
    case 14: send(frame(.resourceEnd, json(["id": transfer.text, "sha256": hash])))
    case 15: send(frame(.resourceDone, json(["id": transfer.text])))
    case 16: send(frame(.resourceCancel, json(["id": transfer.text, "code": "cancelled", "message": ""])))
    case 17: send(frame(.streamOpen, json(["id": transfer.text, "name": "s"])))
    case 18: send(frame(.streamData, [UInt8](repeating: choice, count: small)))
    case 19: send(frame(.streamFin, []))
    case 20: send(frame(.streamReset, Array(#"{"id":"\#(transfer.text)","code":\#(small),"message":""}"#.utf8)))
    default:
      var sequence: [UInt8] = []
      Acknowledgement.append(UInt64(small), to: &sequence)
      send(frame(.ack, sequence))
    }
  }

  private func json(_ fields: KeyValuePairs<String, String>) -> [UInt8] {
    Array("{\(fields.map { #""\#($0)":"\#($1)""# }.joined(separator: ","))}".utf8)
  }

  /// Opens a bulk link with the right proof; later frames go there (8.1).
  private mutating func attach() {
    guard bulk == nil, isOpen, let secret = control?.facts.exporter?.export(.attach) else { return }
    guard var connection = try? Dialled.dial(identity), let own = connection.facts.exporter?.export(.attach),
      let proof = ProofBytes(
        HMAC<SHA256>.authenticationCode(
          for: Array("whiteboard-p2p attach 1\0".utf8) + own,
          using: SymmetricKey(data: secret)
        )
      )
    else { return }
    let attach = Control.Attach(
      session: LinkWorld.session(place),
      incarnation: incarnation,
      opener: .dialler,
      proof: proof
    )
    connection.send(frame(.attach, attach.encoded()))
    let answer = connection.frames(within: .milliseconds(500))
    bulk = answer.first?.type == .attached && !connection.isClosed ? connection : nil
    if bulk == nil { connection.close() }
  }

  mutating func leave() {
    look()
    bulk?.close()
    control?.close()
  }
}

/// Checks that an honest peer is still admitted and served.
private func checkHealth() {
  let deadline = NIODeadline.now() + .seconds(20)
  while true {
    if isServed() { return }
    insist(NIODeadline.now() < deadline, "an honest peer is admitted and acknowledged")
  }
}

private func isServed() -> Bool {
  guard var connection = try? Dialled.dial(0) else { return false }
  defer { connection.close() }
  let hello = Control.DiallerHello(
    introduction: Control.Introduction(
      session: LinkWorld.session(.anyone),
      name: UntrustedText("good"),
      incarnation: SessionIncarnation(.random(in: 100 ... .max)),
      port: 0,
      addresses: [],
      role: .member,
      links: 0
    )
  )
  func frame(_ type: FrameType, _ payload: [UInt8]) -> [UInt8] {
    var bytes = [type.rawValue]
    Varint.append(UInt64(payload.count), to: &bytes)
    return bytes + payload
  }
  connection.send(frame(.hello, hello.encoded()))
  connection.send(frame(.message, [1, 7] + Array("hello".utf8)))
  let deadline = NIODeadline.now() + .seconds(5)
  while NIODeadline.now() < deadline && !connection.isClosed {
    for frame in connection.frames(within: .milliseconds(200)) where frame.type == .ack {
      return (try? Acknowledgement.read(payload: frame.payload.span)) == 1
    }
  }
  return false
}
