import Logging
import PeerSession

/// What goes out: messages wait here until the session takes them, once for each way that they go.
extension Node {
  /// The peer whose link messages to a peer take.
  func way(to peer: PeerID) -> PeerID { members[peer]?.way ?? peer }

  /// A peer joined: it hears what is said from now on.
  func enterQueue(_ peer: Peer, _ session: Session) {
    let way = way(to: peer.id)
    if queues[way]?.isClosed ?? true {
      nextQueue += 1
      let number = nextQueue
      queues[way] = SendQueue(number: number)
      spawn { node in await node.sendMessages(by: way, number, session) }
    }
    queues[way]?.enter(peer.id, joining: peer.joinGeneration)
  }

  /// A peer left: what waits is for those who are still there.
  func leaveQueue(_ peer: PeerID) {
    let way = way(to: peer)
    guard let queue = queues[way], queue.isLast(peer) else {
      queues[way]?.leave(peer)
      return
    }
    queues[way]?.close()
    queues[way] = nil
  }

  /// Queues a message to some peers, behind their waiting messages.
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - peers: Its recipients.
  ///   - number: The number of the message, if its recipients must confirm it.
  func queue(_ bytes: [UInt8], for peers: [PeerID], as number: Int? = nil) {
    for (way, recipients) in Dictionary(grouping: peers, by: way) {
      let load = queues[way]?.load
      queues[way]?.append(bytes, to: recipients, as: number)
      if queues[way]?.load != load { wakeNow() }
    }
  }

  /// Sends what waits for those who are reached that way, until it is out.
  private func sendMessages(by way: PeerID, _ number: Int, _ session: Session) async {
    while let message = await nextMessage(by: way, number) {
      do throws(SessionError) {
        let receipt = try await session.send(message.bytes, to: message.joinings)
        if let number = message.number { taken(number, receipt, session) }
      } catch {
        // All recipients left, or the session ended. The event that reports it ends the deliveries.
        configuration.logger.debug(
          "a message was not taken",
          metadata: ["peer": "\(way.short)", "code": "\(error.code)"]
        )
      }
      keepTraffic()
      guard queues[way]?.number == number else { return }
      let load = queues[way]?.load
      queues[way]?.sent(message.bytes.count)
      if queues[way]?.load != load { wakeNow() }
      changed()
    }
  }

  private func nextMessage(by way: PeerID, _ number: Int) async -> SendQueue.Message? {
    await withCheckedContinuation { continuation in
      guard queues[way]?.number == number else {
        continuation.resume(returning: nil)
        return
      }
      queues[way]?.next(continuation)
    }
  }

  /// Sends datagrams, which never wait and may be lost.
  func sendDatagrams(_ session: Session) async {
    for await datagram in datagrams {
      let peers = datagram.peers.filter { members[$0]?.isReached == true }
      guard !peers.isEmpty else { continue }
      _ = try? await session.send(datagram.bytes, to: peers, mode: .unreliable)
    }
  }

  /// Waits until so little waits to be sent that more may be made, or until who should take it
  /// stands still: one peer must not stop the board of all.
  func roomToSend() async {
    _ = await wait { node in
      node.queues.values.allSatisfy {
        $0.load == .light || $0.isStalled(for: SendQueue.standstill)
      }
    }
  }
}
