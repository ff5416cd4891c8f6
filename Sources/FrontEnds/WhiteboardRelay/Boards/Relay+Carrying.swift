import PeerDiscovery
import PeerSession
import WhiteboardKit

extension Relay {
  /// Decides whether the relay accepts another host's board, and decides again when the host of an accepted board
  /// reconnects.
  func answer(_ request: CarryRequest) async -> CarryAnswer {
    let (word, code) = request.admission.parts
    if var entry = register[request.session] {
      guard entry.carriage?.host == request.host.text else {
        return .refuse(reason: "The relay already has this board from another host.")
      }
      // The session of an open board reports the change, too. But the board may not be open.
      (entry.admission, entry.code) = (word, code)
      // Files from earlier versions contain no address.
      if entry.carriage?.address == nil { entry.carriage?.address = request.addressBlock }
      return note(entry)
    }
    let refusal: BoardRefusal? =
      switch await clusterStanding(of: request) {
      case .none: limits.refusal(of: request.host, at: request.addressBlock, among: register.entries)
      case .accepted: limits.refusalOfCluster(register.entries)
      case .deleted: .deleted
      }
    // Another request for the same board may have been answered in the meantime.
    guard register[request.session] == nil else { return await answer(request) }
    if let refusal {
      metrics.add(.boardsRefused, of: refusal.label)
      logger.notice(
        "Board not accepted.",
        metadata: ["board": "\(request.session.short)", "peer": "\(request.host.text)", "reason": "\(refusal.reason)"]
      )
      return .refuse(reason: refusal.reason)
    }
    acceptInCluster(request.session, hostedBy: request.host)
    let now = BoardFile.now
    let name = request.name.escaped()
    return note(
      BoardRegister.Entry(
        board: request.session.text,
        name: name.isEmpty ? "board" : name,
        admission: word,
        code: code,
        carriage: .init(host: request.host, request.grant, address: request.addressBlock),
        since: now,
        visited: now
      )
    )
  }

  private enum ClusterStanding { case none, accepted, deleted }

  /// Returns whether another relay of the cluster hosts the board or has accepted it, or has deleted a board that a relay
  /// hosts. Only the relay that the host of any other board named may accept the board again.
  private func clusterStanding(of request: CarryRequest) async -> ClusterStanding {
    let isOfRelay = cluster.relays[request.host] != nil
    var record = cluster.unpublished[request.session]?.record
    if record == nil, let connection = cluster.connection {
      record = SharedBoardRecord(try? await connection.value(of: SharedBoardRecord.key(request.session)))
    }
    guard let record, record.host == request.host.text else { return isOfRelay ? .accepted : .none }
    return record.isDeleted ? (isOfRelay ? .deleted : .none) : .accepted
  }

  private func note(_ entry: BoardRegister.Entry) -> CarryAnswer {
    do throws(WhiteboardError) {
      try register.set(entry)
      return .carry
    } catch {
      logger.error("\(error.message)")
      return .refuse(reason: "The relay cannot store the board. Its disk may be full.")
    }
  }

  func take(_ carried: CarriedSession) async {
    guard let entry = register[carried.request.session] else {
      // The board was deleted after it was accepted.
      await carried.session.leave()
      return
    }
    logger.notice(
      "Board accepted.",
      metadata: ["board": "\(carried.request.session.short)", "peer": "\(carried.request.host.short)"]
    )
    open(entry, carried.session)
  }

  /// Announces the relay to hosts that search for one (DSC-24).
  func announce() {
    guard limits.boards != .none, let discovery = configuration.discovery, let transport,
      let port = UInt16(exactly: transport.port)
    else { return }
    let advertisement = Advertisement(port: port, announcement: .ofRelay(transport.peerID, named: configuration.name))
    let isOver = ending
    spawn { relay in
      await discovery.advertise(advertisement) { advertising in
        relay.spawn { relay in for await event in advertising.events { relay.log(event) } }
        for await _ in isOver {}
      }
    }
  }

  private func log(_ event: AdvertiserEvent) {
    switch event {
    case .announced: logger.info("Relay announced.")
    case .unavailable(let problem): logger.warning("Relay not announced.", metadata: ["reason": "\(problem)"])
    case .renamed, .available: break
    }
  }
}

extension Announcement {
  fileprivate static func ofRelay(_ peer: PeerID, named name: String) -> Announcement {
    Announcement(
      peer: AnnouncedPeerID(peer),
      session: .none,
      incarnation: AnnouncedIncarnation(UInt64.random(in: 1...UInt64.max)),
      role: .relay,
      boardName: "",
      hostName: name,
      participants: nil
    )
  }
}

extension AdmissionPolicy {
  fileprivate var parts: (word: String, code: String?) {
    switch self {
    case .anyone: (BoardConfiguration.Admission.anyone.rawValue, nil)
    case .known, .ask: (BoardConfiguration.Admission.known.rawValue, nil)
    case .code(let code): (BoardConfiguration.Admission.code.rawValue, code.text)
    }
  }
}
