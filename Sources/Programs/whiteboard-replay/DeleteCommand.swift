import ArgumentParser
import CommandLines
import PeerCore
import SessionReplay
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRendering

struct DeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Delete a recording, after asking.",
    discussion: """
      If the recording is one of your boards, the board is deleted from this computer. Other members keep their \
      copies. A board that is open in another program is not deleted. A symbolic link is not followed.
      """
  )

  @OptionGroup var input: RecordingArgument

  @OptionGroup var confirmation: Confirmation

  mutating func run() async throws {
    let path = try await input.path()
    let boards = BoardFile.directory(inDataDirectory: try Recording.settings().chosenDataDirectory())
    let kind = path.hasPrefix(boards + "/") ? "your board" : "the recording"
    try await confirmation.delete(path, kind, named: input.file, command: "delete") {
      let size = ByteCount.text(BoardFile.byteCount(of: path))
      // The user can also delete a file that is too damaged to be read.
      let recording = try? await Recording.read(path, isLoud: false)
      return recording.map { "\(Recording.text($0.duration)), \(size)" } ?? "\(size), damaged"
    }
    Console.complain("Deleted \(UntrustedText(path).escaped()).")
  }
}
