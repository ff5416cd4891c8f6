import ArgumentParser
import CommandLines
import FoundationEssentials
import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms
import WhiteboardRendering
import WhiteboardTerminal

struct RecordingArgument: ParsableArguments {
  @Argument(help: "The recording: a .whiteboard file, or one of your boards.", completion: .file()) var file: String

  func path() async throws(WhiteboardError) -> String { try await Recording.file(of: file) }

  /// Reports damage on standard error.
  func recording() async throws(WhiteboardError) -> Recording { try await Recording.read(file) }
}

extension Recording {
  /// Returns the path of the file that an argument names. The argument is a path, or the name or id prefix of a saved
  /// board.
  static func file(of word: String) async throws(WhiteboardError) -> String {
    if BoardFile.isMeant(by: word) || FileManager.default.fileExists(atPath: word) { return BoardFile.absolute(word) }
    return try await BoardLibrary(inDataDirectory: try settings().chosenDataDirectory()).file(of: word)
  }

  /// Reads the settings of whiteboard-peer.
  static func settings() throws(WhiteboardError) -> Settings {
    let place = SettingsFile.Place(nil) { Environment[$0] }
    return try Settings(SettingEntry.ofBoard + SettingEntry.ofTerminal, at: place)
  }

  /// Reads the recording that an argument names; if `isLoud`, reports damage on standard error.
  static func read(_ word: String, isLoud: Bool = true) async throws(WhiteboardError) -> Recording {
    let file = try await file(of: word)
    let recording = try await filing { () async throws(DocumentError) in try await openOrSalvage(file) }
    if isLoud {
      for damage in recording.history.damages {
        Console.complain("whiteboard-replay: left out because of damage: \(UntrustedText(damage.words).escaped())")
      }
    }
    return recording
  }

  /// Returns the time that an argument names, in milliseconds from the beginning.
  func asked(_ word: String) throws(WhiteboardError) -> Int64 {
    do throws(MomentError) { return try moment(word) } catch {
      throw WhiteboardError(.usage, UntrustedText(error.message).escaped())
    }
  }

  /// Returns the time that an argument names, after checking that it is within the recording.
  func askedWithin(_ word: String) throws(WhiteboardError) -> Int64 {
    let moment = try asked(word)
    // Times are shown in tenths of a second, so a time that was shown can be slightly beyond the end.
    guard moment <= duration + 100 else {
      throw WhiteboardError(
        .usage,
        "\(UntrustedText(word).quoted()) is beyond the end; the recording lasts \(Recording.exactText(duration))"
      )
    }
    return min(moment, duration)
  }

  /// Returns the display names of the members. The recording knows newer names than the chat, but not all.
  func names(on board: Board) -> [MemberID: String] { BoardFile.names(on: board).merging(names) { $1 } }

  func label(of member: MemberID) -> String {
    let id = String(member.description.prefix(8))
    return name(of: member).map { "\(UntrustedText($0)) (\(id))" } ?? id
  }

  func members(named word: String) throws(WhiteboardError) -> Set<MemberID> {
    var all = Set(members.values)
    all.formUnion(history.traffic.flatMap(\.peers).compactMap { MemberID(bytes: $0) })
    let found = all.filter { member in
      member.description.hasPrefix(word.lowercased()) || name(of: member)?.lowercased() == word.lowercased()
    }
    guard !found.isEmpty else {
      let known = all.sorted().map(label).joined(separator: ", ")
      throw WhiteboardError(
        .usage,
        "there is no peer \(UntrustedText(word).quoted()) in the recording; "
          + (known.isEmpty ? "it has no peers" : "its peers are \(known)")
      )
    }
    return found
  }
}

extension Playback {
  func tellFaults() {
    guard let first = faults.first else { return }
    Console.complain(
      "whiteboard-replay: steps that cannot be applied are left out: step \(first.place + 1)"
        + (faults.count > 1 ? " and \(faults.count - 1) more" : "") + "; see `verify`"
    )
  }
}

extension BoardFile {
  static func photoPixels(_ file: String) async -> [AssetID: PhotoPixels] {
    let photos = (try? await photos(file)) ?? [:]
    return photos.compactMapValues { try? PhotoDecoder.pixels(of: $0, within: 400, 400) }
  }
}
