import CommandLines
import FoundationEssentials
import PeerCore
import PeerSession
import Testing
import WhiteboardPrograms
import WhiteboardRendering

@testable import WhiteboardKit

/// Files that a member offers and that the user accepts or declines.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FileOfferTests: BoardSuite {
  private func file(_ room: BoardRoom) throws -> String {
    let path = room.path("photo.bin")
    try Data(repeating: 7, count: 2_100_000).write(to: URL(fileURLWithPath: path))
    return path
  }

  private func offer(_ scriptedBoard: ScriptedBoard, of name: String) async -> SharedBoard.News.ResourceOffered? {
    _ = await scriptedBoard.sees { if case .news(.resourceOffered(let o)) = $0 { o.name.raw == name } else { false } }
    for case .news(.resourceOffered(let offer)) in await scriptedBoard.events where offer.name.raw == name {
      return offer
    }
    return nil
  }

  private func end(_ scriptedBoard: ScriptedBoard, of transfer: String) async -> SharedBoard.News.ResourceFinished? {
    _ = await scriptedBoard.sees {
      if case .news(.resourceFinished(let end)) = $0 { end.transfer == transfer } else { false }
    }
    for case .news(.resourceFinished(let end)) in await scriptedBoard.events where end.transfer == transfer {
      return end
    }
    return nil
  }

  private func inbox(_ room: BoardRoom) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: room.path("ben/inbox")).filter { $0 != ".partial" }
  }

  @Test("[RES-8] a file waits for the user, and arrives once it is accepted") func accepted() async throws {
    try await withPair(guestFiles: .ask) { room, host, guest in
      let file = try file(room)
      async let sent = error(host, "resource \(file) --name photo.bin")
      let offer = try #require(await offer(guest, of: "photo.bin"))
      #expect(offer.size == 2_100_000)
      #expect(offer.sender == "ada")
      let line = try #require(EventText.line(.resourceOffered(offer)))
      #expect(line.contains(#"wants to send you "photo.bin" (2.1 MB)."#))
      #expect(line.contains("accept \(offer.transfer)"))
      #expect(try inbox(room).isEmpty)
      #expect(await error(guest, "accept \(offer.transfer) always") == .badArgument)
      try await guest.perform("accept \(offer.transfer)")
      #expect(await sent == nil)
      #expect(await end(guest, of: offer.transfer)?.outcome == .delivered)
      #expect(try inbox(room) == [offer.transfer])
      #expect(await error(guest, "accept \(offer.transfer)") == .noSuchTransfer)
    }
  }

  @Test("[RES-8] a file is declined by the name of its sender, and nothing is stored") func declined() async throws {
    try await withPair(guestFiles: .ask) { room, host, guest in
      let file = try file(room)
      async let sent = error(host, "resource \(file) --name photo.bin")
      let offer = try #require(await offer(guest, of: "photo.bin"))
      try await guest.perform("decline ada")
      #expect(await sent == .declined)
      let end = try #require(await end(guest, of: offer.transfer))
      #expect(end.outcome == .cancelled && end.message == "You declined the file.")
      #expect(try inbox(room).isEmpty)
    }
  }

  @Test("a file that its sender no longer offers cannot be accepted") func withdrawn() async throws {
    try await withPair(guestFiles: .ask) { room, host, guest in
      let file = try file(room)
      async let sent = error(host, "resource \(file) --name photo.bin")
      let offer = try #require(await offer(guest, of: "photo.bin"))
      try await host.perform("cancel photo.bin")
      #expect(await sent == .cancelled)
      let end = try #require(await end(guest, of: offer.transfer))
      #expect(end.outcome == .cancelled && end.message == "The sender no longer offers the file.")
      #expect(await error(guest, "accept \(offer.transfer)") == .noSuchTransfer)
    }
  }

  @Test("a board whose user cannot be asked refuses files and says how to allow them") func refused() async throws {
    try await withPair(guestFiles: .refuse) { room, host, guest in
      let file = try file(room)
      #expect(await error(host, "resource \(file) --name photo.bin") == .declined)
      let isTold = await guest.sees {
        if case .news(.note(let note)) = $0 {
          note.code == "file-refused" && note.message.contains("--accept-files") && note.message.contains("photo.bin")
        } else {
          false
        }
      }
      #expect(isTold)
      #expect(try inbox(room).isEmpty)
    }
  }

  @Test("[SYN-13] catching up asks nothing while a file waits") func catchingUp() async throws {
    try await withPair(guestFiles: .ask) { room, host, guest in
      let file = try file(room)
      var sends: [Task<CommandError.Code?, Never>] = []
      for number in 1...8 {
        sends.append(Task { await error(host, "resource \(file) --name file\(number)") })
        _ = try #require(await offer(guest, of: "file\(number)"))
      }
      let photo = room.path("dot.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: photo))
      try await host.perform("photo 0,0 \(photo)")
      let hasPhoto = await guest.sees {
        if case .news(.resourceFinished(let end)) = $0 { end.outcome == .delivered } else { false }
      }
      #expect(hasPhoto)
      for number in 1...8 { try await guest.perform("decline file\(number)") }
      for send in sends { #expect(await send.value == .declined) }
    }
  }

  @Test("received files are saved under their own names, and none replaces another") func saved() async throws {
    try await withPair {
      $1.saveDirectory = $0.path("downloads/here")
    } _: { room, host, guest in
      let folder = room.path("photos")
      let manager = FileManager.default
      try manager.createDirectory(atPath: folder + "/may", withIntermediateDirectories: true)
      for (name, text) in [("a.txt", "first"), ("may/b.txt", "second"), (".hidden", "third")] {
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      }
      let single = room.path("a.txt")
      try Data("another".utf8).write(to: URL(fileURLWithPath: single))
      let done = try await host.perform("resource \(folder)/ \(single) \(single)")
      #expect(done.transfers?.count == 5)
      for transfer in done.transfers ?? [] { _ = await end(guest, of: transfer) }
      let target = room.path("downloads/here")
      let saved = try manager.contentsOfDirectory(atPath: target).sorted()
      #expect(saved == ["a (2).txt", "a.txt", "photos_a.txt", "photos_hidden", "photos_may_b.txt"])
      let text = try String(contentsOfFile: target + "/photos_may_b.txt", encoding: .utf8)
      #expect(text == "second")
      #expect(try inbox(room).isEmpty)
      for case .news(.resourceFinished(let end)) in await guest.events {
        #expect(end.path?.hasPrefix(target + "/") == true)
      }
    }
  }

  @Test("several files are sent although one is missing, and an empty folder is an error") func several() async throws {
    try await withPair { room, host, guest in
      let file = try file(room)
      #expect(await error(host, "resource \(file) \(room.path("missing"))") == .fileUnreadable)
      #expect(await error(host, "resource \(room.path("nothing"))") == .fileUnreadable)
      try FileManager.default.createDirectory(atPath: room.path("empty"), withIntermediateDirectories: true)
      #expect(await error(host, "resource \(room.path("empty"))") == .fileUnreadable)
    }
  }

  @Test("if only trusted people may send files, those of others are refused with a note") func trusted() async throws {
    try await withPair {
      $1.fileSenders = .trusted
      $1.peerStore = try PeerStore(file: $0.path("ben-peers.json"))
    } _: { room, host, guest in
      let file = try file(room)
      #expect(await error(host, "resource \(file)") == .declined)
      let peer = try #require(await host.ready()).peer
      let isTold = await guest.sees {
        if case .news(.note(let note)) = $0 {
          note.code == "file-refused" && note.message.contains("peers trust --always \(peer)")
        } else {
          false
        }
      }
      #expect(isTold)
      let store = try #require(await guest.sharedBoard?.configuration.peerStore)
      try await store.alwaysAdmit(try #require(PeerID(text: peer)), name: "ada")
      #expect(await error(host, "resource \(file)") == nil)
    }
  }

  @Test(
    "the name of a received file is a name in one folder",
    arguments: [
      ("a.txt", "a.txt"), ("../../etc/passwd", "etc_passwd"), ("C:\\Users\\me\\a.doc", "C_Users_me_a.doc"),
      (".bashrc", "bashrc"), ("..", "file"), ("", "file"), ("\u{202E}gpj.exe\u{0}\n", "gpj.exe"),
      ("Grüße 漢字.pdf", "Grüße 漢字.pdf"), (String(repeating: "x", count: 300) + ".tar.gz", ""),
    ]
  ) func names(_ name: String, _ cleaned: String) {
    let result = NamedFile.cleaned(UntrustedText(name))
    #expect(result.utf8.count <= 200)
    guard name.utf8.count < 200 else {
      #expect(result.hasPrefix("xxx") && result.hasSuffix(".gz"))
      return
    }
    #expect(result == cleaned)
  }

  @Test(
    "sizes are shown with a unit",
    arguments: [
      (1, "1 byte"), (999, "999 bytes"), (1_000, "1.0 kB"), (999_999, "999.9 kB"), (2_100_000, "2.1 MB"),
      (8 << 30, "8.5 GB"), (Int.max, "9223.3 PB"),
    ]
  ) func sizes(_ size: Int, _ words: String) { #expect(ByteCount.text(size) == words) }
}
