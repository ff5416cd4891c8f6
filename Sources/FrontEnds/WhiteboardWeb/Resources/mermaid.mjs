/** Reads flowcharts of Mermaid as forms and arrows, with the layout of the programs (`Flowchart`, `FlowchartLayout`). */

import { colorOf } from "./excalidraw.mjs";
import { columns, rectangle, union, widened, wrapped } from "./geometry.mjs";

const [NODE_GAP, LAYER_GAP, FRAME, SWEEPS, MOST, LETTERS, LABEL] = [48, 64, 20, 12, 4000, 200_000, 4000];
const HEADER = /^[ \t]*(?:flowchart-elk|flowchart|graph)(?:[ \t]+(TD|TB|BT|LR|RL))?[ \t]*(?:;|$)/m;
/** The brackets around a label, the form, and whether that form only resembles Mermaid's. */
const SHAPES = [
  ["(((", [")))"], "ellipse", true], ["((", ["))"], "ellipse"], ["([", ["])"], "rounded"], ["[(", [")]"], "rounded", true], ["[[", ["]]"], "rectangle", true],
  ["{{", ["}}"], "rounded", true], ["[/", ["/]", "\\]"], "rectangle", true], ["[\\", ["\\]", "/]"], "rectangle", true], [">", ["]"], "rectangle", true],
  ["(", [")"], "rounded"], ["[", ["]"], "rectangle"], ["{", ["}"], "diamond"],
];
/** The kinds of edges: each with the mark at its start, its letters, its label, and the mark at its end. */
const EDGES = [
  /([<ox]?)(~~~+)()()/y, /([<ox]?)(-\.+-)()([>ox]?)/y, /([<ox]?)(-\.)[ \t]*("[^"]*"|.+?)[ \t]*\.+-([>ox]?)/y,
  /([<ox]?)(--+|==+)()([>ox])/y, /([<ox]?)(---+|===+)()()/y, /([<ox]?)(--|==)[ \t]*("[^"]*"|.+?)[ \t]*(?:--+|==+)([>ox]?)/y,
];
const MARKS = { ">": "arrow", "<": "arrow", o: "dot", x: "bar", "": "none" };
const ESCAPES = { quot: '"', lt: "<", gt: ">", amp: "&", apos: "'", nbsp: "\u00a0" };
const TAGS = /<\/?([a-z]\w*)(?:\s[^<>]*=[^<>]*)?\s*\/?>/gi;
const ICONS = /\bfa[a-z]?:fa-[\w-]+ */g;
/**
 * The names of shapes in `A@{ shape: … }`, the form, and whether that form only resembles Mermaid's. The last entry has
 * all other names.
 */
const NAMES = [
  [/^(rect|proc(ess)?|rectangle)$/, "rectangle"], [/^(rounded|event|stadium|pill|terminal)$/, "rounded"], [/^circ(le)?$/, "ellipse"], [/^(diam(ond)?|decision|question)$/, "diamond"],
  [/circ|start|stop/, "ellipse", true], [/cyl|d[ab]|disk|hex|prep|cloud|lay|half/, "rounded", true], [/^/, "rectangle", true],
];
const LEFT_OUT = { line: "lines that are not understood were left out", other: "lines that the board has nothing for were left out", box: "lines about boxes that do not exist were left out",
  link: "links that do not begin with https were left out", similar: "shapes were replaced by similar ones", style: "styles are not used", icon: "icons were left out", long: "long labels were cut", settings: "settings of the chart were left out" };
/** The maximum number of lines of one quoted label or list of properties. */
const JOINED = 30;

/** Whether quotes, or the braces after `@` or a description, are not closed. */
function isOpen(text) {
  const rest = text.replace(/"[^"]*"/g, "");
  return rest.includes('"') || /@\{[^}]*$/.test(rest) || /^\s*accDescr\s*\{[^}]*$/.test(rest);
}

