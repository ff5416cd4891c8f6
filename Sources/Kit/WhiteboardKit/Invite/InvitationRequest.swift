import FoundationEssentials
import WhiteboardDocument

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Asks another program of the same user for an additional join code of an open board. The request is a file beside the
/// ``OpenBoard`` file of that program, and the answer is a second file. Only the user can write these files, so the
/// request needs no other authentication.
package enum InvitationRequest {
  package struct Answer: Codable, Equatable, Sendable {
    package var code: String?
    package var links: [String]?
    package var fingerprint: String?
    package var role: String?
    package var expires: String?
    package var refusal: String?
  }

  package static func ask(
    _ terms: InvitationTerms,
    of board: OpenBoard,
    inDataDirectory directory: String,
    patience: Duration = .seconds(10)
  ) async throws(WhiteboardError) -> Answer {
    let places = Places(board.board, "\(UInt64.random(in: 0...UInt64.max))", directory)
    defer {
      unlink(places.question)
      unlink(places.answer)
    }
    guard let bytes = try? JSONEncoder().encode(terms), write(bytes, to: places.question) else {
      throw WhiteboardError(.cannotCreate, "cannot send the request to the program that has the board open")
    }
    let clock = ContinuousClock()
    let end = clock.now + patience
    while clock.now < end {
      if let bytes = try? FileReading.whole(places.answer, limit: 4096),
        let answer = try? JSONDecoder().decode(Answer.self, from: Data(bytes))
      {
        if let refusal = answer.refusal { throw WhiteboardError(.notAllowed, refusal) }
        return answer
      }
      try? await clock.sleep(for: .milliseconds(20))
    }
    throw WhiteboardError(.timedOut, "the program that has the board open did not answer")
  }

  static nonisolated(nonsending) func serve(
    about board: String,
    inDataDirectory directory: String,
    by invite: nonisolated(nonsending) (InvitationTerms) async throws(CommandError) -> SharedBoard.News.Invited
  ) async {
    defer { checkIsolation(#isolation) }
    let watch = DirectoryWatch(OpenBoardFile.directory(in: directory))
    repeat {
      for (id, terms) in receive(about: board, inDataDirectory: directory) {
        var answer = Answer()
        do throws(CommandError) {
          let invited = try await invite(terms)
          answer.code = invited.code
          answer.links = invited.links
          answer.fingerprint = invited.fingerprint
          answer.role = invited.role
          answer.expires = invited.expires
        } catch { answer.refusal = error.message }
        guard let bytes = try? JSONEncoder().encode(answer) else { continue }
        _ = write(bytes, to: Places(board, id, directory).answer)
      }
    } while await watch.tick()
  }

  private static func receive(about board: String, inDataDirectory directory: String) -> [(
    id: String, terms: InvitationTerms
  )] {
    let prefix = "\(board)\(Places.question)"
    let folder = OpenBoardFile.directory(in: directory)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.sorted().compactMap { name in
      let path = "\(folder)/\(name)"
      guard let bytes = try? FileReading.whole(path, limit: 4096) else { return nil }
      unlink(path)
      guard let terms = try? JSONDecoder().decode(InvitationTerms.self, from: Data(bytes)), terms.isValid else {
        return nil
      }
      return (String(name.dropFirst(prefix.count)), terms)
    }
  }

  private struct Places {
    static let question = ".ask-"
    let question: String
    let answer: String

    init(_ board: String, _ id: String, _ directory: String) {
      let folder = OpenBoardFile.directory(in: directory)
      question = "\(folder)/\(board)\(Self.question)\(id)"
      answer = "\(folder)/\(board).answer-\(id)"
    }
  }

  /// Writes a file so that readers see the whole file or no file.
  private static func write(_ bytes: Data, to path: String) -> Bool {
    let new = path.replacing(".ask-", with: ".new-").replacing(".answer-", with: ".told-")
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return false }
    let isWritten = FileWriting.writeAll(Array(bytes), to: descriptor) == nil
    close(descriptor)
    guard isWritten, rename(new, path) == 0 else {
      unlink(new)
      return false
    }
    return true
  }
}

/// The role and the lifetime of an additional code or a browser link.
public struct InvitationTerms: Hashable, Codable, Sendable {
  /// The maximum lifetime of a code or link, in seconds: 30 days.
  public static let maximumSeconds = 30 * 86_400

  /// Whether the code or link admits viewers only.
  public var isView = false
  /// Whether to create a browser link instead of a code.
  public var isForBrowsers = false
  /// Whether the browser link admits only one guest. A copy of the link in the history of the guest's browser then
  /// admits no other guest.
  public var isOnce = false
  /// The lifetime in seconds; nil for a code or link that is valid while the board is open.
  public var seconds: Int?

  var isValid: Bool { seconds.map((1...Self.maximumSeconds).contains) ?? true }

  /// Creates terms.
  ///
  /// - Parameters:
  ///   - isView: Whether the code or link admits viewers only.
  ///   - isForBrowsers: Whether to create a browser link instead of a code.
  ///   - isOnce: Whether the browser link admits only one guest.
  ///   - seconds: The lifetime in seconds; nil for a code or link that is valid while the board is open.
  public init(isView: Bool = false, isForBrowsers: Bool = false, isOnce: Bool = false, seconds: Int? = nil) {
    self.isView = isView
    self.isForBrowsers = isForBrowsers
    self.isOnce = isOnce
    self.seconds = seconds
  }

  /// Decodes the terms that a program of this or of an earlier version sent.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    isView = try container.decode(Bool.self, forKey: .isView)
    isForBrowsers = try container.decode(Bool.self, forKey: .isForBrowsers)
    // Earlier versions do not have this key.
    isOnce = try container.decodeIfPresent(Bool.self, forKey: .isOnce) ?? false
    seconds = try container.decodeIfPresent(Int.self, forKey: .seconds)
  }

  /// Parses a lifetime: a number with the unit `s`, `m`, `h` or `d`.
  ///
  /// - Parameter text: The text, such as `90m`.
  /// - Returns: The lifetime in seconds; nil if the text is malformed, or the lifetime exceeds ``maximumSeconds``.
  public static func seconds(_ text: String) -> Int? {
    guard let unit = text.last, let number = Int(text.dropLast()), number > 0 else { return nil }
    let size: Int
    switch unit {
    case "s": size = 1
    case "m": size = 60
    case "h": size = 3_600
    case "d": size = 86_400
    default: return nil
    }
    let (seconds, isOver) = number.multipliedReportingOverflow(by: size)
    return isOver || seconds > maximumSeconds ? nil : seconds
  }
}
