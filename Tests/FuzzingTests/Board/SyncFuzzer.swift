import Whiteboard
import WhiteboardSync

/// Checks that every message between replicas has exactly one encoding.
func fuzzSync(_ input: inout Input) {
  let choice = input.byte()
  let bytes = input.rest()
  switch choice & 3 {
  case 0:
    if let message = try? SyncMessage.decode(bytes) {
      if case .profile = message {
        // Later versions may append fields, so only the decoded part must encode to the same bytes.
        insist(try SyncMessage.decode(message.encode()) == message, "a profile decodes to what was encoded")
      } else {
        insist(message.encode() == bytes, "a message has one encoding")
      }
    }
  case 1:
    if let datagram = try? SyncDatagram.decode(bytes) {
      // Later versions may append fields to presence, so only the decoded part must encode to the same bytes.
      insist(try SyncDatagram.decode(datagram.encode()) == datagram, "a datagram decodes to what was encoded")
    }
  case 2:
    if let difference = try? DifferenceCoding.decode(bytes) {
      insist(DifferenceCoding.encode(difference) == bytes, "a difference has one encoding")
    }
  default:
    if let set = try? ContextCoding.decode(bytes) {
      insist(ContextCoding.encode(set) == bytes, "a context has one encoding")
    }
  }
}
