import PeerCore
import Whiteboard
import WhiteboardSync

/// A replica that receives the messages of one member, and verifies their signatures.
public enum Receiver {
  /// Passes messages to a new replica.
  ///
  /// - Parameter lines: The id of the board, the id of the member, and the messages.
  /// - Returns: The digest of the board in hexadecimal digits, or why a message was not accepted.
  public static func digest(of lines: [[UInt8]]) -> String {
    guard lines.count > 2, let board = Bytes16(lines[0]), let member = Bytes32(lines[1]) else {
      return "a board, a member and messages are needed"
    }
    var uptime: UInt64 = 1
    func now() -> Moment {
      uptime += 1
      return Moment(wall: 1_800_000_000_000 + uptime, uptime: uptime)
    }
    let replica = Replica(author: Author(board: BoardID(board), key: RealKey(1)), now: now())
    var actions = replica.peerJoined(MemberID(member), now: now())
    for message in lines.dropFirst(2) { actions += replica.received(message, from: MemberID(member), now: now()) }
    for case .protocolViolation(_, let error) in actions { return error.message }
    return Hexadecimal.encode(replica.digest.bytes)
  }
}
