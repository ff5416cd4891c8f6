/** The other member: a board of its own, which draws and changes texts when the test asks it to. */

import { Board } from "./board.mjs";
import { newKey } from "./replica.mjs";

let board;
let pass = () => {};
let timer;

/** A random number generator with the same numbers in each run. */
let seed = 7;
const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;

addEventListener("message", async ({ data }) => {
  if (data.start) await start(data.start);
  else if (data.call) await call(data.call);
  else if (data.isDrawing === true) timer = setInterval(draw, 33);
  else if (data.isDrawing === false) clearInterval(timer);
  else if (data.text !== undefined) board.setText(data.id, data.text);
  else pass(data);
});

async function start({ board: id, id: guest, strokes, forms }) {
  const module = await WebAssembly.compileStreaming(fetch("whiteboard.wasm"));
  const makeSession = ({ onEvent }) => {
    pass = (event) => onEvent({ ...event, member: guest });
    const send = (event) => postMessage({ ...event, member: board.me.id });
    return {
      bufferedBytes: 0,
      connect() {}, close() {}, reject() {},
      send: (_, bytes) => send({ kind: "message", bytes, isReliable: true }),
      sendDatagram: (_, bytes) => send({ kind: "message", bytes, isReliable: false }),
      sendResource: async (_, name, bytes) => send({ kind: "resource", name, bytes }),
    };
  };
  board = await Board.open({ board: id, keys: await newKey(), name: "Anna", module, storage: null, makeSession });
  for (let index = 0; index < strokes; index += 1) board.createDrawing(stroke(), { lineWidth: 2 + 6 * random(), color: ["#e8601c", "#1fae84", "#3b8fd9", null][index % 4] });
  if (forms) diagram(forms);
  postMessage({ kind: "joined", member: board.me.id, name: "Anna" });
  pass({ kind: "state", state: "open" });
  pass({ kind: "joined", name: "Guest" });
}

/** Calls a method of the board; reports its result, and the digest of the board afterwards. */
async function call([method, ...values]) {
  const report = { kind: "called", result: null };
  try {
    report.result = await board[method](...values) ?? null;
  } catch (error) {
    report.error = String(error.message);
  }
  postMessage({ ...report, digest: board.digest });
}

/** Draws labeled boxes in a square, and half as many arrows: up to 500 from the first box, and others between neighbors. */
function diagram(count) {
  const columns = Math.ceil(Math.sqrt(count)), place = (index) => [200 * (index % columns), 120 * Math.floor(index / columns)];
  const forms = ["rectangle", "rounded", "ellipse", "diamond"], fills = [null, "#ffec99ff", "#a5d8ffff", "#b2f2bbff"];
  const ids = Array.from({ length: count }, (_, index) =>
    board.createForm(forms[index % 4], place(index), { size: [120, 60], text: `Step ${index}`, fill: fills[index % 3] }));
  const connect = (from, to) => {
    const [x, y] = place(from), [u, v] = place(to);
    const arrow = board.createForm("arrow", [(x + u) / 2, (y + v) / 2], { points: [[(x - u) / 2, (y - v) / 2], [(u - x) / 2, (v - y) / 2]] });
    [from, to].forEach((index, end) => board.bind(arrow, end === 1, { id: ids[index], anchor: [0, 0] }));
  };
  for (let index = 0; index < count / 2; index += 1) index < 500 && index < count / 4 ? connect(0, 2 * index + 1) : connect(2 * index, 2 * index + 1);
}

/** Returns a line of 60 points at a random place on a board of the size of a phone screen. */
function stroke() {
  let [x, y, turn] = [(random() - 0.5) * 400, (random() - 0.5) * 800, random() * 6];
  return Array.from({ length: 60 }, () => {
    turn += (random() - 0.5) * 0.6;
    x += Math.cos(turn) * 2;
    y += Math.sin(turn) * 2;
    return [x, y];
  });
}

let current = null;
let step = 0;

/** Draws four more points; each stroke has 120 points. */
function draw() {
  current ??= { id: board.beginStroke({ lineWidth: 6, color: "#cc79a7" }), base: [(random() - 0.5) * 200, (random() - 0.5) * 300], count: 0 };
  const points = Array.from({ length: 4 }, () => {
    step += 1;
    return [current.base[0] + 60 * Math.sin(step / 9), current.base[1] + 40 * Math.cos(step / 13)];
  });
  board.extendStroke(current.id, points);
  board.showPresence({ cursor: points.at(-1) });
  current.count += points.length;
  if (current.count < 120) return;
  board.endStroke(current.id);
  current = null;
}
