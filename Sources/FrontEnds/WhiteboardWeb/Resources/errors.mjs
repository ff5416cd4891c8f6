import { isolated } from "./ids.mjs";

/** The reason why changes are neither undone nor redone. */
export const CHANGED_SINCE = "others have changed or deleted the same objects since.";

/** The messages for refused edits that a user of the page can make; a function receives the `detail` of the error. */
const MESSAGES = {
  __proto__: null,
  "unknown-object": "The object is no longer on the board.",
  "held": (detail) => `${isolated(detail.name || "Another member")} has selected the object. To take it, select it again.`,
  "locked": "The object is locked. Unlock it first.",
  "unfinished": "The stroke is still being drawn.",
  "out-of-range": "The object would be outside the board, too large, or too small.",
  "too-long": "The text or the stroke is too long.",
  "empty": "There is nothing to add.",
  "stack-full": "There is no free layer between these objects. Bring one of them to the front or send it to the back first.",
  "too-many-operations": "There are too many objects for one change. Select fewer objects.",
  "nothing-to-undo": ({ skipped }) => skipped ? `Nothing was undone, because ${CHANGED_SINCE}` : "There is nothing to undo.",
  "nothing-to-redo": ({ skipped }) => skipped ? `Nothing was redone, because ${CHANGED_SINCE}` : "There is nothing to redo.",
  "board-full": "The board is full. Delete objects that are not needed.",
  "share-used": "You have reached the storage limit for one member of this board. Delete some of your objects.",
  "photos-used": "Your photos on this board are too large in total. Delete some of them.",
  "clock-exhausted": "The clock of another member was wrong, so the object cannot be changed.",
  "viewer": "You can only view this board.",
  "unknown-language": "There is no word list for this language.",
  "unknown-word": "The word is not in the word list.",
  "repeated-word": "You have already guessed this word.",
  "column-full": "The column is full.",
  "not-your-turn": "It is the other player’s turn.",
  "not-a-player": "Two other people are playing this game.",
  "game-over": "The game is over.",
  "too-many-moves": "You have made the maximum number of moves in this game.",
  "closed": "The board is closed. Reload the page.",
};

/** The reason for removing all guests at the end of a board (WEB-10). */
export const CLOSED = "The host closed the board.";
/** The reasons for removing the guests of a link. */
const ENDED = ["The link has expired.", "The link is no longer valid.", "The host revoked all browser links."];
const NEW_LINK = "Ask the host for a new link or QR code.";
const FULL = ["The board is full", "The maximum number of people is already on this board."];

/** The short title, the title, the reason and the advice for connections that were refused permanently, by the code of CLOSE. */
const REFUSALS = {
  // A code can be any text, such as the name of a method.
  __proto__: null,
  "wrong-code": ["Link not valid", "This link is not valid", "The link has expired, was revoked, admits no new people, or contains a mistake.", NEW_LINK],
  full: ["Board full", ...FULL, "Try again when someone has left."],
  "not-verified": ["Not verified", "This may not be the host", "The page could not verify that it is connected to the host of the board.", "Do not use this page. Ask the host whether the link and the certificate are correct."],
  "no-such-session": ["Not open", "The host does not have this board open", "Check the link, or ask the host whether the board is open."],
  "version-mismatch": ["Out of date", "This page is out of date", "The host uses another version of the program.", "Reload the page."],
};

/** Returns the texts for a connection that was refused or ended permanently: a short title, a title, and paragraphs. */
export function refusal({ code, message }) {
  if (code !== "kicked") return REFUSALS[code] ?? ["Not connected", "The host refused the connection", message || `Reason: ${code ?? "unknown"}`, "Ask the host for a new link."];
  if (message === CLOSED) return ["Board closed", "The host closed the board", "You can still view the board, and save it as a picture. To draw again, ask the host for a new link."];
  if (ENDED.includes(message)) return ["Access ended", "Your access has ended", message, NEW_LINK];
  return ["Removed", "You were removed from this board", message ? `The host gave this reason: ${message}` : "The host ended your access.", "Ask the host for a new link if this was a mistake."];
}

/** The title and the advice for connections that ended, and that the page opens again, by the code of CLOSE. */
const INTERRUPTIONS = {
  __proto__: null,
  "shutting-down": ["The host no longer lets browsers join", "Ask the host to let browsers join again with the command “web on”, or to start the program again if it has ended."],
  "no-such-session": ["This board is not open for browsers now", "Ask the host to let browsers join again with the command “web on”."],
  full: [...FULL, "Wait until someone has left."],
  "locked-out": ["The host has received too many wrong codes", "The page tries again in about a minute."],
  "too-slow": ["The connection is too slow"],
  replaced: ["Another page uses the same link", "Close the other page in this browser."],
};

/** Returns the title and the advice for a connection that ended, or that could not be opened, and that the page opens again. */
export function interruption({ connection, code, message }) {
  if (connection === "connecting" && message === null) return ["Connecting to the host"];
  if (!code || code === "timed-out") return ["The host cannot be reached", "The host may be turned off, or this device may be on another network.", "Make sure that this device is on the same network as the host."];
  if (code === "left" && !message) return ["The connection was closed while this page was in the background"];
  return INTERRUPTIONS[code] ?? ["The connection ended", message || `Reason: ${code}`];
}

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
