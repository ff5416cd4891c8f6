import WhiteboardKit

extension BoardFile.Content {
  package func lines(json: Bool) -> String {
    events.map { event in
      json ? String(decoding: EventLine.json(event), as: UTF8.self) : EventText.line(event).map { $0 + "\n" } ?? ""
    }.joined()
  }
}
