import PeerCore
import PeerDiscovery
import PeerSession
import Whiteboard
import WhiteboardSync

extension SharedBoard {
  /// A member of the board, as known when the value was created.
  public struct Member: Hashable, Identifiable, Sendable {
    /// The member's peer id.
    public let id: PeerID
    /// The display name of the member; empty if the member was never connected.
    public let name: UntrustedText

    /// Creates the description of a member.
    ///
    /// - Parameters:
    ///   - id: The member's peer id.
    ///   - name: The display name of the member.
    public init(id: PeerID, name: UntrustedText) {
      self.id = id
      self.name = name
    }
  }

  /// A change of a board, as reported by ``SharedBoard/changes``.
  public enum Change: Sendable {
    /// The author of a change.
    public enum Author: Hashable, Sendable {
      /// The local member.
      case me
      /// Another member, which may be offline.
      case other(Member)
    }

    /// An object was added, or a deleted object was restored.
    case added(ObjectSnapshot, by: Author)
    /// An object was changed; the snapshot is its new state.
    case changed(ObjectSnapshot, by: Author)
    /// An object was deleted.
    case removed(ObjectID, by: Author)
    /// An object was selected; if the author is nil, the object was deselected.
    case selected(ObjectID, by: Author?)
    /// A game is new or changed, as the local member sees it; ``added(_:by:)`` or ``changed(_:by:)`` follows.
    case game(GameView)
    /// Another member continues a stroke that is not committed yet.
    case preview(StrokePreview)
    /// The file of a photo is available.
    case photo(AssetID)
    /// The settings of the board changed: its title, background, grid or language.
    case settings(BoardSettings)
    /// Another program changed a setting of the local user; see ``Boards/Options/settings``.
    case personalSetting(PersonalSettingChange)
    /// A line was added to the chat.
    case chat(ChatLine, by: Author)
    /// A member was connected.
    case joined(Member)
    /// A member left, or was lost because its link was broken for too long.
    ///
    /// When the local member leaves, the sequence ends without reporting that the other members left.
    case left(Member)
    /// A member moved its pointer or its view.
    ///
    /// Up to 30 values arrive per second; a slow reader gets only the latest value of each member.
    case presence(Presence, of: Member)
    /// A member sent a message with ``SharedBoard/send(_:to:mode:)``.
    case message([UInt8], from: Member, mode: SendMode)
    /// A resource from a member arrived completely; its file is in the inbox.
    case resource(ReceivedResource, from: Member)
    /// The local board has caught up with another member for the first time.
    case caughtUp
    /// The save state changed; the first report follows the opening of the board's file.
    case saving(SaveState)
    /// The reader was too slow, and the given number of changes was dropped.
    ///
    /// Read the current state of the board, for example with ``SharedBoard/objects``. Later changes follow.
    case missed(Int)
  }

  /// A change of a personal setting by another program.
  public struct PersonalSettingChange: Hashable, Sendable {
    /// The name of the setting: `name`, `icon` (an emoji) or `hidden` (the ids of the hidden authors, separated by
    /// spaces).
    public let key: String
    /// The value before the change; nil if the setting was not set.
    public let old: String?
    /// The value after the change; nil if the setting was removed.
    public let new: String?
    /// Whether this program uses the new value. False if the user chose another name for this run, or if the value is
    /// not valid.
    public let isApplied: Bool

    /// Creates the description of a change.
    public init(key: String, old: String?, new: String?, isApplied: Bool) {
      self.key = key
      self.old = old
      self.new = new
      self.isApplied = isApplied
    }
  }

  /// The changes of the board from now on, in order, for one reader.
  ///
  /// Each access to the property returns a sequence with its own buffer; any number of readers can read at the same
  /// time. The sequence includes all changes made after the access, even those made before the iteration begins. The
  /// sequence ends when the board is closed or the reading task is canceled.
  ///
  /// The board never waits for a reader. The buffer holds 4,096 changes or 64 MiB. If the buffer is full, its changes
  /// are dropped, and the reader gets ``Change/missed(_:)`` instead.
  public nonisolated var changes: Changes { Changes(readers: readers) }

  /// An asynchronous sequence of the changes of a board; see ``SharedBoard/changes``.
  public struct Changes: AsyncSequence, Sendable {
    private let buffer: ChangeBuffer

    fileprivate init(readers: ChangeReaders) { buffer = readers.add() }

    /// Adds a change that concerns only this reader.
    func append(_ change: Change) { buffer.append(change) }

    /// Returns an iterator.
    ///
    /// All iterators of one sequence share its buffer, and only one task can iterate at a time.
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
