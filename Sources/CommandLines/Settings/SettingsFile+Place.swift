import WhiteboardKit
import WhiteboardRendering

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension SettingsFile {
  /// The path of a configuration file.
  package struct Place: Equatable, Sendable {
    /// The file.
    package let path: String
    /// Whether the user named the file, so that it must exist.
    package let isNamed: Bool

    /// Finds the path: the given one, else `WHITEBOARD_CONFIG`, else `whiteboard/config` in
    /// `$XDG_CONFIG_HOME` or `~/.config`; nil if there is no home directory.
    ///
    /// - Parameters:
    ///   - given: The path from the command line.
    ///   - standard: The path for a program that serves no single user, instead of those directories.
    ///   - environment: The value of a variable, nil if it is not set or empty.
    package init?(
      _ given: String?,
      standard: String? = nil,
      environment: (String) -> String?
    ) {
      if let named = given ?? environment("WHITEBOARD_CONFIG") {
        self.init(path: BoardFile.absolute(named), isNamed: true)
      } else if let standard {
        self.init(path: standard, isNamed: false)
      } else if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
        // Relative values of XDG variables are invalid and ignored, as its specification says.
        self.init(path: directory + "/whiteboard/config", isNamed: false)
      } else if let home = environment("HOME"), home.hasPrefix("/") {
        self.init(path: home + "/.config/whiteboard/config", isNamed: false)
      } else {
        return nil
      }
    }

    private init(path: String, isNamed: Bool) {
      self.path = path
      self.isNamed = isNamed
    }
  }

  /// Reads the file at a place; nil if there is none and the user did not name it.
  ///
  /// - Throws: ``WhiteboardError`` if the file cannot be read, or is malformed, with the number of the line.
  package init?(at place: Place) throws(WhiteboardError) {
    var status = stat()
    if stat(place.path, &status) != 0, errno == ENOENT || errno == ENOTDIR {
      guard place.isNamed else { return nil }
      throw WhiteboardError(
        .noInput,
        "there is no file \(TerminalText.quoted(place.path, limit: 4096))"
      )
    }
    let bytes: [UInt8]
    do throws(CommandError) {
      bytes = try FileReading.whole(place.path, limit: Self.maximumSize)
    } catch {
      throw WhiteboardError(.badConfiguration, error.message)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WhiteboardError(.badConfiguration, "\(place.path): the file is not text in UTF-8")
    }
    do throws(Fault) {
      try self.init(text, path: place.path)
    } catch {
      throw WhiteboardError(.badConfiguration, "\(place.path):\(error.number): \(error.message)")
    }
  }
}
