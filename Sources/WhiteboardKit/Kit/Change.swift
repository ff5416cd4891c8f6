import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardSync

extension SharedBoard {
  /// A member of the board at the time when the value was created.
  public struct Member: Hashable, Identifiable, Sendable {
    /// The member's key.
    public let id: PeerID
    /// The name that the member chose; empty if the member was never connected.
    public let name: UntrustedText

    /// Creates the description of a member.
    public init(id: PeerID, name: UntrustedText) {
      self.id = id
      self.name = name
    }
  }

  /// A change of a board, as ``SharedBoard/changes`` reports it.
  public enum Change: Sendable {
    /// The author of a change.
    public enum Author: Hashable, Sendable {
      /// The local member.
      case me
      /// Another member, who need not be connected.
      case other(Member)
    }

    /// An object was added, or a deleted one is back.
    case added(ObjectSnapshot, by: Author)
    /// An object was changed; the snapshot is its new state.
    case changed(ObjectSnapshot, by: Author)
    /// An object was deleted.
    case removed(ObjectID, by: Author)
    /// An object was selected, or deselected if there is no author.
    case selected(ObjectID, by: Author?)
    /// The settings of the board changed: its title, background, grid or language.
    case settings(BoardSettings)
    /// A line was added to the chat.
    case chat(ChatLine, by: Author)
    /// A member was connected.
    case joined(Member)
    /// A member left, or was lost because its link was broken for too long.
    ///
    /// When the local member leaves, the sequence ends without this change for the other members.
    case left(Member)
    /// A member moved its pointer or view. The values follow one another up to 30 times a second;
    /// a slow reader gets the latest value of each member.
    case presence(Presence, of: Member)
    /// A member sent a message with ``SharedBoard/send(_:to:mode:)``.
    case message([UInt8], from: Member, mode: SendMode)
    /// A resource from a member is complete, and its file is in the inbox.
    case resource(ReceivedResource, from: Member)
    /// The local board first had everything that another member has.
    case caughtUp
    /// The reader was too slow, and this number of changes was dropped.
    ///
    /// Read the board again, for example ``SharedBoard/objects``. Later changes follow.
    case missed(Int)
  }

  /// The changes of the board from now on, in order, for one reader.
  ///
  /// Each use of the property returns a sequence with its own buffer; any number of readers can
  /// read at the same time. Changes made after the call are in the sequence, even before the
  /// iteration begins. The sequence ends with the board, or when the reading task is canceled.
  ///
  /// The board never waits for a reader. A buffer holds 4,096 changes or 64 MiB; if a reader is
  /// slower, the changes in its buffer are dropped, and it gets ``Change/missed(_:)`` in their place.
  public nonisolated var changes: Changes { Changes(readers: readers) }

  /// An asynchronous sequence of the changes of a board; see ``SharedBoard/changes``.
  public struct Changes: AsyncSequence, Sendable {
    private let buffer: ChangeBuffer

    fileprivate init(readers: ChangeReaders) { buffer = readers.add() }

    /// Returns an iterator; all iterators of one sequence share its buffer, and only one task may
    /// iterate at a time.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

    /// The iterator of ``Changes``.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let buffer: ChangeBuffer

      /// Waits for the next change.
      ///
      /// - Returns: The change; nil when the board is closed or the task is canceled.
      public func next() async -> Change? { await buffer.next() }
    }
  }
}
