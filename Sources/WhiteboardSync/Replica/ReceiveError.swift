import Whiteboard

/// The reason why a message or an answer of a member is not applied.
enum ReceiveError: Error {
  /// The member violated the protocol.
  case violation(ReplicaError)
  /// The answer refers to incarnations without a record (BRD-37).
  case unrecorded
  /// The board has no room, perhaps because of other members.
  case boardFull
}

/// An error that is the reason of a ``ReceiveError``.
///
/// Functions that throw errors of several types convert them, because Embedded Swift has no untyped errors.
protocol ReceiveReason: Error { var receiveError: ReceiveError { get } }

extension ReplicaError: ReceiveReason { var receiveError: ReceiveError { .violation(self) } }

extension CodecError: ReceiveReason { var receiveError: ReceiveError { .violation(.malformed(self)) } }

extension BoardError: ReceiveReason { var receiveError: ReceiveError { .boardFull } }

/// Calls a function, and converts its error.
@inline(__always) func receiving<Result, Failure: ReceiveReason>(_ body: () throws(Failure) -> Result)
  throws(ReceiveError) -> Result
{ do throws(Failure) { return try body() } catch { throw error.receiveError } }
