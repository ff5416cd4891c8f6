import Foundation
import PeerCore
import PeerTestKit
import Testing

@testable import WhiteboardKit

/// The vectors of `Protocol/Vectors/broadcast.json`, which `Tests/Interop/make_broadcast_vectors.py` computes.
private struct BroadcastVectors: Decodable {
  struct Cases<Valid: Decodable>: Decodable {
    let valid: [Valid]
    let invalid: [Invalid]
  }

  struct Invalid: Decodable {
    let name: String?
    let hex: String?
    let rule: String
  }

  struct Request: Decodable {
    let name, canonical: String
    let width, height, rate: Int
    let codecs: [String]
    let changes: Bool
  }

  struct Record: Decodable {
    let type, hex: String
  }

  struct Stream: Decodable {
    let hex: String
    let types: [String]
  }

  struct Watched: Decodable {
    struct Step: Decodable {
      let hex: String
      let pixels: String?
      let error: Bool?
    }

    let title: String
    let request: String
    let records: [Step]
  }

  let requests: Cases<Request>
  let records: Cases<Record>
  let skipped: [String]
  let streams: [Stream]
  let watching: [Watched]

  static func load() throws -> Self {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = root.appending(path: "Protocol/Vectors/broadcast.json")
    return try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
  }
}

private func bytes(_ hex: String) -> [UInt8] {
  let digits = Array(hex.utf8)
  return stride(from: 0, to: digits.count, by: 2).map {
    UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16) ?? 0
  }
}

extension BroadcastRecord {
  fileprivate var name: String {
    switch self {
    case .start: "START"
    case .picture(let picture): if case .whole = picture.content { "WHOLE" } else { "CHANGES" }
    case .pause: "PAUSE"
    case .resume: "RESUME"
    case .finish: "FINISH"
    case .error: "ERROR"
    case .seen: "SEEN"
    case .wantWhole: "WANT-WHOLE"
    }
  }

  fileprivate static func decode(_ data: [UInt8]) throws -> BroadcastRecord? {
    var reader = BroadcastReader()
    reader.append(data)
    return try reader.next()
  }
}

@Suite struct BroadcastVectorTests {
  private let vectors: BroadcastVectors

  init() throws { vectors = try BroadcastVectors.load() }

  @Test("[CST-1] the name of a viewer's stream is decoded and encoded as in its vector") func requests() throws {
    #expect(!vectors.requests.valid.isEmpty)
    for vector in vectors.requests.valid {
      let request = try #require(BroadcastRequest(name: vector.name))
      #expect(request.maximumWidth == vector.width)
      #expect(request.maximumHeight == vector.height)
      #expect(request.rate == vector.rate)
      #expect(request.codecs.map(\.rawValue) == vector.codecs)
      #expect(request.acceptsChanges == vector.changes)
      #expect(request.name == vector.canonical)
      #expect(BroadcastRequest.isMeant(by: UntrustedText(vector.name)))
    }
    for vector in vectors.requests.invalid {
      let name = try #require(vector.name)
      #expect(BroadcastRequest(name: name) == nil, "\(name)")
    }
  }

  @Test("[CST-2] a record is decoded and encoded as in its vector") func records() throws {
    #expect(!vectors.records.valid.isEmpty)
    for vector in vectors.records.valid {
      let record = try #require(try BroadcastRecord.decode(bytes(vector.hex)))
      #expect(record.name == vector.type)
      #expect(record.bytes == bytes(vector.hex), "\(vector.type)")
    }
  }

  @Test("a record that breaks a rule is rejected") func invalidRecords() throws {
    for vector in vectors.records.invalid {
      let hex = try #require(vector.hex)
      #expect(throws: BroadcastError.self, "\(vector.rule): \(hex.prefix(80))") {
        // Without an error, the record is complete or the reader waits for more bytes; both are wrong.
        try BroadcastRecord.decode(bytes(hex))
      }
    }
  }

  @Test("[CST-12] unknown records of 0x80 and above are skipped") func skipped() throws {
    for hex in vectors.skipped {
      var reader = BroadcastReader()
      reader.append(bytes(hex))
      #expect(try reader.next() == nil)
      #expect(!reader.isInRecord)
    }
  }

  @Test("records are the same in pieces of any size") func streams() throws {
    for vector in vectors.streams {
      let data = bytes(vector.hex)
      for size in [1, 2, 3, 7, data.count] {
        var reader = BroadcastReader()
        var names: [String] = []
        for start in stride(from: 0, to: data.count, by: size) {
          reader.append(Array(data[start..<min(start + size, data.count)]))
          while let record = try reader.next() { names.append(record.name) }
        }
        #expect(names == vector.types, "pieces of \(size)")
        #expect(!reader.isInRecord)
      }
    }
  }

  @Test("[CST-4] [CST-5] a viewer shows the pictures of its vector, and rejects records that break a rule")
  func watching() throws {
    #expect(!vectors.watching.isEmpty)
    for vector in vectors.watching {
      let request = try #require(BroadcastRequest(name: vector.request))
      var assembler = FrameAssembler(request, RawFrames(), isDecoding: true)
      var shown: FramePixels?
      for step in vector.records {
        let record = try #require(try BroadcastRecord.decode(bytes(step.hex)))
        guard step.error != true else {
          #expect(throws: BroadcastError.self, "\(vector.title)") { try assembler.apply(record) }
          continue
        }
        if case .picture(_, let pixels?) = try assembler.apply(record) { shown = pixels }
        guard let expected = step.pixels else { continue }
        let pixels = try #require(shown)
        let encoded = try RawFrames()
          .encode(pixels.pixels, width: pixels.size.width, height: pixels.size.height, as: .raw)
        #expect(encoded == bytes(expected), "\(vector.title)")
      }
    }
  }

  @Test("[CST-2] a viewer's record that is too long is rejected before its payload arrives") func viewerLimit() {
    var reader = BroadcastReader(limit: BroadcastRecord.viewerLimit)
    reader.append([BroadcastRecord.Kind.seen, 65])
    #expect(throws: BroadcastError.length) { try reader.next() }
  }

  @Test("damaged records are decoded or rejected, and nothing else happens", arguments: 1...20)
  func damage(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let whole = vectors.records.valid.flatMap { bytes($0.hex) }
    var decoded = 0
    for _ in 0..<200 {
      var data = whole
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      var reader = BroadcastReader()
      var assembler = FrameAssembler(BroadcastRequest(), RawFrames(), isDecoding: true)
      reader.append(data)
      do {
        while let record = try reader.next() {
          decoded += 1
          // The order of the records is not allowed, so most of them are rejected here.
          _ = try? assembler.apply(record)
        }
      } catch {
        continue
      }
    }
    #expect(decoded > 200)
  }
}
