/** The two games: draws them on the board, and shows the dialogs in which they are played. */

import { element, icon, toast } from "./dom.mjs";
import { isolated } from "./ids.mjs";
import { openDialog } from "./panels.mjs";

const MARKS = { "=": "#538d4e", "~": "#b59f3b", "-": "#6b6f76" };
const DISCS = { R: "#e5484d", Y: "#ffc53d" };
const SANS = "system-ui, sans-serif";
/** The names of the games. The name of another game can be any text, such as the name of a method. */
const NAMES = { __proto__: null, wordle: "Wordle", "connect-four": "Connect Four" };

export const gameName = (object) => NAMES[object.game] ?? "Game";


/** Draws a game in its box, around its center. */
export function drawGame(painter, object, looks) {
  const [width, height] = object.size;
  const isDark = looks.palette.plain === "#ffffff";
  const frame = { fill: isDark ? "#232327" : "#f6f6f9", stroke: isDark ? "#45454d" : "#d9d9e0", radius: 8 };
  painter.box(-width / 2 - 6, -height / 2 - 6, width + 12, height + 12, frame);
  const view = object.view ?? {};
  const plain = { rgb: looks.palette.plain, opacity: 0.8 };
  if (object.game === "wordle" && !view.notJudged) drawWordle(painter, view, isDark);
  else if (view.grid) drawConnectFour(painter, view, plain, isDark, looks);
  else painter.words(gameName(object), 0, 4, { size: 13, color: plain, align: "center", family: SANS });
}

function drawWordle(painter, view, isDark) {
  const rows = ownRows(view);
  for (let row = 0; row < 6; row += 1) {
    for (let column = 0; column < 5; column += 1) {
      const [x, y] = [column * 21.5 - 52.5, row * 21.5 - 63.5];
      const guess = rows[row];
      if (!guess) {
        painter.box(x, y, 19, 19, { stroke: isDark ? "#55555e" : "#c4c4cc", radius: 3 });
        continue;
      }
      painter.box(x, y, 19, 19, { fill: MARKS[guess.marks[column]], radius: 3 });
      const color = { rgb: "#ffffff", opacity: 1 };
      const letter = (guess.word?.[column] ?? "").toUpperCase();
      painter.words(letter, x + 9.5, y + 14, { size: 13, color, align: "center", isBold: true, family: SANS });
    }
  }
}

function drawConnectFour(painter, view, plain, isDark, { name }) {
  painter.box(-70, -64, 140, 110, { fill: isDark ? "#2f4a8a" : "#3e63dd", radius: 6 });
  const line = new Set((view.line ?? []).map(([column, row]) => `${column} ${row}`));
  view.grid.forEach((cells, row) => [...cells].forEach((cell, column) => {
    const [x, y] = [column * 19 - 65, row * 17.6 - 60];
    const isInLine = line.has(`${column} ${view.grid.length - 1 - row}`);
    const style = { fill: DISCS[cell] ?? (isDark ? "#16161a" : "#ffffff"), radius: 7.75, lineWidth: 2 };
    painter.box(x, y, 15.5, 15.5, isInLine ? { ...style, stroke: "#ffffff" } : style);
  }));
  painter.words(status(view, name), 0, 60, { size: 10, color: plain, align: "center", family: SANS, most: 140 });
}

const ownRows = (view) => view.players?.find?.((player) => player.member === view.member)?.rows ?? [];

function status(view, name) {
  const who = (member) => member === view.member ? "You" : isolated(name(member));
  const [winner] = view.winners ?? [];
  if (view.state === "won") return `${who(winner?.member)} won`;
  if (view.state === "drawn") return "It is a draw";
  if (view.state === "resigned") return winner ? `${who(winner.member)} won: the other player gave up` : "A player gave up";
  if (!view.turn) return view.players.includes(view.member) ? "Waiting for a second player" : "A seat is free";
  return view.turn === view.member ? "Your turn" : `${who(view.turn)}’s turn`;
}


/** Opens the dialog of a game. The dialog shows the moves of other members until it is closed. */
export function playGame(ui, id) {
  const first = ui.board.objects.get(id);
  if (!first) {
    // The event of a new game can arrive after this call.
    const wait = ({ detail }) => {
      if (!detail.changed.has(id) && !detail.removed.has(id)) return;
      ui.board.removeEventListener("objects", wait);
      if (ui.board.objects.has(id)) playGame(ui, id);
    };
    return ui.board.addEventListener("objects", wait);
  }
  const play = (move) => {
    const problem = ui.attempt(() => ui.board.play(id, move));
    update();
    return !problem;
  };
  const Game = first.game === "wordle" ? WordleDialog : ConnectFourDialog;
  if (!first.view || first.view.notJudged) return toast("This page does not support this game.");
  const game = new Game(play, ui);
  const update = () => {
    const object = ui.board.objects.get(id);
    if (object) game.update(object.view);
    else close();
  };
  const observer = ({ detail }) => (detail.changed.has(id) || detail.removed.has(id)) && update();
  ui.board.addEventListener("objects", observer);
  const close = openDialog(gameName(first), game.root, () => {
    ui.board.removeEventListener("objects", observer);
    removeEventListener("keydown", onkey, true);
  });
  const onkey = (event) => !event.ctrlKey && !event.metaKey && !event.altKey && game.key(event);
  addEventListener("keydown", onkey, true);
  update();
}

class WordleDialog {
  #play;
  #ui;
  #typed = "";
  #view;
  #grid = element("div.wordle", { role: "img" });
  #note = element("p.note", { role: "status" });
  #others = element("ul.note");
  #keys = new Map();

