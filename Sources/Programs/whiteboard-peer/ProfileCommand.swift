import ArgumentParser
import CommandLines
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

struct ProfileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Show or set the name and the icon under which others see you.",
    discussion: """
      Programs of yours that have a board open use the new name and icon immediately. A program that was started with \
      another name, for example with `--as`, keeps that name.
      """
  )

  @Option(help: ArgumentHelp("The new name.", valueName: "NAME")) var name: String?

  @Option(help: ArgumentHelp("The new icon: none, or one of \(CommandParser.icons).", valueName: "ICON"))
  var icon: String?

  @OptionGroup var common: CommonOptions

  private struct Line: Encodable {
    let peer: String
    let name: String
    let icon: String?
  }

  mutating func run() async throws {
    let settings = try common.settings()
    let directory = try settings.chosenDataDirectory()
    let identity: PeerIdentity
    // Load the identity first, because this also creates the data directory and makes it private.
    do { identity = try PeerIdentity.loadOrCreate(forBoardsIn: directory) } catch {
      throw WhiteboardError(error, inDataDirectory: directory)
    }
    let personal = PersonalSettings(inDataDirectory: directory)
    do throws(CommandError) { try await personal.change(name: name, icon: icon) } catch { throw WhiteboardError(error) }
    let (name, icon) = try await filing { () async throws(DocumentError) in
      (try await personal.name ?? Environment.userName, try await personal.icon)
    }
    try Console.tell(
      common.json
        ? String(
          decoding: EventLine.json("profile", Line(peer: identity.peerID.text, name: name, icon: icon?.emoji)),
          as: UTF8.self
        ) : EventText.profile(named: name, icon) + "\n"
    )
  }
}
