import PeerCore
import PeerTestKit
import Whiteboard
import WhiteboardSync

/// A signature that a node is making or verifying.
struct SlowSignature {
  enum Request {
    case sign(SigningRequest)
    case verify(VerificationRequest)
  }

  let request: Request
  /// The uptime at which the result is available, in milliseconds.
  let at: UInt64
}

/// Signatures that take time, so that their results arrive in any order.
extension ReplicaWorld {
  func begin(_ request: SlowSignature.Request, _ number: Int) {
    guard let longest = weather.signingTime else {
      complaints.append("a replica with a local key requests a signature")
      return
    }
    // Most signatures are quick, and some take much longer.
    let time = signing.chance(80) ? longest / 10 : longest
    let at = uptime + signing.next() % (time + 1)
    nodes[number].signatures.append(SlowSignature(request: request, at: at))
  }

  /// Finishes the signatures whose time has come, in any order.
  func finishSignatures(_ number: Int) {
    while true {
      let due = nodes[number].signatures.indices.filter { nodes[number].signatures[$0].at <= uptime }
      guard let index = signing.element(of: due) else { return }
      finish(nodes[number].signatures.remove(at: index).request, number)
    }
  }

  /// Finishes all pending signatures of a node, and then the signatures that the results require.
  func finishAllSignatures(_ number: Int) {
    while let index = signing.element(of: nodes[number].signatures.indices) {
      finish(nodes[number].signatures.remove(at: index).request, number)
    }
  }

  private func finish(_ request: SlowSignature.Request, _ number: Int) {
    let node = nodes[number]
    tally[.signatures] += 1
    let actions: [ReplicaAction]
    switch request {
    case .sign(let request):
      actions = node.replica.signed(request.id, signature: node.key.signature(of: request.bytes), now: now(number))
    case .verify(let request):
      let isValid =
        switch request.subject {
        case .key(let key): verifier.isKey(key)
        case .signature(let signature, let bytes, let key): verifier.isValid(signature, of: bytes, by: key)
        }
      actions = node.replica.verified(request.id, isValid: isValid, now: now(number))
    }
    carryOut(actions, number)
  }

  /// Checks that a stored change has its signatures, and comes after the record of its author.
  func checkStored(_ change: StoredChange, _ number: Int) {
    let node = nodes[number]
    switch change {
    case .author(let bytes, let incarnation):
      node.storedAuthors.insert(incarnation)
      let record = try? AuthorRecord(bytes)
      if (try? record?.verify(board: board, with: verifier)) == nil {
        complaints.append("a record is stored without its signature")
      }
    case .batch(let encoded) where encoded.batch.author == node.replica.board.incarnation:
      if !node.storedAuthors.contains(encoded.batch.author) {
        complaints.append("a batch is stored before the record of its author")
      }
    case .batch, .answer, .head, .keyframe: break
    }
  }
}
