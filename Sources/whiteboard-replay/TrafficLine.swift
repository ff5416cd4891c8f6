import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit

/// An entry of a session's traffic, as a line of text or JSON.
struct TrafficLine {
  private let entry: TrafficEntry
  private let recording: Recording
  /// The members that the entry is about.
  let members: [MemberID]

  init(_ entry: TrafficEntry, _ recording: Recording) {
    self.entry = entry
    self.recording = recording
    members = entry.peers.compactMap { MemberID(bytes: $0) }
  }

  /// The entry as a line of text.
  var text: String {
    let who = members.map(recording.label).joined(separator: ", ")
    let name = UntrustedText(entry.text).quoted(limit: 512)
    let number = entry.number
    return switch entry.kind {
    case .began: "\(who) is recording, as \(name)"
    case .joined: "\(who) joined, as \(name)"
    case .left: "\(who) left: \(UntrustedText(entry.text).escaped())"
    case .state: "\(who) is \(UntrustedText(entry.text).escaped())"
    case .message: "<- \(who)  message, \(entry.content)"
    case .sentMessage: "-> \(who)  message, \(entry.content)"
    case .datagram: "<- \(who)  datagram, \(entry.content)"
    case .sentDatagram: "-> \(who)  datagram, \(entry.content)"
    case .resource: "<- \(who)  resource \(number), \(entry.size) bytes, \(name)"
    case .sentResource: "-> \(who)  resource \(number), \(entry.size) bytes, \(name)"
    case .resourceEnded:
      "\(who)  resource \(number) "
        + (entry.text.isEmpty ? "is complete" : "ended: \(UntrustedText(entry.text).escaped())")
    case .stream: "<- \(who)  stream \(number) opened, \(name)"
    case .openedStream: "-> \(who)  stream \(number) opened, \(name)"
    case .streamBytes: "<- \(who)  stream \(number), \(entry.content)"
    case .sentStreamBytes: "-> \(who)  stream \(number), \(entry.content)"
    case .streamFinished: "<- \(who)  stream \(number) finished"
    case .finishedStream: "-> \(who)  stream \(number) finished"
    case .streamBroke: "\(who)  stream \(number) broke: \(UntrustedText(entry.text).escaped())"
    case .missed: "nothing was recorded for \(Recording.exactText(Int64(clamping: number)))"
    }
  }

  /// Returns the entry as a JSON object with a line feed.
  func json(_ place: Int, _ elapsed: Int64) -> String {
    let peers = members.map { JSONObject.quoted($0.description) }.joined(separator: ",")
    var fields = [
      #""entry":\#(place)"#, #""ms":\#(elapsed)"#, #""time":\#(JSONObject.quoted(BoardFile.time(entry.time)))"#,
      #""kind":\#(JSONObject.quoted("\(entry.kind)"))"#, #""peers":[\#(peers)]"#,
    ]
    if entry.number > 0 { fields.append(#""number":\#(entry.number)"#) }
    if entry.size > 0 { fields.append(#""size":\#(entry.size)"#) }
    if !entry.text.isEmpty { fields.append(#""text":\#(JSONObject.quoted(entry.text))"#) }
    if !entry.bytes.isEmpty { fields.append(#""bytes":\#(JSONObject.quoted(Hexadecimal.encode(entry.bytes)))"#) }
    return "{\(fields.joined(separator: ","))}\n"
  }
}
