import PeerTestKit
import Whiteboard
import WhiteboardSync

extension ReplicaWorld {
  /// Whether the topology and the partition allow a link between two nodes now.
  func mayConnect(_ one: Int, _ other: Int) -> Bool {
    if let partition, partition.members.contains(one) != partition.members.contains(other) { return false }
    return switch topology {
    case .mesh: one != other
    case .line: abs(one - other) == 1
    case .star: one != other && min(one, other) == 0
    }
  }

  /// Connects two nodes, if that is allowed.
  package func connect(_ one: Int, _ other: Int) {
    guard mayConnect(one, other), !isConnected(one, other) else { return }
    connected.insert(Link(from: one, to: other))
    connected.insert(Link(from: other, to: one))
    join(one, other)
    join(other, one)
  }

  private func join(_ one: Int, _ other: Int) {
    admit(other, by: one)
    carryOut(nodes[one].replica.peerJoined(nodes[other].member, now: now(one)), one)
  }

  /// Cuts the link between two nodes, and loses everything on it.
  package func disconnect(_ one: Int, _ other: Int) {
    guard isConnected(one, other) else { return }
    cuts += 1
    for link in [Link(from: one, to: other), Link(from: other, to: one)] {
      connected.remove(link)
      packets[link] = nil
    }
    carryOut(nodes[one].replica.peerLeft(nodes[other].member, now: now(one)), one)
    carryOut(nodes[other].replica.peerLeft(nodes[one].member, now: now(other)), other)
  }

  package func connectAll() { for one in nodes.indices { for other in nodes.indices { connect(one, other) } } }

  /// Restarts a node from its stored changes without the latest changes; everything unsent is lost.
  package func crash(_ number: Int) {
    crashes += 1
    let neighbours = nodes.indices.filter { isConnected(number, $0) }
    for other in neighbours {
      for link in [Link(from: number, to: other), Link(from: other, to: number)] {
        connected.remove(link)
        packets[link] = nil
      }
      carryOut(nodes[other].replica.peerLeft(nodes[number].member, now: now(other)), other)
    }
    let node = nodes[number]
    // Set the clock while the program is down.
    if clocks.chance(30) {
      node.skew = newSkew(using: &clocks)
      tally[.clocks] += 1
    }
    node.replica = replica(node.key, now(number))
    if random.chance(weather.losses) {
      node.document = []
    } else if random.chance(20) {
      // Use a backup of any age.
      node.document = Array(node.document.prefix(random.below(node.document.count + 1)))
      tally[.backups] += 1
    } else {
      node.document = Array(node.document.dropLast(random.below(20)))
    }
    var actions: [ReplicaAction] = []
    do throws(RestoreError) {
      // Restore two parts, as a document loads them: the keyframe, and the later changes.
      let count = random.below(node.document.count + 1)
      let (first, others) = (node.document.prefix(count), node.document.dropFirst(count))
      actions += try node.replica.restore(first, now: now(number), isWhole: false)
      actions += try node.replica.restore(others, now: now(number))
    } catch { complaints.append("I11: the stored changes are not restored: \(error)") }
    node.signatures = []
    node.storedAuthors = []
    for action in actions {
      switch action {
      case .sign, .verify: carryOut(action, number)
      default: complaints.append("a restore returns an action other than a signature")
      }
    }
    if !node.document.isEmpty { restores += 1 }
    tally[.crashes] += 1
    let board = node.replica.board
    node.view = View()
    for snapshot in board.snapshots { node.view.objects[snapshot.id] = snapshot }
    for line in board.chat { node.view.chat[line.id] = line }
    for id in board.objectIDs { node.view.holders[id] = board.holder(of: id) }
    node.stored = []
    node.deliveries = [:]
    node.strokes = []
  }

  /// Compacts a document: all its changes become one keyframe.
  package func compact(_ number: Int) {
    guard !nodes[number].replica.isAwaitingSignature else { return }
    nodes[number].document = [.keyframe(nodes[number].replica.snapshotForKeeping())]
  }

  /// Partitions the network in two for some time.
  func fallApart() {
    let members = Set(nodes.indices.filter { _ in random.chance(50) })
    partition = (members, uptime + UInt64(200 + random.below(2000)))
    for one in nodes.indices {
      for other in nodes.indices where one < other && !mayConnect(one, other) { disconnect(one, other) }
    }
  }
}
