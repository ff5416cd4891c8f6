import Foundation
import PeerDiscovery
import Testing

@testable import PeerSession

/// The group `resumption` of `Protocol/Vectors/session.json`.
private struct ResumptionVectors: Decodable {
  struct Resume: Decodable {
    var incarnation: String
    var received: UInt64
    var since: Int?
  }

  struct Hello: Decodable {
    var name: String
    var text: String
    var resume: Resume?
    var ended: String?
  }

  struct Accept: Decodable {
    var name: String
    var text: String
    var received: UInt64?
    var ended: String?
  }

  struct Refused: Decodable {
    var name: String
    var text: String
  }

  struct Hellos: Decodable {
    var valid: [Hello]
    var invalid: [Refused]
  }

  struct Accepts: Decodable {
    var valid: [Accept]
    var invalid: [Refused]
  }

  struct Case: Decodable {
    struct Held: Decodable {
      var incarnation: String
      var since: Int
      var sent: UInt64
    }
    var name: String
    var held: Held?
    var hello: String
    var answer: String
  }

  var listener: String
  var hellos: Hellos
  var accepts: Accepts
  var cases: [Case]

  static func read() throws -> ResumptionVectors {
    struct File: Decodable { var resumption: ResumptionVectors }
    let data = try Data(contentsOf: AdmissionVectors.protocolFile("Vectors/session.json"))
    return try JSONDecoder().decode(File.self, from: data).resumption
  }
}

struct ResumptionVectorTests {
  private let vectors: ResumptionVectors

  init() throws { vectors = try ResumptionVectors.read() }

  @Test("[RSM-5] [RSM-6] HELLO encodes the delivery state of its vector") func hellos() throws {
    #expect(!vectors.hellos.valid.isEmpty && !vectors.hellos.invalid.isEmpty)
    for vector in vectors.hellos.valid {
      let hello = try Control.DiallerHello.decode(Array(vector.text.utf8))
      #expect(hello.resume?.incarnation.text == vector.resume?.incarnation, "\(vector.name)")
      #expect(hello.resume?.received == vector.resume?.received, "\(vector.name)")
      #expect(hello.resume?.since == vector.resume?.since, "\(vector.name)")
      #expect(hello.ended == vector.ended, "\(vector.name)")
    }
    for vector in vectors.hellos.invalid {
      #expect(throws: ControlMessageError.self, "\(vector.name)") {
        try Control.DiallerHello.decode(Array(vector.text.utf8))
      }
    }
  }

  @Test("[RSM-2] [RSM-6] ACCEPT encodes the delivery state of its vector") func accepts() throws {
    #expect(!vectors.accepts.valid.isEmpty && !vectors.accepts.invalid.isEmpty)
    for vector in vectors.accepts.valid {
      let accept = try Control.Accept.decode(Array(vector.text.utf8))
      #expect(accept.resume?.received == vector.received, "\(vector.name)")
      #expect(accept.ended == vector.ended, "\(vector.name)")
    }
    for vector in vectors.accepts.invalid {
      #expect(throws: ControlMessageError.self, "\(vector.name)") { try Control.Accept.decode(Array(vector.text.utf8)) }
    }
  }

  @Test("[RSM-2] [RSM-3] [RSM-5] a listener resumes only the delivery state that the dialler names") func cases() throws
  {
    let listener = try #require(SessionIncarnation(text: vectors.listener))
    #expect(vectors.cases.count > 5)
    for vector in vectors.cases {
      let hello = try Control.DiallerHello.decode(Array(vector.hello.utf8))
      guard let held = vector.held else {
        #expect(vector.answer == "begins", "\(vector.name)")
        continue
      }
      let dialler = try #require(SessionIncarnation(text: held.incarnation))
      let resumes = hello.resumes(deliveryOf: dialler, since: held.since, at: listener)
      let received = hello.resume?.received ?? 0
      let answer = resumes ? received > held.sent ? "protocol-error" : "resumes" : "begins"
      #expect(answer == vector.answer, "\(vector.name)")
    }
  }
}
