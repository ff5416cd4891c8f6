import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

@Suite struct ResourceDTOTests {
  @Test(
    "[BRD-20] a resource name is decoded as it was encoded",
    arguments: ResourceDTO.Kind.allCases
  )
  func roundTrip(kind: ResourceDTO.Kind) throws {
    let dto = ResourceDTO(id: "1-aaaaaaaaaaaac", type: kind, sha256: World.asset(171).id)
    #expect(try ResourceDTO(name: dto.name) == dto)
    let plain = ResourceDTO(id: "x\"\\", type: kind, isDeleted: true)
    #expect(try ResourceDTO(name: plain.name) == plain)
  }

  @Test("[BRD-20] AirplaIN's own format is decoded, and unknown fields are skipped")
  func others() throws {
    let dto = try ResourceDTO(
      name: #"{"type":"chat","id":"A-1","later":[1,{"x":null}],"isDeleted":false}"#
    )
    #expect(dto == ResourceDTO(id: "A-1", type: .chat))
  }

  @Test(
    "[BRD-20] a malformed resource name is rejected",
    arguments: [
      "", "{", "[]", "null", "photo.jpg", #"{"id":"x"}"#, #"{"id":"x","type":"spell"}"#,
      #"{"id":"","type":"text"}"#, #"{"id":7,"type":"text"}"#,
      #"{"id":"x","type":"text","isDeleted":"no"}"#,
      #"{"id":"x","type":"imageData","sha256":"abcd"}"#, #"{"id":"x","type":"text"} tail"#,
    ]
  )
  func refused(name: String) {
    #expect(throws: ResourceDTOError.malformed) { try ResourceDTO(name: name) }
  }

  @Test("[BRD-20] 16 KiB are accepted and one byte more is not; deep nesting is rejected")
  func limits() throws {
    let frame = #"{"id":"x","type":"text","pad":""}"#
    let most = frame.replacing(
      #""""#,
      with: "\"" + String(repeating: "p", count: (16 << 10) - frame.utf8.count) + "\""
    )
    #expect(most.utf8.count == 16 << 10)
    _ = try ResourceDTO(name: most)
    #expect(throws: ResourceDTOError.tooLong) { try ResourceDTO(name: most + " ") }
    let deep = #"{"id":"x","type":"text","a":"# + String(repeating: "[", count: 4000)
    #expect(throws: ResourceDTOError.malformed) { try ResourceDTO(name: deep) }
    let long = String(repeating: "i", count: 65)
    #expect(throws: ResourceDTOError.malformed) {
      try ResourceDTO(name: #"{"id":"\#(long)","type":"text"}"#)
    }
  }

  @Test func `names damaged anywhere do not trap`() {
    let name = ResourceDTO(id: "1-a", type: .imageData, sha256: World.asset(1).id).name
    var accepted = 0
    for index in name.utf8.indices {
      for bit in 0..<8 {
        var bytes = Array(name.utf8)
        bytes[name.utf8.distance(from: name.startIndex, to: index)] ^= UInt8(1 << bit)
        if (try? ResourceDTO(name: String(decoding: bytes, as: UTF8.self))) != nil { accepted += 1 }
      }
    }
    #expect(accepted < name.utf8.count * 8)
  }
}
