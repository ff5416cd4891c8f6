extension CommandTable {
  /// What is known of a verb.
  package static func entry(_ name: CommandName) -> Entry {
    let (arguments, summary, keys) = columns(name)
    return Entry(
      name: name,
      arguments: arguments,
      summary: summary,
      keys: keys,
      notes: notes(name)
    )
  }

  /// What else there is to know of a verb.
  private static func notes(_ name: CommandName) -> [String] {
    switch name {
    case .profile:
      ["ICON is none, or one of these by its name or as the emoji:", CommandParser.icons]
    case .game, .play:
      [
        "wordle: six tries each at a word of five letters, in English; of a guess's letters",
        "= is in its place, ~ elsewhere in the word, - not in it (or not so often).",
        "connect-four: without opponent= the first two who move play; R moves first, then Y.",
        "A move cannot be taken back.",
      ]
    case .pen:
      [
        "Colour and width are those it begins with. It ends with `lift`, with your next change, or when you leave."
      ]
    case .view:
      ["X,Y is the centre; the width and height are in board units, rounded to whole ones."]
    case .insert:
      [
        "was= is what the text was when AT was counted: what others typed since moves it along.",
        "What you put into one text within a second of what you put there before is one step.",
      ]
    case .duplicate:
      ["Copies of all in a group make a group of their own; copies of some of it are in none."]
    case .scale:
      [
        "about= is the place that stays where it is (default: the center).",
        "With line=keep, lines stay as wide as they are.",
      ]
    case .erase:
      ["A line of which nothing is left is deleted. Lines that are locked or held stay."]
    case .undo:
      [
        "Changes that others made since stay. A step of which nothing can be undone is skipped.",
        "Moves in games, chat and purges are not steps. A game with moves in it stays: use `delete`.",
      ]
    case .set:
      [
        "grid is the distance of its lines in board units, 0 for none; an empty title is none.",
        "language is a tag like en; words for games exist only in English.",
      ]
    case .export:
      [
        "W and H are a width and a height from X,Y on; all objects that touch them are written.",
        "scale is the number of .png pixels per board unit, at most 64.",
        "A file that is there is not written over without force.",
      ]
    case .import:
      [
        "Without at= it lies where it was, and a picture at 0,0. It is one step for `undo`.",
        "Games begin anew, and of a drawing of Excalidraw what fills shapes is left out.",
      ]
    case .accept:
      [
        "With `always` the peer is admitted without asking from now on, to every board that you open with",
        "admission by `ask`. `kick`, or `whiteboard-peer peers forget`, ends that.",
        "FILE is the id of the transfer, the name of the file, or the name of the member that offers it.",
      ]
    case .continue:
      ["Until then every change is refused. Members do not get what you change then."]
    case .hide:
      [
        "It concerns your screen only: objects, pointer and chat of the member, on all boards and also after",
        "a restart. `objects`, exports and JSON events of objects still have everything.",
      ]
    case .kick:
      [
        "The peer cannot return, also after a restart. It is no known peer any more, and a board that you",
        "own accepts none of its changes. --with-admitted also removes every member that the peer admitted,",
        "and the members that those admitted, as far as this program knows. A board with a join code gets a",
        "new code, which is printed. This program and its relay then refuse older codes; members that know",
        "an older code still admit by it. --keep-code keeps the codes.",
      ]
    case .invite:
      [
        "TIME is a number and s, m, h or d, at most 30d; a code holds no longer than the board is open."
      ]
    case .role:
      [
        "For boards made with --owned. What somebody drew who looks on from now on stays,",
        "as far as it came here.",
      ]
    case .copy:
      ["Copies are kept in the data directory, until others take their place."]
    case .order:
      ["Next to a group means next to all its objects."]
    default:
      []
    }
  }

  /// How a verb is written after its name, what it does, and its keys in JSON.
  private static func columns(_ name: CommandName) -> (String, String, [String]) {
    switch name {
    case .text:
      (
        ##"X,Y "WORDS" [color=#RRGGBB] [as=ALIAS]"##,
        "put a text on the board, its centre at X,Y",
        ["at", "text", "color", "as"]
      )
    case .stroke:
      (
        "X,Y X,Y … [color=#RRGGBB] [width=WIDTH] [over=SECONDS] [as=ALIAS]",
        "draw a line through the points, at once or live over that time",
        ["points", "color", "width", "over", "as"]
      )
    case .pen:
      (
        "X,Y X,Y … [color=#RRGGBB] [width=WIDTH] [as=ALIAS]",
        "draw on with the line you are drawing, or begin one; others see it grow",
        ["points", "color", "width", "as"]
      )
    case .lift:
      ("", "end the line you are drawing", [])
    case .point:
      (
        "X,Y|none [laser]",
        "show the others where you point, with a laser brightly and with a trail",
        ["at", "laser"]
      )
    case .view:
      (
        "X,Y WIDTH HEIGHT|none",
        "tell the others which part of the board you look at, so that they can follow you",
        ["at", "width", "height"]
      )
    case .photo:
      (
        "X,Y FILE [as=ALIAS]",
        "put a photo on the board (JPEG, PNG or WebP)",
        ["at", "file", "as"]
      )
    case .game:
      (
        "wordle|connect-four X,Y [opponent=PEER] [as=ALIAS]",
        "begin a game: a word for everybody to guess, or four in a row for two",
        ["game", "at", "opponent", "as"]
      )
    case .duplicate:
      (
        "ID … [by=DX,DY] [as=ALIAS]",
        "copy objects, by 20,20 or DX,DY from where they are",
        ["id", "ids", "by", "as"]
      )
    case .select:
      ("ID …", "select exactly these objects", ["id", "ids"])
    case .deselect:
      ("", "clear the selection", [])
    case .move:
      (
        "ID … X,Y|+DX,DY",
        "move an object, or the centre of several, to a point or by a distance",
        ["id", "ids", "to", "by"]
      )
    case .scale:
      (
        "ID … FACTOR [about=X,Y] [line=keep]",
        "set an object's scale (1 is its original size); scale several about their center",
        ["id", "ids", "factor", "about", "line"]
      )
    case .rotate:
      (
        "ID … DEGREES",
        "set an object's angle, clockwise, 0 being upright; turn several about their centre",
        ["id", "ids", "degrees"]
      )
    case .color:
      (
        "ID … #RRGGBB[AA]|default",
        "set the colour of texts and lines",
        ["id", "ids", "color"]
      )
    case .width:
      ("ID … WIDTH", "set the width of lines", ["id", "ids", "width"])
    case .order:
      (
        "ID … front|back|forward|backward|above=ID|below=ID",
        "move objects to the front or back, by one, or next to another",
        ["id", "ids", "place", "above", "below"]
      )
    case .group:
      ("ID … [as=ALIAS]", "group objects", ["id", "ids", "as"])
    case .ungroup:
      ("ID", "ungroup the objects of a group", ["id"])
    case .lock:
      ("ID …", "lock objects against changes", ["id", "ids"])
    case .unlock:
      ("ID …", "unlock objects", ["id", "ids"])
    case .edit:
      (#"ID "WORDS""#, "replace the words of a text", ["id", "text"])
    case .insert:
      (
        #"ID AT "WORDS" [replacing=N] [was="WORDS"]"#,
        "put words into a text after AT characters, in the place of N",
        ["id", "at", "text", "replacing", "was"]
      )
    case .erase:
      (
        "X,Y X,Y … [radius=R]",
        "erase what of lines is within 8, or R, of the path, all of a line if nothing is left",
        ["points", "radius"]
      )
    case .delete:
      ("ID …", "delete objects", ["id", "ids"])
    case .undelete:
      ("ID", "bring a deleted object back", ["id"])
    case .purge:
      (
        "ID | --author PEER",
        "permanently remove a deleted object, or all objects that a member created, for everyone",
        ["id", "author"]
      )
    case .play:
      (
        "ID MOVE",
        "make a move in a game: a word, a column from 1 to 7, or resign",
        ["id", "move"]
      )
    case .undo:
      ("", "take back the last step you made, moves of games aside", [])
    case .redo:
      ("", "make the step again that was taken back last", [])
    case .set:
      (
        "title|background|grid|language VALUE",
        "set the board's title, background (#RRGGBB or default), grid or language of games",
        ["title", "background", "grid", "language"]
      )
    case .accept:
      (
        "INVITATION|FILE [always]",
        "admit a peer that asks to join, confirm verification words, or accept an offered file",
        ["target", "always"]
      )
    case .decline:
      (
        #"INVITATION|FILE ["WHY"]"#,
        "refuse a peer that asks to join, reject verification words, or decline an offered file",
        ["target", "reason"]
      )
    case .kick:
      (
        #"[--with-admitted] [--keep-code] PEER ["WHY"]"#,
        "disconnect a peer and keep it out",
        ["target", "reason", "withAdmitted", "keepCode"]
      )
    case .hide:
      ("PEER", "hide what a present or former member makes from your screen", ["target"])
    case .unhide:
      ("PEER", "show again what a member makes", ["target"])
    case .invite:
      (
        "[view] [expires=TIME]",
        "make an additional code, for a limited time or view-only",
        ["view", "expires"]
      )
    case .role:
      (
        "PEER editor|viewer",
        "let a peer edit a board that you own, or only view it",
        ["target", "role"]
      )
    case .cancel:
      (#"TRANSFER ["WHY"]"#, "stop a resource, from either side", ["target", "reason"])
    case .leave:
      ("", "leave the board with a goodbye, and stay in the program", [])
    case .continue:
      ("", "go on with your own copy of a board from which the host removed you", [])
    case .profile:
      (
        "[name=NAME] [icon=ICON|none]",
        "set or show your name and icon (`help profile` lists the icons)",
        ["name", "icon"]
      )
    case .say:
      (#""WORDS""#, "say something in the chat", ["text"])
    case .send:
      (
        #"[--to PEER] [--unreliable] "WORDS""#,
        "send a message to every peer or to one; answered when all have it, or one can no longer get it",
        ["text", "base64", "to", "unreliable"]
      )
    case .resource:
      (
        "FILE --name TEXT [--to PEER]",
        "send a file under a name; answered when it has arrived",
        ["file", "name", "to"]
      )
    case .stream:
      (
        "NAME FILE [--to PEER]",
        "send a file through a byte stream; answered when it has been read",
        ["name", "file", "to"]
      )
    case .objects:
      ("", "list the objects on the board", [])
    case .show:
      ("ID", "tell one object or group whole, a game as you see it", ["id"])
    case .find:
      (
        "X,Y [X,Y] [inside]",
        "list the objects at a point, or touched by or wholly inside a rectangle",
        ["at", "to", "inside"]
      )
    case .chat:
      ("", "tell what was said in the chat", [])
    case .settings:
      ("", "tell the settings of the board", [])
    case .peers:
      ("", "list the peers of the session", [])
    case .digest:
      ("", "tell the digest of the board", [])
    case .checkpoint:
      ("NAME", "give the board as it is now a name to come back to", ["name"])
    case .checkpoints:
      ("", "list the checkpoints", [])
    case .diff:
      (
        "NAME [NAME]",
        "tell what changed from a checkpoint to another, or to now",
        ["from", "to"]
      )
    case .restore:
      (
        "NAME",
        "make the board what it was at a checkpoint, as a step that can be undone",
        ["name"]
      )
    case .saveAs:
      ("FILE", "write the board to another file", ["file"])
    case .save:
      ("", "save unsaved work now, and report whether everything is on disk", [])
    case .export:
      (
        "FILE [region=X,Y,W,H] [scale=N] [force]",
        "write the board, or a part, as .svg, .png, .pdf, .json, .excalidraw or .txt",
        ["file", "region", "scale", "force"]
      )
    case .import:
      (
        "FILE [at=X,Y]",
        "put a picture, a board as .json or a drawing of Excalidraw on the board",
        ["file", "at"]
      )
    case .copy:
      ("ID …", "keep copies of objects, for this board and any other", ["id", "ids"])
    case .paste:
      ("[X,Y]", "put what was copied last on the board, its middle at X,Y", ["at"])
    case .wait:
      (
        "peers=N|objects=N|synced|SECONDS [timeout=SECONDS]",
        "wait for at least N (0: none), for equal boards on all connected members, or for a time",
        ["peers", "objects", "synced", "seconds", "timeout"]
      )
    case .quit:
      (
        "[anyway]",
        "leave the board and end the program; `anyway` even if the last changes are not saved",
        ["anyway"]
      )
    case .help:
      ("[VERB|verbs]", "explain one verb, or all", ["topic"])
    }
  }
}
