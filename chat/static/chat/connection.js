// One websocket that comes back: it waits longer after each failure, at random so that not all visitors return at
// once, and at once when the browser says that the network or the tab is back.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;
const ANSWER_WITHIN = 12_000;

export class Connection {
  #url;
  #greet;
  #onFrame;
  #onState;
  #socket = null;
  #attempts = 0;
  #timer = 0;
  #started = false;

  /** `greet` gives the first frame (a promise is fine); `onState` hears "connecting", "open" or "waiting". */
  constructor({ path, greet, onFrame, onState }) {
    this.#url = new URL(path, location.href);
    this.#url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#greet = greet;
    this.#onFrame = onFrame;
    this.#onState = onState;
    window.addEventListener("online", () => this.#hurry());
    window.addEventListener("offline", () => this.#started && this.#lost(this.#socket));
    window.addEventListener("pageshow", () => this.#hurry());
    document.addEventListener("visibilitychange", () => document.hidden || this.#hurry());
  }

  start() {
    this.#started = true;
    this.#open();
  }

  /** Drops the socket and opens another now: for a token that was refused, or a server that fell silent. */
  restart() {
    this.#discard();
    this.#open();
  }

  /** The server is talking sense: the next failure starts with a short wait again. */
  settled() {
    this.#attempts = 0;
    clearTimeout(this.#timer);
    this.#timer = 0;
  }

  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  async #open() {
    clearTimeout(this.#timer);
    this.#onState("connecting");
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#lost(socket), ANSWER_WITHIN);
    socket.addEventListener("message", (event) => {
      if (socket !== this.#socket) return;
      let frame = null;
      try {
        frame = JSON.parse(event.data);
      } catch {
        return;
      }
      if (frame && typeof frame === "object") this.#onFrame(frame);
    });
    socket.addEventListener("close", () => this.#lost(socket));
    socket.addEventListener("open", async () => {
      try {
        const frame = await this.#greet();
        if (socket !== this.#socket) return;
        this.send(frame);
        this.#onState("open");
      } catch {
        this.#lost(socket);
      }
    });
  }

  #discard() {
    const socket = this.#socket;
    this.#socket = null;
    clearTimeout(this.#timer);
    this.#timer = 0;
    socket?.close();
  }

  #lost(socket) {
    if (!socket || socket !== this.#socket) return;
    this.#discard();
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#attempts);
    this.#attempts += 1;
    this.#timer = setTimeout(() => this.#open(), longest / 2 + Math.random() * (longest / 2));
    this.#onState("waiting");
  }

  #hurry() {
    if (this.#started && !this.#socket) this.#open();
  }
}
