import Foundation

enum Browser {
  /// Opens an `https` address. Returns false if this computer has no screen or no browser.
  static func open(_ link: String) -> Bool {
    let environment = ProcessInfo.processInfo.environment
    guard link.hasPrefix("https://"),
      let path = program(environment, { FileManager.default.isExecutableFile(atPath: $0) })
    else { return false }
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = [link]
    // The browser must not write to the terminal.
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return (try? process.run()) != nil
  }

  /// Returns the path of the program that opens addresses. Without a screen, `xdg-open` would start a browser for
  /// terminals on this terminal.
  static func program(_ environment: [String: String], _ isExecutable: (String) -> Bool) -> String? {
    let hasScreen = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    guard hasScreen else { return nil }
    return environment["PATH", default: ""].split(separator: ":").map { "\($0)/xdg-open" }.first(where: isExecutable)
  }
}
