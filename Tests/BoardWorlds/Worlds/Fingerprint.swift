import PeerCore
import Whiteboard
import WhiteboardSync

/// Hashes of everything that the members of a world have at its end, to compare two programs.
extension BoardWorld {
  /// Runs the world of a seed.
  ///
  /// - Returns: A hash of the changes and the digest of each board.
  /// - Throws: The invariant that did not hold.
  public static func fingerprint(seed: UInt64) throws(Failure) -> Bytes32 {
    let world = BoardWorld(seed: seed)
    try world.run()
    var bytes: [UInt8] = []
    for peer in world.peers {
      bytes += DifferenceCoding.encode(peer.board.state.difference(since: Context()))
      bytes += BoardDigest.digest(of: peer.board.state).bytes
    }
    return .sha256(bytes)
  }

  /// Returns a line with the seed of a world, and its fingerprint or the invariant that did not hold.
  public static func line(of seed: UInt64) -> String {
    do throws(Failure) { return "\(seed) \(Hexadecimal.encode(try fingerprint(seed: seed).bytes))" } catch {
      return error.description
    }
  }
}

extension ReplicaWorld {
  /// Runs the world of a seed, with simulated keys.
  ///
  /// - Returns: A hash of the stored changes, the keyframe and the digest of each replica.
  /// - Throws: The invariant that did not hold.
  public static func fingerprint(seed: UInt64, isOwned: Bool = false, hasSlowSignatures: Bool = false) throws(BoardWorld
    .Failure) -> Bytes32
  {
    let world = try passed(seed: seed, isOwned: isOwned, hasSlowSignatures: hasSlowSignatures, hasRealKeys: false)
    var bytes: [UInt8] = []
    for node in world.nodes {
      for change in node.document {
        switch change {
        case .author(let stored, _), .answer(let stored), .keyframe(let stored), .head(let stored, _, _):
          bytes += stored
        case .batch(let batch): bytes += batch.bytes
        }
      }
      if !node.replica.isAwaitingSignature { bytes += node.replica.snapshotForKeeping() }
      bytes += node.replica.digest.bytes
    }
    return .sha256(bytes)
  }

  /// Returns a line with the seed of a world, and its fingerprint or the invariant that did not hold.
  public static func line(of seed: UInt64, isOwned: Bool = false, hasSlowSignatures: Bool = false) -> String {
    do throws(BoardWorld.Failure) {
      let fingerprint = try fingerprint(seed: seed, isOwned: isOwned, hasSlowSignatures: hasSlowSignatures)
      return "\(seed) \(Hexadecimal.encode(fingerprint.bytes))"
    } catch { return error.description }
  }
}

extension ObjectSnapshot {
  /// The JSON without `\u` escapes, because Unicode categories determine the escaped characters, and the replica for
  /// browsers does not know these categories.
  var unescapedJSON: [UInt8] {
    let text = Array(json.utf8)
    var bytes: [UInt8] = []
    // The code units of neighboring escapes, because a character may have two code units.
    var units: [UInt16] = []
    var index = 0
    while index < text.count {
      let digits = text[index...].dropFirst(2).prefix(4)
      if text[index...].starts(with: "\\u".utf8),
        let code = Hexadecimal.decode(String(decoding: digits, as: UTF8.self)), code.count == 2
      {
        units.append(UInt16(code[0]) << 8 | UInt16(code[1]))
        index += 6
        continue
      }
      bytes += String(decoding: units, as: UTF16.self).utf8
      units = []
      bytes.append(text[index])
      index += 1
    }
    return bytes
  }
}
