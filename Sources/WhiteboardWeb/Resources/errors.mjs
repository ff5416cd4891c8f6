import { isolated } from "./ids.mjs";

/** The messages for refused edits that a user of the page can make; a function receives the `detail` of the error. */
const MESSAGES = {
  "unknown-object": "The object is no longer on the board.",
  "held": (detail) => `${isolated(detail.name || "Another member")} has selected the object. Wait until it is deselected.`,
  "locked": "The object is locked. Unlock it first.",
  "unfinished": "The stroke is still being drawn.",
  "out-of-range": "The object would be outside the board, too large, or too small.",
  "too-long": "The text or the stroke is too long.",
  "empty": "There is nothing to add.",
  "stack-full": "There is no free layer between these objects. Bring one of them to the front or send it to the back first.",
  "too-many-operations": "There are too many objects for one change. Select fewer objects.",
  "nothing-to-undo": "There is nothing to undo.",
  "nothing-to-redo": "There is nothing to redo.",
  "board-full": "The board is full. Delete objects that are not needed.",
  "share-used": "You have reached the storage limit for one member of this board. Delete some of your objects.",
  "photos-used": "Your photos on this board are too large in total. Delete some of them.",
  "clock-exhausted": "The clock of another member was wrong, so the object cannot be changed.",
  "viewer": "You can only view this board.",
  "unknown-language": "There is no word list for this language.",
  "unknown-word": "The word is not in the word list.",
  "repeated-word": "You have already guessed this word.",
  "column-full": "The column is full.",
  "not-your-turn": "It is the other player's turn.",
  "not-a-player": "Two other people are playing this game.",
  "game-over": "The game is over.",
  "too-many-moves": "You have made the maximum number of moves in this game.",
  "closed": "The board is closed. Reload the page.",
};

/** The error of a refused edit. The edit changed nothing. */
export class BoardError extends Error {
  /** `code` is stable, such as `held`; `detail` has values for the message, such as the `name` of a member. */
  constructor(code, detail = {}) {
    const message = MESSAGES[code] ?? "The change was refused.";
    super(typeof message === "function" ? message(detail) : message);
    this.name = "BoardError";
    this.code = code;
    this.detail = detail;
  }
}
