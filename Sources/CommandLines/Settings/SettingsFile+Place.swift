import PeerCore
import WhiteboardKit

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
    /// Whether the user named the file.
    ///
    /// Such a file must exist.
    package let isNamed: Bool

    /// Finds the path of the configuration file.
    ///
    /// It is the given path. Without one, it is the value of `WHITEBOARD_CONFIG`, or otherwise `whiteboard/config` in
    /// `$XDG_CONFIG_HOME` or `~/.config`. Returns nil if there is no home directory.
    ///
    /// - Parameters:
    ///   - given: The path from the command line.
    ///   - standard: The path that replaces these directories for a program that does not belong to a user.
    ///   - environment: A function that returns the value of an environment variable; nil if it is not set or empty.
    package init?(_ given: String?, standard: String? = nil, environment: (String) -> String?) {
      if let named = given ?? environment("WHITEBOARD_CONFIG") {
        self.init(path: BoardFile.absolute(named), isNamed: true)
      } else if let standard {
        self.init(path: standard, isNamed: false)
      } else if let directory = environment("XDG_CONFIG_HOME"), directory.hasPrefix("/") {
        // Ignore relative paths in XDG variables. The XDG specification declares them invalid.
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

  /// Reads a configuration file; returns nil if it does not exist and the user did not name it.
  ///
  /// - Throws: ``WhiteboardError`` if the file cannot be read. If a line is malformed, the error contains its number.
  package init?(at place: Place) throws(WhiteboardError) {
    var status = stat()
    if stat(place.path, &status) != 0, errno == ENOENT || errno == ENOTDIR {
      guard place.isNamed else { return nil }
      throw WhiteboardError(.noInput, "there is no file \(UntrustedText(place.path).quoted(limit: 4096))")
    }
    let bytes: [UInt8]
    do throws(CommandError) { bytes = try FileReading.whole(place.path, limit: Self.maximumSize) } catch {
      throw WhiteboardError(.badConfiguration, error.message)
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw WhiteboardError(.badConfiguration, "\(place.path): the file is not UTF-8 text")
    }
    do throws(Fault) { try self.init(text, path: place.path) } catch {
      throw WhiteboardError(.badConfiguration, "\(place.path):\(error.number): \(error.message)")
    }
  }
}
