import Foundation

/// A namespace for running blocking code outside the threads of Swift tasks.
enum Blocking {
  static func run<T: Sendable>(_ path: String, _ body: @escaping @Sendable () throws -> T) async throws(DocumentError)
    -> T
  { try await result(path, body).get() }

  static func result<T: Sendable>(_ path: String, _ body: @escaping @Sendable () throws -> T) async -> Result<
    T, DocumentError
  > {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do { continuation.resume(returning: .success(try body())) } catch {
          continuation.resume(returning: .failure(.from(error, at: path)))
        }
      }
    }
  }
}

extension Result {
  var failure: Failure? {
    switch self {
    case .success: nil
    case .failure(let error): error
    }
  }
}