  constructor(play, ui) {
    this.#play = play;
    this.#ui = ui;
    const keyboard = element("div.keyboard.edit", {}, ...["qwertyuiop", "asdfghjkl", "↵zxcvbnm⌫"].map((row) =>
      element("div", {}, ...Array.from(row, (key) => {
        const label = { "↵": "Enter", "⌫": "Delete letter" }[key] ?? key;
        const made = element("button", { type: "button", textContent: key, ariaLabel: label, onclick: () => this.#press(key) });
        this.#keys.set(key, made);
        return made;
      }))));
    this.root = element("div.game", { tabIndex: -1, autofocus: true, role: "group", ariaLabel: NAMES.wordle }, this.#grid, this.#note, keyboard, this.#others);
  }

  key(event) {
    if (event.target.matches?.("button") && event.key === "Enter") return;
    const key = { Enter: "↵", Backspace: "⌫" }[event.key] ?? event.key.toLowerCase();
    if (!this.#keys.has(key)) return;
    event.preventDefault();
    event.stopPropagation();
    this.#press(key);
  }

  #press(key) {
    if (this.#view.answer || this.#ui.isViewer) return;
    if (key === "⌫") this.#typed = this.#typed.slice(0, -1);
    else if (key !== "↵") this.#typed = (this.#typed + key).slice(0, 5);
    else if (this.#typed.length < 5) toast("A word has five letters.");
    else if (this.#play(this.#typed)) this.#typed = "";
    this.update(this.#view);
  }

  update(view) {
    this.#view = view;
    const rows = ownRows(view);
    this.#grid.replaceChildren(...Array.from({ length: 30 }, (_, index) => {
      const [row, column] = [Math.floor(index / 5), index % 5];
      const letter = row === rows.length ? this.#typed[column] : rows[row]?.word?.[column];
      return element("span", { textContent: letter ?? "", className: { "=": "correct", "~": "misplaced", "-": "absent" }[rows[row]?.marks[column]] ?? "" });
    }));
    const words = { "=": "correct", "~": "elsewhere", "-": "not in the word" };
    this.#grid.ariaLabel = rows.map(({ word, marks }) =>
      Array.from(word ?? "", (letter, index) => `${letter} ${words[marks[index]]}`).join(", ")).join("; ") || "No guesses yet";
    for (const [key, made] of this.#keys) made.className = { "=": "correct", "~": "misplaced", "-": "absent" }[view.keyboard?.[key]] ?? "";
    this.#note.textContent = view.answer ? `The word is “${view.answer}”.` : this.#ui.isViewer ? "You can only watch this game." : "Guess the five-letter word in six tries.";
    const ranks = new Map((view.winners ?? []).map(({ member }, index) => [member, index + 1]));
    this.#others.replaceChildren(...(view.players ?? []).filter(({ member }) => member !== view.member).map((player) => {
      const tries = player.hasWon ? `solved it in ${player.rows.length}` : player.isDone ? "did not find it" : `${player.rows.length} of 6 tries`;
      const rank = ranks.get(player.member);
      return element("li", {}, rank ? `${rank}. ` : null, element("bdi", {}, this.#ui.name(player.member)), `: ${tries}`);
    }));
  }
}

class ConnectFourDialog {
  #play;
  #ui;
  #columns;
  #note = element("p.note", { role: "status" });
  #resign;

  constructor(play, ui) {
    this.#play = play;
    this.#ui = ui;
    this.#columns = Array.from({ length: 7 }, (_, index) =>
      element("button", { type: "button", onclick: () => this.#drop(index + 1) }, ...Array.from({ length: 6 }, () => element("i"))));
    this.#resign = element("button.quiet.edit", { type: "button", onclick: () => this.#play("resign") }, icon("flag"), "Give up");
    this.root = element("div.game", { tabIndex: -1, autofocus: true, role: "group", ariaLabel: NAMES["connect-four"] }, this.#note, element("div.four", {}, ...this.#columns), this.#resign);
  }

  key(event) {
    const column = "1234567".indexOf(event.key);
    const focused = this.#columns.indexOf(document.activeElement);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) this.#columns[(Math.max(focused, 0) + step + 7) % 7].focus();
    else if (column >= 0) this.#drop(column + 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #drop(column) {
    if (!this.#columns[column - 1].disabled) this.#play(String(column));
  }

  update(view) {
    const own = view.players.indexOf(view.member), isPlaying = view.state === "playing";
    const canJoin = view.players.length < 2 && (view.invited?.includes(view.member) ?? true);
    const canPlay = isPlaying && !this.#ui.isViewer && (own >= 0 || canJoin);
    const line = new Set((view.line ?? []).map(([column, row]) => `${column} ${row}`));
    this.#columns.forEach((made, column) => {
      const cells = view.grid.map((row) => row[column]);
      [...made.children].forEach((cell, row) => {
        cell.className = { R: "red", Y: "yellow" }[cells[row]] ?? "";
        cell.classList.toggle("line", line.has(`${column} ${5 - row}`));
      });
      const discs = cells.filter((cell) => cell !== ".").reverse().map((cell) => cell === "R" ? "red" : "yellow");
      made.ariaLabel = `Column ${column + 1}: ${discs.join(", ") || "empty"}`;
      made.disabled = !canPlay;
    });
    const hint = !canPlay ? "" : own < 0 ? " Tap a column to play." : ` You play ${["red", "yellow"][own]}.`;
    this.#note.textContent = `${status(view, this.#ui.name)}.${hint}`;
    this.#resign.hidden = own < 0 || !isPlaying;
  }
}
