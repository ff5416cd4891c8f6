import Whiteboard
import WhiteboardNode
import WhiteboardRendering
import WhiteboardSync

/// The board on a terminal, as one value: input and news go in, verbs and a screen come out.
///
/// It knows no terminal, no clock and no node. What a person does becomes the verbs that a script would
/// write; what is shown is what the node tells.
package struct BoardClient: Sendable {
  /// What is to be done outside.
  package enum Action: Equatable, Sendable {
    /// A command for the node.
    case command(CommandRequest)
    /// The board is to be left, and the program to end.
    case quit
    /// The terminal is to be cleared and drawn anew.
    case redraw
    /// Everything is to stand still until the person comes back.
    case suspend
    /// A text is to go where other programs paste from.
    case clipboard(String)
    /// The files whose paths begin so are wanted, for ``BoardClient/complete(files:for:)``.
    case findFiles(String)
  }

  /// Somebody else on the board.
  struct Person: Hashable, Sendable {
    var name: String
    var icon: String?
    var state: NodeEvent.PeerState.State
    var presence = Presence()
    /// Where the laser was, the latest place last.
    var trail: [Point] = []
    /// Since when it has not been reached, on the client's clock.
    var silentSince: Duration?
    /// How many changes of ours have been made since.
    var waitingChanges = 0
    /// When its pointer moved last, on the client's clock.
    var movedAt = Duration.zero
  }

  /// A line in the chat or a remark, as it is shown.
  struct Remark: Hashable, Sendable {
    let who: String
    let key: String
    let text: String
  }

  /// What the line at the bottom is for.
  enum Purpose: Hashable, Sendable {
    case chat, command, export
    case photo(at: Point)
    case guess(ObjectID)
  }

  /// What lies over the board until a key is pressed.
  enum Box: Hashable, Sendable {
    case panel(Panel)
    case invite
    case menu(Menu)
    /// The question whether to leave although some of the work is not on disk.
    case unsaved
  }

  /// What the mouse or the keyboard is in the middle of.
  enum Gesture: Hashable, Sendable {
    /// A stroke that is being drawn: its verb's mark until its id is known, and its points.
    case stroke(mark: Int64, id: ObjectID?, points: [Point])
    case shape(Tool, from: Point, to: Point)
    case pan(lastX: Double, lastY: Double)
    case erase([Point])
    case remove([ObjectID])
    case band(from: Point, to: Point)
    case drag(from: Point, to: Point)
    case resize(SelectionFrame.Resize)
    case turn(SelectionFrame, to: Point)
  }

  /// The scale or the angle that one thing is to have, and the mark of the verb that asks for it.
  struct Wanted: Hashable, Sendable {
    let id: ObjectID
    let mark: Int64
    var scale: Double?
    var degrees: Double?
  }

  /// The terminal's size and manners.
  package var columns: Int
  package var rows: Int
  package var isASCII: Bool

  let keys: KeyMap
  /// Whether what moves leaves a trail.
  package var allowsMotion = true
  /// The person's directory, which `~` stands for in paths.
  package var home: String?
  var canvas: BoardCanvas
  var tool = Tool.pen
  /// `0xRRGGBB` of the pen; nil is as the terminal writes.
  var ink: UInt32?
  var width = 5.0
  var gesture: Gesture?
  /// Where and when the last click was.
  var lastClick: (place: Point, time: Duration)?
  /// Where the menu is to open once what was clicked is selected.
  var menuCell: Menu.Cell?
  var selection: Set<ObjectID> = []
  /// The target of the last scaling or rotation.
  var wanted: Wanted?
  /// What anybody has in hand.
  var held: Set<ObjectID> = []
  /// Where the pointer is on the board.
  var pointer: Point?
  var isKeyboardPen = false
  var isPanelShown = true
  var isSnapping = true
  /// Whose view we see, by the key of ``people``.
  var followed: String?
  var box: Box? {
    didSet {
      // A message box would cover what the person has just opened.
      if oldValue == nil, box != nil, isNoticeBoxed { notice = nil }
    }
  }
  var editor: LineEditor?
  var typing: TextTyping?
  var purpose = Purpose.command
  var histories: [String: [String]] = [:]

  // What the node has told.
  var own: String = ""
  var boardName = ""
  /// Its name without a title.
  var plainName = ""
  var boardID = ""
  /// The attempt to join; nil once the session is connected.
  var connecting: Connecting?
  /// Whether this is another peer's board that has not arrived yet.
  var lacksBoard = false
  /// The display names of announcing peers, by board and by peer id.
  var announcers: [String: [String: String]] = [:]
  var link = ""
  var code: String?
  /// Whether discovery shows the board to peers on this network.
  var isAnnounced = false
  /// Whether discovery does not work on this computer.
  var isDiscoveryMissing = false
  /// The save state that the node reported last; nil until it has opened the board.
  var saveState: SaveState?
  var people: [String: Person] = [:]
  /// Where those point who are heard of before they are told to be here.
  var earlyPresences: [String: Presence] = [:]
  /// Who has just gone and comes back by another way.
  var rerouted: Set<String> = []
  var remarks: [Remark] = []
  /// How many remarks there have been.
  var remarkCount = 0
  /// How many chat lines came while no chat was visible.
  var unreadLines = 0
  /// The games that wait for our move.
  var ourTurns: Set<ObjectID> = []
  /// The distance of the board's lines; nil for none.
  var grid: Double?
  /// The message at the bottom.
  var notice: Notice?
  var invitations: [NodeEvent.Invitation] = []
  /// The files that members offer, in the order in which the user is asked.
  var fileOffers: [NodeEvent.ResourceOffered] = []
  /// The transfers of files that the user was asked about, until the user sees how they end.
  var offeredFiles: Set<String> = []
  /// The host's decision that we are no longer a member; nil while we are one.
  var removal: NodeEvent.Removed?
  /// Since when the box about it is shown, on the client's clock; nil while it is not.
  var removalShown: Duration?
  /// The commands that the node has not answered.
  var requests = PendingRequests()
  /// When we last told others where we point.
  var lastPointed = Duration.zero
  /// The last pointer and view that were sent to the others.
  var toldPointer: Point?
  var toldView: Viewport?
  var isQuitAsked: Duration?
  var now = Duration.zero
  /// How many points of the stroke in hand have been handed to the node.
  var sentPoints = 0

  /// How many remarks are kept.
  static let remarkLimit = 5_000

  package init(
    columns: Int,
    rows: Int,
    dotStyle: DotStyle,
    keys: KeyMap = .standard,
    hasColors: Bool = true
  ) {
    self.keys = keys
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    isASCII = dotStyle == .ascii
    canvas = BoardCanvas(
      Viewport(center: Point(x: 0, y: 0), columns: 1, rows: 1),
      dotStyle: dotStyle
    )
    canvas.isMonochrome = !hasColors
    layOut()
  }

  // MARK: - Place

  /// Whether people and chat have room beside the board.
  var hasPanel: Bool { isPanelShown && columns >= 90 && rows >= 16 }
  /// How wide they are.
  static let panelWidth = 26

  /// Where the board is.
  var boardArea: CellArea {
    let isSmall = rows < 4
    let top = isSmall ? 0 : hasToolRow ? 2 : 1
    return CellArea(
      x: 0,
      y: top,
      width: columns - (hasPanel ? Self.panelWidth : 0),
      height: isSmall ? rows : rows - top - 1
    )
  }

  /// The terminal has another size.
  package mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    layOut()
  }

  mutating func layOut() {
    var viewport = canvas.viewport
    viewport.columns = max(boardArea.width, 1)
    viewport.rows = max(boardArea.height, 1)
    canvas.show(viewport)
  }

  /// The place of the board at a place of the terminal, that in cells.
  func place(_ x: Double, _ y: Double) -> Point {
    canvas.viewport.place(
      atColumn: x - Double(boardArea.columns.lowerBound),
      row: y - Double(boardArea.rows.lowerBound)
    )
  }

  // MARK: - Verbs

  /// Sends a command with a request id, so that its answer is known; shows why if it cannot be sent.
  mutating func request(_ command: () throws(CommandError) -> Command) -> [Action] {
    do throws(CommandError) {
      return [.command(try requests.request(try command()))]
    } catch {
      complain(error.message)
      return []
    }
  }

  /// Sends a command with a request id.
  mutating func request(_ command: Command) -> [Action] { request { command } }

  /// The color of the pen, `0xRRGGBBAA`; nil for the default color.
  var penColor: UInt32? { ink.map { $0 << 8 | 0xFF } }

  /// The color and width of the pen.
  var pen: Pen { Pen(color: penColor, width: width.inHundredths) }

  /// The selected objects, by id.
  var selected: [ObjectReference] { selection.sorted().map { ObjectReference($0) } }

  /// The objects that are selected, as they are.
  var selectedSnapshots: [ObjectSnapshot] {
    selection.sorted().compactMap { canvas.item($0)?.snapshot }
  }

  /// How far from a place something may be to be meant: a cell.
  var reach: Double { canvas.viewport.cellWidth }
}
