import PeerCore
import Whiteboard
import WhiteboardSync

/// Passes bytes to every decoder of a board's messages, to compare two programs.
public enum Decoders {
  /// Returns a line with the result of each decoder for the bytes.
  ///
  /// For each decoder, the line contains the code of its error, or a hash of its result. The result of a batch or a
  /// difference includes an empty board after that change.
  public static func line(of bytes: [UInt8]) -> String {
    var parts: [String] = []
    parts.append(
      result { () throws(CodecError) in
        let batch = try BatchCoding.decode(bytes)
        return BatchCoding.encode(batch) + board { (board) throws(BoardError) in try board.receive(batch) }
      }
    )
    parts.append(
      result { () throws(CodecError) in
        let difference = try DifferenceCoding.decode(bytes)
        return DifferenceCoding.encode(difference)
          + board { (board) throws(BoardError) in try board.receive(difference) }
      }
    )
    parts.append(result { () throws(CodecError) in try SyncMessage.decode(bytes)?.encode() ?? [] })
    parts.append(result { () throws(CodecError) in try SyncDatagram.decode(bytes)?.encode() ?? [] })
    parts.append(
      result { () throws(CodecError) in
        let record = try AuthorRecord(bytes)
        return record.bytes + record.member.bytes + record.board.bytes
      }
    )
    parts.append(result { () throws(CodecError) in try Array(TextTree.decodeRun(bytes).1.utf8) })
    let asset = AssetReference(.bytes(bytes))
    parts.append(asset.map { "\($0.width)x\($0.height):\($0.byteCount)" } ?? "no-asset")
    parts.append(name(String(decoding: bytes, as: UTF8.self)))
    return parts.joined(separator: " ")
  }

  private static func result(_ body: () throws(CodecError) -> [UInt8]) -> String {
    do throws(CodecError) { return Hexadecimal.encode(Bytes32.sha256(try body()).bytes.prefix(8)) } catch {
      return error.code
    }
  }

  /// Returns the digest and the objects of an empty board after a change.
  private static func board(_ change: (Board) throws(BoardError) -> Void) -> [UInt8] {
    guard let member = MemberID(bytes: Array(repeating: 1, count: 32)) else { return [] }
    let board = Board(incarnation: Incarnation(1), member: member, wallClock: 0, newIncarnation: { Incarnation(2) })
    do throws(BoardError) { try change(board) } catch { return [0] }
    return BoardDigest.digest(of: board.state).bytes + board.snapshots.flatMap { $0.unescapedJSON }
  }

  private static func name(_ text: String) -> String {
    guard let name = try? ResourceDTO(name: text) else { return "no-name" }
    return Hexadecimal.encode(Bytes32.sha256(Array(name.name.utf8)).bytes.prefix(8))
  }
}
