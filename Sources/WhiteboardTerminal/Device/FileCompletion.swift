#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

enum FileCompletion {
  /// The maximum number of entries of a directory that are read.
  private static let limit = 10_000

  /// Returns the paths that begin with the given text, in no particular order.
  ///
  /// The path of a directory ends with a slash. A file whose name begins with a dot is returned only if the user typed
  /// the dot.
  static func paths(beginning: String) -> [String] {
    let slash = beginning.lastIndex(of: "/")
    let folder = slash.map { String(beginning[...$0]) } ?? ""
    let name = slash.map { beginning[beginning.index(after: $0)...] } ?? beginning[...]
    guard let directory = opendir(folder.isEmpty ? "." : folder) else { return [] }
    defer { closedir(directory) }
    var paths: [String] = []
    var seen = 0
    while seen < limit, let entry = readdir(directory) {
      seen += 1
      let file = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let file, file != ".", file != "..", file.hasPrefix(name), !file.hasPrefix(".") || name.hasPrefix(".")
      else { continue }
      let isDirectory = entry.pointee.d_type == UInt8(DT_DIR)
      paths.append(folder + file + (isDirectory ? "/" : ""))
    }
    return paths
  }
}