/** Returns the lines of a chart without comments and settings; each includes the lines up to the end of its quotes or braces. */
function joinedLines(text, lose) {
  const lines = text.replace(/^[ \t]*%%\{[\s\S]{0,4000}?\}%%/gm, () => lose("settings") ?? "").split("\n"), result = [];
  const withoutComment = (line) => /^((?:"[^"]*"|(?!(?:^|[ \t])%%)[\s\S])*)/.exec(line)[1];
  for (let index = 0; index < lines.length; index += 1) {
    let whole = withoutComment(lines[index]), next = index;
    while (isOpen(whole) && next + 1 < lines.length && next - index < JOINED) whole += `\n${lines[next += 1]}`;
    result.push(withoutComment(isOpen(whole) ? lines[index] : whole));
    if (!isOpen(whole)) index = next;
  }
  return result;
}

class Parser {
  nodes = [];
  edges = [];
  losses = new Map();
  /** The subgraphs, each with its `text` and the `nodes` in it and in its subgraphs. */
  frames = [];
  #open = [];
  #ids = new Map();
  /** The names of the nodes, and the names of edges, as in `A e1@--> B`. */
  #names = [];
  #edgeIDs = new Set();
  #styles = new Map();
  /** The details of boxes from statements. A box may be created after the statement. */
  #details = [];

  /** Parses what follows the header; lines that are not understood are counted and left out. */
  constructor(text) {
    const lines = joinedLines(text, (what) => this.lose(what));
    for (const line of lines) for (const statement of line.match(/(?:"[^"]*"|[#&]#?\w{1,8};|\|[^|]*\||[^;"|]|["|])+?(?=;|$)/g) ?? []) this.#statement(statement.trim());
    for (const { name, change } of this.#details) {
      const index = this.#ids.get(name);
      if (index === undefined) this.lose("box");
      else change(this.nodes[index], index);
    }
    this.nodes.forEach((node, index) => {
      for (const name of ["default", ...node.classes, `#${index}`]) Object.assign(node, this.#styles.get(name));
    });
    this.#useFrames();
  }

  lose(what) { this.losses.set(LEFT_OUT[what], (this.losses.get(LEFT_OUT[what]) ?? 0) + 1); }

  /** Returns a label without quotes, tags, escapes and icons. */
  #label(raw) {
    let text = raw.trim().replace(/^"([\s\S]*)"$/, "$1");
    if (text.length > LABEL) this.lose("long");
    text = text.slice(0, LABEL);
    const markdown = /^`([\s\S]*)`$/.exec(text);
    if (markdown) text = markdown[1].replace(/\*\*|__/g, "");
    return text.replaceAll("\\n", "\n").replace(TAGS, (_, name) => /^[bh]r$/i.test(name) ? "\n" : "")
      .replace(/[#&]#?(\w{1,8});/g, (whole, name) => {
        const code = /^(\d+|x[\da-f]+)$/i.test(name) ? Number(name.replace(/^x/i, "0x")) : 0;
        return ESCAPES[name] ?? (code >= 32 && code <= 0x10ffff ? String.fromCodePoint(code) : whole);
      })
      .replace(ICONS, () => this.lose("icon") ?? "").split("\n").map((line) => line.trim()).join("\n");
  }

  #statement(statement) {
    const [, word, rest] = /^(\S*)\s*([\s\S]*)$/.exec(statement), [, names, more] = /^(\S+)\s*([\s\S]*)$/.exec(rest) ?? [];
    const detail = (name, change) => this.#details.push({ name, change });
    if (!statement) return;
    if (word === "end" && !rest) return this.#open.pop() ? undefined : this.lose("line");
    if (word === "subgraph") return this.#subgraph(rest);
    if (["direction", "linkStyle", "accTitle:", "accDescr:", "accDescr"].includes(word)) return this.lose("other");
    if (word === "click") {
      const [, node, link] = /^(\S+)\s+(?:href\s+)?"(https:\/\/[^"\s]+)"/.exec(rest) ?? [];
      return link ? detail(node, (box) => { box.link = link; }) : this.lose("link");
    }
    if (["classDef", "class", "style"].includes(word)) {
      if (!more) return this.lose("line");
      if (word === "classDef") return names.split(",").forEach((name) => this.#style(name, more));
      if (word === "class") return names.split(",").forEach((name) => detail(name, ({ classes }) => { classes.push(more); }));
      return detail(names, (_, index) => this.#style(`#${index}`, more));
    }
    if (this.#edgeIDs.has(/^(.*?)@\{/.exec(word)?.[1])) return this.lose("other");
    this.#chain(statement);
  }

  /** Parses `id [Title]`, `id`, or a title of several words. */
  #subgraph(text) {
    const [, name, title] = /^([^[]*?)\s*(?:\[([\s\S]*)\])?$/.exec(text) ?? [null, text];
    this.#open.push(this.frames[this.frames.push({ name, text: this.#label(title ?? name), nodes: new Set() }) - 1]);
  }

  /** Makes lines to a subgraph end at its frame. For the layout, such a line leads to one of the boxes of the subgraph. */
  #useFrames() {
    const frameOf = new Map(this.frames.filter(({ name }) => this.#ids.has(name)).map((frame) => [this.#ids.get(frame.name), frame])), places = new Map();
    if (!frameOf.size) return;
    this.nodes.forEach((_, index) => { if (!frameOf.has(index)) places.set(index, places.size); });
    this.nodes = this.nodes.filter((_, index) => !frameOf.has(index));
    const known = (list) => list.filter((index) => places.has(index)).map((index) => places.get(index));
    for (const frame of this.frames) frame.nodes = new Set(known([...frame.nodes]));
    this.edges = this.edges.filter((edge) => {
      edge.frames = [frameOf.get(edge.from), frameOf.get(edge.to)];
      edge.from = edge.frames[0] ? [...edge.frames[0].nodes].at(-1) : places.get(edge.from);
      edge.to = edge.frames[1] ? [...edge.frames[1].nodes][0] : places.get(edge.to);
      const isDrawn = edge.from !== undefined && edge.to !== undefined && (edge.from !== edge.to || !edge.frames.some(Boolean));
      if (!isDrawn) this.lose("other");
      return isDrawn;
    });
  }

  #style(name, text) {
    const style = { ...this.#styles.get(name) }, keys = { fill: "fill", stroke: "color", color: "textColor" };
    for (const [, property, value] of text.matchAll(/([\w-]+)\s*:\s*([^,]+)/g)) {
      const color = keys[property] && colorOf(value.trim());
      if (color) style[keys[property]] = color;
      else if (property === "stroke-dasharray") style.lineStyle = "dashed";
      else this.lose("style");
    }
    this.#styles.set(name, style);
  }

  #node(name) {
    if (!this.#ids.has(name)) {
      this.#ids.set(name, this.nodes.push({ text: name, form: "rectangle", classes: [] }) - 1);
      this.#names.push(name);
    }
    const index = this.#ids.get(name), isFree = !this.frames.some((frame) => frame.nodes.has(index));
    if (isFree) for (const frame of this.#open) frame.nodes.add(index);
    return index;
  }

  /** Parses the properties of a shape: `shape: diamond, label: "Text"`. */
  #properties(node, text) {
    for (const property of text.match(/(?:"[^"]*"|[^",\n])+/g) ?? []) {
      const [, key, value] = /^\s*([\w-]+)\s*:\s*([\s\S]*?)\s*$/.exec(property) ?? [], [, form, isSimilar] = NAMES.find(([names]) => names.test(value));
      if (key === "label") node.text = this.#label(value);
      else if (key === "shape") {
        node.form = form;
        if (isSimilar) this.lose("similar");
      } else if (property.trim()) this.lose("style");
    }
  }

  /** Parses nodes that are connected by edges, such as `A & B --> C[Text] -- text --> D`; a part that is not understood leaves no nodes. */
  #chain(text) {
    let at = 0;
    const take = (pattern) => {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) at = pattern.lastIndex;
      return found;
    };
    const node = () => {
      const name = take(/\s*([\p{L}\p{N}_](?:[\p{L}\p{N}_+?!*'#$%]|[-./](?=[\p{L}\p{N}_]))*)/uy)?.[1];
      if (!name) return null;
      const index = this.#node(name), [open, ends, form, isSimilar] = SHAPES.find(([start]) => text.startsWith(start, at)) ?? [];
      if (open) {
        const start = at += open.length;
        for (let isQuoted = false; isQuoted || !ends.some((end) => text.startsWith(end, at)); at += 1) {
          if (at >= text.length) return null;
          if (text[at] === '"') isQuoted = !isQuoted;
        }
        Object.assign(this.nodes[index], { text: this.#label(text.slice(start, at)), form });
        at += ends.find((end) => text.startsWith(end, at)).length;
        if (isSimilar) this.lose("similar");
      } else if (text.startsWith("@{", at)) {
        const found = take(/@\{((?:"[^"]*"|[^"}])*)\}/y);
        if (!found) return null;
        this.#properties(this.nodes[index], found[1]);
      }
      for (let found; (found = take(/:::([\w-]+)/y));) this.nodes[index].classes.push(found[1]);
      return index;
    };
    const nodes = () => {
      const list = [node()];
      while (list.at(-1) !== null && take(/\s*&/y)) list.push(node());
      return list.includes(null) ? null : list;
    };
    const leaveOut = (count) => {
      for (const name of this.#names.splice(count)) this.#ids.delete(name);
      this.nodes.length = count;
      for (const frame of this.frames) for (const index of frame.nodes) if (index >= count) frame.nodes.delete(index);
      this.lose("line");
    };
    // A line has a meaning only if it has an edge, or a node with more than a name.
    let count = this.nodes.length, last = nodes(), hasMeaning = last && /[[({>@:]/.test(text.slice(0, at));
    while (last && text.slice(at).trim()) {
      take(/\s*/y);
      if (hasMeaning) count = this.nodes.length;
      const [, id] = take(/([\p{L}\p{N}_]+)@(?=[-<=~ox])/uy) ?? [];
      let edge = null;
      for (const pattern of EDGES) edge ??= take(pattern);
      const label = edge && take(/\s*\|("[^"]*"|[^|]*)\|/y)?.[1], next = edge && nodes();
      if (!next) return leaveOut(count);
      if (id) this.#edgeIDs.add(id);
      const [, start, line, words, end] = edge;
      for (const from of last) for (const to of next) {
        this.edges.push({ from, to, text: this.#label(label ?? words), isHidden: line[0] === "~", isDashed: line[1] === ".", isThick: line[0] === "=", start: MARKS[start], end: MARKS[end] });
      }
      hasMeaning = true;
      last = next;
    }
    if (!last) leaveOut(count);
  }
}

function sizeOf({ text, form }) {
  const rows = wrapped(text, 24), [width, height] = [Math.max(...rows.map(columns), 4) * 8, rows.length * 16];
  return form === "ellipse" ? [width / 0.7 + 24, height / 0.7 + 24] : form === "diamond" ? [width * 2 + 24, height * 2 + 24] : [width + 32, height + 32];
}

/** Returns the centers of the nodes, and the bends of the edges; layers are rows from top to bottom, which `direction` turns. */
function placed({ nodes, edges }, direction) {
  const isSideways = /LR|RL/.test(direction), sign = /BT|RL/.test(direction) ? -1 : 1;
  const box = (breadth, depth, layer) => ({ breadth, depth, layer, place: 0, near: [[], []] });
  const boxes = nodes.map(({ size: [width, height] }) => isSideways ? box(height, width, 0) : box(width, height, 0));
  // An edge that closes a cycle is treated like an edge in the other direction.
  const states = nodes.map(() => 0), out = nodes.map(() => []);
  edges.forEach((edge) => out[edge.from].push(edge));
  nodes.forEach((_, start) => {
    const path = states[start] ? [] : [[start, 0]];
    for (let last; (last = path.at(-1));) {
      const [node, next] = last, edge = out[node][next];
      states[node] = edge ? 1 : 2;
      if (!edge) path.pop();
      else {
        last[1] += 1;
        edge.ends = states[edge.to] === 1 ? [edge.to, edge.from] : [edge.from, edge.to];
        if (!states[edge.to]) path.push([edge.to, 0]);
      }
    }
  });
  const forward = edges.filter(({ from, to }) => from !== to), waiting = nodes.map((_, node) => forward.filter(({ ends }) => ends[1] === node).length);
  for (const ready = nodes.map((_, node) => node).filter((node) => !waiting[node]); ready.length;) {
    const node = ready.pop();
    for (const { ends: [from, to] } of forward) if (from === node) {
      boxes[to].layer = Math.max(boxes[to].layer, boxes[node].layer + 1);
      if (!(waiting[to] -= 1)) ready.push(to);
    }
  }
  // A long edge has a place in each layer between its nodes.
  for (const edge of forward) {
    const [from, to] = edge.ends;
    let last = boxes[from];
    const join = (next) => {
      last.near[1].push(next);
      next.near[0].push(last);
      last = next;
    };
    edge.way = [];
    for (let layer = boxes[from].layer + 1; layer < boxes[to].layer; layer += 1) {
      edge.way.push(box(edge.text && !edge.way.length ? 80 : 8, 0, layer));
      boxes.push(edge.way.at(-1));
      join(edge.way.at(-1));
    }
    join(boxes[to]);
    if (from !== edge.from) edge.way.reverse();
  }
  const layers = [];
  for (const one of boxes) (layers[one.layer] ??= []).push(one);
  const number = () => layers.forEach((layer) => layer.forEach((one, index) => { one.index = index; }));
  const mean = (list, key, other) => list.length ? list.reduce((sum, one) => sum + one[key], 0) / list.length : other;
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      number();
      layer.forEach((one) => { one.key = mean(one.near[sweep % 2], "index", one.index); });
      layer.sort((one, other) => one.key - other.key);
    }
  }
  for (const layer of layers) {
    let start = 0;
    for (const one of layer) {
      one.place = start + one.breadth / 2;
      start += one.breadth + NODE_GAP;
    }
  }
  for (let sweep = 1; sweep <= SWEEPS; sweep += 1) {
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      // Blocks of boxes that touch. For each box of a block, `sum` includes the position of the first box that would
      // suit this box best.
      const blocks = [];
      let offset = 0;
      layer.forEach((one, index) => {
        if (index) offset += (layer[index - 1].breadth + one.breadth) / 2 + NODE_GAP;
        blocks.push({ sum: mean(one.near[sweep % 2], "place", one.place) - offset, boxes: [[one, offset]] });
        while (blocks.length > 1 && blocks.at(-2).sum / blocks.at(-2).boxes.length > blocks.at(-1).sum / blocks.at(-1).boxes.length) {
          const last = blocks.pop();
          blocks.at(-1).sum += last.sum;
          blocks.at(-1).boxes.push(...last.boxes);
        }
      });
      for (const { sum, boxes: list } of blocks) for (const [one, at] of list) one.place = sum / list.length + at;
    }
  }
  // The gap below a layer is as large as the labels in it need.
  const gaps = layers.map(() => LAYER_GAP);
  for (const { ends, text } of forward) if (text) {
    const lines = text.split("\n"), extent = isSideways ? Math.max(...lines.map(columns)) * 8 : lines.length * 16;
    gaps[boxes[ends[0]].layer] = Math.max(gaps[boxes[ends[0]].layer], extent + LAYER_GAP);
  }
  let start = 0;
  layers.forEach((layer, index) => {
    const depth = Math.max(...layer.map((one) => one.depth));
    for (const one of layer) one.center = isSideways ? [sign * (start + depth / 2), one.place] : [one.place, sign * (start + depth / 2)];
    start += depth + gaps[index];
  });
  nodes.forEach((node, index) => { node.center = boxes[index].center; });
}

/** Returns what a flowchart contains, as `fromExcalidraw` does; null if the text is not a flowchart. */
export function fromMermaid(given) {
  let settings = 0;
  const count = (whole) => {
    settings += !whole.includes("%%") || whole.includes("%%{");
    return "";
  };
  const text = given.replaceAll("\r\n", "\n").replace(/^\s*```mermaid\n([\s\S]*?)\n```\s*$/, "$1").replace(/^\s*---\n[\s\S]*?\n---\n/, count)
    .replace(/^(?:\s*%%\{[\s\S]{0,4000}?\}%%|\s*%%.*\n)+/, count).trimStart();
  const header = HEADER.exec(text);
  if (header?.index !== 0) return null;
  const tooLarge = () => new Error("The flowchart is too large for the page. Ask the host to import it.");
  if (text.length > LETTERS) throw tooLarge();
  const chart = new Parser(text.slice(header[0].length)), { nodes, edges, losses } = chart;
  for (; settings; settings -= 1) chart.lose("settings");
  if (!nodes.length) return null;
  if (nodes.length + edges.length > MOST) throw tooLarge();
  for (const node of nodes) node.size = sizeOf(node);
  placed(chart, header[1] ?? "TD");
  const base = { type: "drawing", scale: 1, angle: 0, lineWidth: 2 }, isSideways = /LR|RL/.test(header[1] ?? "");
  const objects = nodes.map(({ text: label, classes, center, ...more }, index) => ({ ...base, ...more, id: `n${index}`, centerPosition: center, text: label }));
  for (const [index, frame] of [...chart.frames.entries()].reverse()) {
    frame.id = `f${index}`;
    const boxes = [...frame.nodes].map((node) => nodes[node]).map(({ center: [x, y], size: [width, height] }) => rectangle([x - width / 2, y - height / 2], [x + width / 2, y + height / 2]));
    const { left, top, right, bottom } = widened(boxes.reduce(union, null) ?? rectangle([0, 0], [0, 0]), FRAME);
    // A frame is below the other objects, so that the other objects belong to it when they are created.
    Object.assign(frame, { center: [(left + right) / 2, (top + bottom) / 2], size: [right - left, bottom - top] });
    if (boxes.length) objects.unshift({ ...base, id: frame.id, form: "frame", lineWidth: 1, centerPosition: frame.center, size: frame.size, text: frame.text });
  }
  const twins = new Map();
  for (const edge of edges) {
    const key = String([edge.from, edge.to].sort()), list = twins.get(key) ?? [];
    twins.set(key, [...list, edge]);
  }
  for (const list of twins.values()) list.forEach((edge, index) => {
    if (edge.isHidden) return;
    // Several lines between the same nodes are beside each other, and a loop is on the right side of its node.
    const shift = list.length > 1 ? (index / (list.length - 1) - 0.5) * 0.6 : 0, isLoop = edge.from === edge.to;
    const anchors = isLoop ? [[0.5, -0.2], [0.5, 0.2]] : Array(2).fill(isSideways ? [0, shift] : [shift, 0]);
    const targets = [edge.from, edge.to].map((node, side) => edge.frames?.[side] ?? { id: `n${node}`, ...nodes[node] });
    const ends = targets.map(({ center, size }, side) => [0, 1].map((axis) => center[axis] + anchors[side][axis] * size[axis]));
    const bends = isLoop ? ends.map(([x, y]) => [x + 40, y]) : edge.way.map(({ center }) => center), points = [ends[0], ...bends, ends[1]];
    const { left, top, right, bottom } = points.map((point) => rectangle(point, point)).reduce(union), [x, y] = [(left + right) / 2, (top + bottom) / 2];
    objects.push({
      ...base, id: `e${objects.length}`, form: edge.end === "arrow" ? "arrow" : "line", centerPosition: [x, y], size: [right - left, bottom - top], points: points.map(([u, v]) => [u - x, v - y]),
      text: edge.text, lineStart: edge.start, lineEnd: edge.end, lineStyle: edge.isDashed ? "dashed" : undefined, lineWidth: edge.isThick ? 4 : 2,
      startBinding: { id: targets[0].id, anchor: anchors[0], isExact: isLoop }, endBinding: { id: targets[1].id, anchor: anchors[1], isExact: isLoop },
    });
  });
  return { objects, photos: new Map(), losses };
}
