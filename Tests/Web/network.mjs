// Sessions in this page, which replace those of session.mjs.

/** A network that carries messages between the boards of this page, in order and one task later. */
export class Network {
  #sessions = new Map();
  #isOpen = true;
  /** Returns whether to drop a resource, given its receiver and its name. */
  drops = () => false;
  /** Everything that was sent: `{kind, bytes, isReliable}`, and `name` for a resource. */
  sent = [];

  /** Creates the session of a member; pass it to `Board.open`. */
  session(member) {
    return (options) => ({
      connect: () => {
        this.#sessions.set(member, options);
        options.onEvent({ kind: "state", state: "connecting" });
        if (this.#isOpen) this.#join(member);
      },
      close: () => {
        this.#leave(member);
        this.#sessions.delete(member);
      },
      reject: (other) => options.onEvent({ kind: "left", member: other }),
      send: (members, bytes) => this.#deliver(member, members, { kind: "message", bytes, isReliable: true }),
      sendDatagram: (members, bytes) => this.#deliver(member, members, { kind: "message", bytes, isReliable: false }),
      sendResource: (other, name, bytes) => this.#sendResource(member, other, name, bytes),
    });
  }

  /** Breaks or restores all links. */
  set isOpen(isOpen) {
    if (this.#isOpen === isOpen) return;
    this.#isOpen = isOpen;
    for (const member of this.#sessions.keys()) {
      if (isOpen) this.#join(member);
      else this.#sessions.get(member).onEvent({ kind: "state", state: "offline" });
    }
    if (!isOpen) this.#forEachPair((one, other) => this.#sessions.get(one).onEvent({ kind: "left", member: other }));
  }

  #joined = new Set();

  #join(member) {
    this.#sessions.get(member).onEvent({ kind: "state", state: "open" });
    const others = [...this.#joined];
    this.#joined.add(member);
    for (const other of others) {
      this.#sessions.get(member).onEvent({ kind: "joined", member: other, name: "" });
      this.#sessions.get(other).onEvent({ kind: "joined", member, name: "" });
    }
  }

  #leave(member) {
    if (!this.#joined.delete(member)) return;
    for (const other of this.#joined) this.#sessions.get(other).onEvent({ kind: "left", member });
  }

  #forEachPair(body) {
    const members = [...this.#joined];
    this.#joined.clear();
    for (const one of members) for (const other of members) if (one !== other) body(one, other);
  }

  #deliver(from, members, event) {
    const bytes = event.bytes.slice();
    this.sent.push(event);
    for (const member of members) {
      const isLinked = this.#joined.has(from) && this.#joined.has(member);
      if (isLinked) setTimeout(() => {
        if (this.#joined.has(from)) this.#sessions.get(member)?.onEvent({ ...event, bytes, member: from });
      });
    }
  }

  async #sendResource(from, member, name, bytes) {
    this.sent.push({ kind: "resource", name, bytes });
    await new Promise((resume) => setTimeout(resume));
    const options = this.#sessions.get(member);
    if (!this.#joined.has(member) || !options.accepts(from, name, bytes.size ?? bytes.length)) throw new Error("refused");
    if (this.drops(member, name)) {
      options.onEvent({ kind: "ended", member: from, name });
      throw new Error("lost");
    }
    options.onEvent({ kind: "progress", member: from, name });
    options.onEvent({ kind: "resource", member: from, name, bytes });
  }
}
