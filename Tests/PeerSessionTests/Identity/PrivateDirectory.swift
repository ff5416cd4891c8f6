import Foundation

/// Runs `body` with a directory of its own, which is gone afterwards.
func withPrivateDirectory<Result>(
  _ body: (String) async throws -> Result
) async throws -> Result {
  let url = FileManager.default.temporaryDirectory
    .appending(path: "whiteboard-\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: url,
    withIntermediateDirectories: true,
    attributes: [.posixPermissions: 0o700]
  )
  defer { try? FileManager.default.removeItem(at: url) }
  return try await body(url.path())
}

/// The permission bits of what is at `path`.
func permissions(_ path: String) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
}

/// Changes the permission bits of what is at `path`.
func setPermissions(_ mode: Int, _ path: String) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}
