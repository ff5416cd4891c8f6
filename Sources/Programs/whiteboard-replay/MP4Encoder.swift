import Foundation
import PeerCore
import WhiteboardKit
import WhiteboardPictures
import WhiteboardPrograms

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// A writer of MP4 films, which runs the program ffmpeg.
final class MP4Encoder: FilmEncoder {
  private let process = Process()
  private let input = Pipe()
  private var errors: TailReader?
  private let name: String
  private let width: Int
  private let rate: Int
  /// The pixels of the last frame.
  private var shown: [UInt32]
  /// The number of frames that ffmpeg received.
  private var count: Int64 = 0
  private var isRunning = false

  /// Starts ffmpeg, which writes to an open file. `name` is the name of the file in errors.
  init(width: Int, height: Int, rate: Int, into file: Int32, name: String) throws {
    guard let program = Self.program() else {
      throw WhiteboardError(.system, "the program ffmpeg is missing; install the Debian package ffmpeg")
    }
    guard width % 2 == 0, height % 2 == 0 else {
      throw WhiteboardError(.usage, "the width and the height of an .mp4 film must be even numbers")
    }
    (self.width, self.rate, self.name) = (width, rate, name)
    shown = Array(repeating: 0xFF_FFFF, count: width * height)
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = [
      "-nostdin", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "bgr0", "-video_size", "\(width)x\(height)",
      "-framerate", "\(rate)", "-i", "pipe:0", "-an", "-c:v", "libx264", "-preset", "medium", "-crf", "20", "-pix_fmt",
      "yuv420p", "-movflags", "+faststart", "-f", "mp4", "-y",
      "/dev/stdout",
    ]
    process.standardInput = input
    // ffmpeg writes to its standard output, so that the file needs no name and ffmpeg creates no other file.
    process.standardOutput = FileHandle(fileDescriptor: file, closeOnDealloc: false)
    let errors = Pipe()
    process.standardError = errors
    do { try process.run() } catch {
      throw WhiteboardError(.system, UntrustedText("\(program) cannot be started").escaped())
    }
    isRunning = true
    self.errors = TailReader(errors.fileHandleForReading)
  }

  deinit {
    guard isRunning else { return }
    // SIGTERM would have no effect, because ffmpeg inherits the blocked signals of this thread.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  private static func program() -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { "\($0)/ffmpeg" }.first { access($0, X_OK) == 0 }
  }

  func add(_ frame: FilmFrame, at time: Int64) throws {
    try repeatFrame(until: time)
    for row in 0..<frame.height {
      for column in 0..<frame.width {
        shown[(frame.y + row) * width + frame.x + column] = frame.pixels[row * frame.width + column] & 0xFF_FFFF
      }
    }
  }

  func finish(at time: Int64) throws {
    try repeatFrame(until: time)
    try input.fileHandleForWriting.close()
    try end()
  }

  /// Sends the last frame repeatedly, once for each interval up to a time.
  private func repeatFrame(until time: Int64) throws {
    let frames = (time * Int64(rate) + 500) / 1_000
    let bytes = shown.withUnsafeBytes { Array($0) }
    // After a signal, this loop ends early, and the caller ends the export.
    while count < frames, !Termination.isAsked {
      let failure = FileWriting.writeAll(bytes, to: input.fileHandleForWriting.fileDescriptor)
      if failure != nil {
        // If ffmpeg has ended, throw its error.
        try end()
        throw WhiteboardError(
          .cannotCreate,
          UntrustedText("\(name): ffmpeg ended before the film was complete").escaped()
        )
      }
      count += 1
    }
  }

  private func end() throws {
    let words = String(decoding: errors?.readToEnd() ?? [], as: UTF8.self)
    process.waitUntilExit()
    isRunning = false
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      let line = words.split(separator: "\n").last.map { ": \($0)" } ?? ""
      throw WhiteboardError(.cannotCreate, UntrustedText("\(name): ffmpeg could not write the film\(line)").escaped())
    }
  }
}

/// Reads a pipe on another thread, so that its writer never waits, and stores the last bytes.
private final class TailReader: Sendable {
  private let tail = Locked<[UInt8]>([])
  private let end = DispatchSemaphore(value: 0)
  private static let limit = 4_096

  init(_ pipe: FileHandle) {
    let (tail, end) = (tail, end)
    Thread.detachNewThread {
      while case let bytes = pipe.availableData, !bytes.isEmpty {
        tail.withLock { $0 = ($0 + bytes).suffix(Self.limit) }
      }
      end.signal()
    }
  }

  /// Waits until the writer has closed the pipe. Call it once.
  func readToEnd() -> [UInt8] {
    end.wait()
    return tail.withLock { $0 }
  }
}
