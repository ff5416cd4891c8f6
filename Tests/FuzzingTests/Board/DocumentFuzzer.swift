import Foundation

@testable import WhiteboardDocument

/// Checks the data that recovery reads: a row of a document's log or traffic, or a file with its log.
func fuzzDocument(_ input: inout Input) {
  switch input.byte() & 3 {
  case 0: row(&input)
  case 2: traffic(&input)
  default: file(&input)
  }
}

private func row(_ input: inout Input) {
  let row = LogRow(id: 1, time: Int64(input.short()), entries: Int64(input.byte()), body: input.rest())
  guard let entries = try? row.unpack() else { return }
  insist(entries.count == Int(row.entries), "a row has the number of entries that it states")
  let packed = LogRow(id: row.id, packing: entries)
  insist(try bytes(packed.unpack()) == bytes(entries), "a row decodes to what was encoded")
}

private func traffic(_ input: inout Input) {
  let row = LogRow(
    id: 1,
    time: Int64(input.short()),
    entries: Int64(input.byte()),
    body: input.rest(),
    table: LogRow.traffic
  )
  guard let entries = try? row.unpackTraffic() else { return }
  let again = try? TrafficCoding.row(1, entries).unpackTraffic()
  insist(again == entries, "traffic decodes to what was encoded")
}

/// Returns the contents without times, because differences of over 150 million years decode to other values.
private func bytes(_ entries: [DocumentEntry]) -> [[UInt8]] {
  entries.map { entry in
    switch entry {
    case .batch(let bytes, _): [0] + bytes
    case .answer(let bytes, _): [1] + bytes
    default: []
    }
  }
}

private let path = "/dev/shm/whiteboard-fuzzing-\(ProcessInfo.processInfo.processIdentifier)"

private func file(_ input: inout Input) {
  let log = input.bytes(Int(input.short()))
  let content = input.rest()
  defer {
    unlink(path)
    unlink(path + "-wal")
  }
  insist(
    FileManager.default.createFile(atPath: path, contents: Data(content))
      && FileManager.default.createFile(atPath: path + "-wal", contents: Data(log)),
    "the file is created"
  )
  guard let scanner = try? PageScanner(path) else { return }
  var rows = 0
  scanner.scan { place, rowid, columns in
    rows += 1
    if rows <= 16 {
      let again = scanner.row(place)
      insist(again?.rowid == rowid && again?.columns == columns, "a second read of a row gives the same")
    }
    _ = try? LogRow.checked(columns)?.row.unpack()
    _ = StoredAuthor(columns)
    _ = StoredKeyframe(columns)
    _ = StoredMark(columns)
  }
}
