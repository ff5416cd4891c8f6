import Foundation

/// Runs `body` with its own directory, which is removed afterwards.
func withPrivateDirectory<Result>(_ body: (String) async throws -> Result) async throws -> Result {
  let url = FileManager.default.temporaryDirectory.appending(path: "whiteboard-\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: url,
    withIntermediateDirectories: true,
    attributes: [.posixPermissions: 0o700]
  )
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url.path())
}

func permissions(_ path: String) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
}

/// Changes the permission bits of a file.
func setPermissions(_ mode: Int, _ path: String) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
