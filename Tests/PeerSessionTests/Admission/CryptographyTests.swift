import Crypto
import Foundation
import PeerTestKit
import Testing

@testable import PeerSession

struct WordListTests {
  @Test("the words are those of Protocol/Words.txt, byte for byte") func sameAsFile() throws {
    let file = try String(contentsOf: AdmissionVectors.protocolFile("Words.txt"), encoding: .utf8)
    #expect(WordList.words.joined(separator: "\n") + "\n" == file)
    #expect(Set(WordList.words).count == 2_048)
  }

  @Test("bytes become words as in the vectors", arguments: AdmissionVectors.all.words.indices) func vectors(
    _ index: Int
  ) {
    let vector = AdmissionVectors.all.words[index]
    #expect(WordList.words(vector.bytes.bytes, count: vector.words.count) == vector.words)
  }

  @Test("every word is the nearest to itself and has its own number") func nearest() {
    for (index, word) in WordList.words.enumerated() { #expect(WordList.index(of: word) == index) }
    for word in WordList.words.prefix(40) { #expect(WordList.nearest(to: word) == word) }
  }
}

struct JoinCodeTests {
  @Test("typed codes are normalized") func valid() throws {
    for vector in AdmissionVectors.all.typedCodes.valid {
      #expect(try JoinCode(words: vector.typed).text == vector.code)
    }
  }

  @Test("text that is not a join code is rejected with its own error") func invalid() {
    for vector in AdmissionVectors.all.typedCodes.invalid {
      let error = #expect(throws: JoinCodeError.self) { try JoinCode(words: vector.typed) }
      switch error {
      case .wrongCount: #expect(vector.error == "wrong-count")
      case .unknownWord(let word, let nearest):
        #expect(vector.error == "unknown-word")
        #expect(word == vector.word)
        if let wanted = vector.nearest { #expect(nearest == wanted) }
      case .tooLong: #expect(vector.error == "too-long")
      case nil: Issue.record("\(vector.typed)")
      }
    }
  }

  @Test("characters beside a known word are the problem, and the word itself is not suggested") func punctuation() {
    let error = #expect(throws: JoinCodeError.self) { try JoinCode(words: "zoo zoo zoo zoo?") }
    #expect(error == .unknownWord("zoo", nearest: "zoo"))
    #expect(error?.description.contains("Did you mean") == false)
  }

  @Test("hostile text is rejected and not repeated in the error") func hostile() {
    let error = #expect(throws: JoinCodeError.self) { try JoinCode(words: "\u{1B}[2J zoo zoo zoo") }
    #expect(error?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
    #expect(throws: JoinCodeError.tooLong) { try JoinCode(words: String(repeating: "zoo ", count: 100_000)) }
  }

  @Test("a new code has four words of the list and is read back") func random() throws {
    let codes = Set((0..<50).map { _ in JoinCode.random() })
    #expect(codes.count == 50)
    for code in codes { #expect(try JoinCode(words: code.text.uppercased()) == code) }
  }

  @Test("the description of a code does not contain its words") func silent() throws {
    let code = try JoinCode(words: "abandon-ability-zone-zoo")
    var dumped = ""
    dump(code, to: &dumped)
    #expect(!"\(code) \(String(reflecting: code)) \(dumped)".contains("ability"))
  }
}

struct CodeProofTests {
  @Test("the key and both proofs are those of the vectors") func vectors() throws {
    for vector in AdmissionVectors.all.codeProof {
      let dialler = try #require(PeerID(bytes: vector.dialler.bytes))
      let key = CodeKey(
        code: try JoinCode(words: vector.code),
        session: try #require(SessionID(bytes: vector.session.bytes)),
        listener: try #require(PeerID(bytes: vector.listener.bytes))
      )
      let binding = vector.binding.bytes
      #expect(key.bytes == vector.stretched.bytes)
      for (prover, expected) in [(CodeKey.Prover.joiner, vector.joiner), (.host, vector.host)] {
        #expect(key.message(of: prover, binding: binding, dialler: dialler) == expected.input.bytes)
        let proof = key.proof(of: prover, binding: binding, dialler: dialler)
        #expect(proof.bytes == expected.proof.bytes)
        #expect(key.isValid(proof, of: prover, binding: binding, dialler: dialler))
        let other: CodeKey.Prover = prover == .host ? .joiner : .host
        #expect(!key.isValid(proof, of: other, binding: binding, dialler: dialler))
        let elsewhere = [binding[0] ^ 1] + binding.dropFirst()
        #expect(!key.isValid(proof, of: prover, binding: elsewhere, dialler: dialler))
      }
    }
  }

  @Test("a comparison in constant time gives the same result as `==`") func constantTime() {
    #expect(isEqualInConstantTime([], []))
    #expect(isEqualInConstantTime([1, 2, 3], [1, 2, 3]))
    #expect(!isEqualInConstantTime([1, 2, 3], [1, 2, 4]))
    #expect(!isEqualInConstantTime([1, 2, 3], [1, 2]))
    #expect(!isEqualInConstantTime([0x80], [0]))
  }
}

struct ShortWordsTests {
  @Test("commitment, secret and words are those of the vectors") func vectors() throws {
    for vector in AdmissionVectors.all.shortWords {
      let context = ShortWords.Context(
        binding: vector.binding.bytes,
        session: try #require(SessionID(bytes: vector.session.bytes)),
        dialler: try #require(PeerID(bytes: vector.dialler.bytes)),
        listener: try #require(PeerID(bytes: vector.listener.bytes))
      )
      let nonceD = try #require(ProofBytes(vector.nonceD.bytes))
      let nonceL = try #require(ProofBytes(vector.nonceL.bytes))
      let dialler = ShortWords.Dialler(context: context, nonce: nonceD)
      #expect(dialler.commit.commit.bytes == vector.commit.bytes)
      let listener = ShortWords.Listener(context: context, nonce: nonceL, commitReceived: dialler.commit)
      let (reveal, words) = dialler.nonceReceived(listener.reply)
      #expect(words == vector.words)
      #expect(listener.revealReceived(reveal) == vector.words)
      #expect(ShortWords.secret(context, diallerNonce: nonceD, listenerNonce: nonceL) == vector.secret.bytes)
      #expect(listener.revealReceived(.init(nonce: nonceL)) == nil)
    }
  }
}

struct TicketTests {
  @Test("[TCK-1] tickets are verified as in the vectors") func vectors() throws {
    for vector in AdmissionVectors.all.tickets {
      let session = try #require(SessionID(bytes: vector.session.bytes))
      let member = try #require(PeerID(bytes: vector.dialler.bytes))
      let admitter = vector.ticket.admitter
      #expect(Ticket.signedBytes(session: session, admitter: admitter, member: member) == vector.input.bytes)
      var verdict = "valid"
      do throws(TicketError) {
        try vector.ticket.verify(
          session: session,
          member: member,
          mayAdmit: { vector.knownAdmitters?.contains($0) ?? vector.admitterIsKnown }
        )
      } catch { verdict = error == .invalid ? "protocol-error" : "unknown-admitter" }
      #expect(verdict == vector.expected, "\(vector.name)")
    }
  }

  @Test("a new ticket verifies, also after it was encoded and decoded") func made() throws {
    let admitter = PeerIdentity.ephemeral()
    let member = PeerIdentity.ephemeral().peerID
    let session = SessionID.random()
    let made = Ticket.make(by: admitter, session: session, member: member)
    let read = try Ticket.decode(made.encoded())
    #expect(read == made)
    try read.verify(session: session, member: member) { $0 == admitter.peerID }
    #expect(throws: TicketError.unknownAdmitter) { try read.verify(session: session, member: member) { _ in false } }
  }

  @Test("[MEM-3] a chain through a removed member admits no peer, although it leads to the host") func removedAdmitter()
    throws
  {
    let (host, ana, ben) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral(), PeerIdentity.ephemeral().peerID)
    let session = SessionID.random()
    let own = Ticket.make(by: host, session: session, member: ana.peerID)
    let ticket = Ticket.make(by: ana, session: session, member: ben, own: own)
    try ticket.verify(session: session, member: ben) { $0 == host.peerID }
    #expect(throws: TicketError.unknownAdmitter) {
      try ticket.verify(
        session: session,
        member: ben,
        mayAdmit: { $0 == host.peerID },
        isRemoved: { $0 == ana.peerID }
      )
    }
  }

  @Test("keys and signatures of any shape are rejected without a trap") func hostile() throws {
    let admitter = PeerIdentity.ephemeral()
    let member = PeerIdentity.ephemeral().peerID
    let session = SessionID.random()
    let good = Ticket.make(by: admitter, session: session, member: member)
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<500 {
      var ticket = good
      if Bool.random(using: &generator) { ticket.signature.key.mutate(using: &generator) }
      ticket.signature.bytes.mutate(using: &generator)
      ticket.signature.admitter = PeerID(spki: ticket.signature.key)
      if ticket == good { continue }
      #expect(throws: TicketError.invalid) { try ticket.verify(session: session, member: member) { _ in true } }
    }
  }
}
