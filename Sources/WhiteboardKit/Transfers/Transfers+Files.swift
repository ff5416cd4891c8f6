import PeerCore
import PeerSession
import Whiteboard

/// Files that users send as resources or through streams.
extension Transfers {
  // MARK: - Sending files

  /// Sends a file to the given peers, and waits until each has received it.
  nonisolated(nonsending) func sendResource(_ file: String, named name: String, to peers: [PeerID])
    async throws(CommandError) -> [String]
  {
    guard let session else { throw CommandError(.notConnected, "no other member is connected") }
    try FileReading.check(file)
    var started: [ResourceTransfer] = []
    for peer in peers {
      do throws(SessionError) {
        let transfer = try session.sendResource(atPath: file, named: name, to: peer)
        sentPaths[transfer.id] = file
        // Until the other user decides, `cancel` withdraws the file.
        pending[transfer.id] = PendingTransfer(
          kind: .resource(transfer.id, .file),
          name: UntrustedText(name),
          direction: .outgoing,
          peer: peer
        )
        started.append(transfer)
      } catch { throw CommandError(error) }
    }
    var failure: CommandError?
    for transfer in started {
      do throws(SessionError) { _ = try await transfer.result() } catch { failure = failure ?? CommandError(error) }
    }
    if let failure { throw failure }
    return started.map(\.id.text)
  }

  /// Sends files and the files in folders, one after the other, and waits until each peer has received them.
  ///
  /// If a file cannot be sent, the others are sent nevertheless.
  ///
  /// - Throws: ``CommandError`` about the first file that was not sent.
  nonisolated(nonsending) func sendFiles(_ paths: [String], to peers: [PeerID]) async throws(CommandError) -> [String] {
    defer { checkIsolation(#isolation) }
    let files = try await NamedFile.files(at: paths)
    var transfers: [String] = []
    var failures: [CommandError] = []
    for file in files {
      do throws(CommandError) { transfers += try await sendResource(file.path, named: file.name, to: peers) } catch {
        failures.append(error)
      }
    }
    guard let first = failures.first else { return transfers }
    guard files.count > 1 else { throw first }
    throw CommandError(
      first.code,
      "\(failures.count) of \(files.count) files were not sent. The first error: \(first.message)"
    )
  }

  /// Sends a file to each of the given peers through a separate stream, and waits until each peer has read it.
  nonisolated(nonsending) func sendStream(_ file: String, named name: String, to peers: [PeerID])
    async throws(CommandError) -> [String]
  {
    guard let session else { throw CommandError(.notConnected, "no other member is connected") }
    try FileReading.check(file)
    var ids: [String] = []
    for peer in peers { ids.append(try await sendStream(file, named: name, to: peer, session)) }
    return ids
  }

  private nonisolated(nonsending) func sendStream(
    _ file: String,
    named name: String,
    to peer: PeerID,
    _ session: Session
  ) async throws(CommandError) -> String {
    let stream: PeerStream
    do throws(SessionError) { stream = try await session.openStream(named: name, to: peer) } catch {
      throw CommandError(error)
    }
    let id = stream.id.text
    let shownName = UntrustedText(name)
    pending[stream.id] = PendingTransfer(kind: .stream(stream), name: shownName, direction: .outgoing, peer: peer)
    runtime.emit(.streamOpened(.init(stream: id, direction: .outgoing, peer: peer.text, name: shownName)))
    var size: UInt64 = 0
    var failure: CommandError?
    do {
      let reading = try FileReading(file)
      while let chunk = try await reading.next(upTo: 64 * 1024) {
        try await stream.write(chunk)
        size += UInt64(chunk.count)
      }
      try await stream.finish()
      // The peer closes its direction of the stream after it has read all of the file.
      for try await _ in stream.inbound {}
    } catch let error as SessionError { failure = CommandError(error) } catch let error as CommandError {
      stream.reset(code: 0)
      failure = error
    } catch { failure = CommandError(.internal, "the stream failed") }
    pending[stream.id] = nil
    runtime.emit(
      .streamClosed(
        .init(
          stream: id,
          direction: .outgoing,
          peer: peer.text,
          name: shownName,
          outcome: failure.map { $0.code == .cancelled ? .cancelled : .failed } ?? .delivered,
          size: size,
          message: failure.map { UntrustedText($0.message) }
        )
      )
    )
    if let failure { throw failure }
    return id
  }

  /// Reports the bytes of a stream that a peer opened; reads no faster than the sink accepts the events.
  nonisolated(nonsending) func readStream(_ stream: PeerStream) async {
    let id = stream.id.text
    let peer = stream.peer.text
    let name = stream.name
    pending[stream.id] = PendingTransfer(kind: .stream(stream), name: name, direction: .incoming, peer: stream.peer)
    runtime.emit(.streamOpened(.init(stream: id, direction: .incoming, peer: peer, name: name)))
    var offset: UInt64 = 0
    var end = BoardEvent.StreamClosed(
      stream: id,
      direction: .incoming,
      peer: peer,
      name: name,
      outcome: .delivered,
      size: 0
    )
    do throws(SessionError) {
      for try await bytes in stream.inbound {
        var rest = bytes[...]
        while runtime.sink.contents.contains(.data), !rest.isEmpty {
          let piece = Array(rest.prefix(BoardEvent.StreamData.maximumLength))
          rest = rest.dropFirst(piece.count)
          runtime.emit(.streamData(.init(stream: id, peer: peer, offset: offset, base64: Base64Text(piece))))
          offset += UInt64(piece.count)
        }
        await runtime.room()
      }
      try await stream.finish()
    } catch {
      end.outcome = error.code == .reset || error.code == .cancelled ? .cancelled : .failed
      end.message = UntrustedText(error.message)
    }
    end.size = offset
    pending[stream.id] = nil
    runtime.emit(.streamClosed(end))
  }
}
