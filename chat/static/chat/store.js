// What this browser remembers, and only once the visitor agreed: the token and the conversation (shared by its tabs),
// and of each tab its own conversation and the question being typed. Where storage is blocked, memory stands in.

const SESSION = "marcelcms.session";
const CONVERSATION = "marcelcms.conversation";
const DRAFT = "marcelcms.draft";

function area(name) {
  const memory = new Map();
  const attempt = (action, instead) => {
    try {
      return action(window[name]);
    } catch {
      return instead();
    }
  };
  return {
    read: (key) => attempt((storage) => storage.getItem(key), () => memory.get(key)) ?? memory.get(key) ?? null,
    write: (key, value) => {
      memory.set(key, value);
      attempt((storage) => storage.setItem(key, value), () => {});
    },
    remove: (key) => {
      memory.delete(key);
      attempt((storage) => storage.removeItem(key), () => {});
    },
  };
}

export class Store {
  #shared = area("localStorage");
  #tab = area("sessionStorage");

  /** {token, expiresAt, language} or null: null means that nobody has agreed here yet. */
  get session() {
    try {
      const session = JSON.parse(this.#shared.read(SESSION) ?? "null");
      return typeof session?.token === "string" ? session : null;
    } catch {
      return null;
    }
  }

  set session(value) {
    this.#shared.write(SESSION, JSON.stringify(value));
  }

  /** This tab's conversation, else the one another tab was last in. */
  get conversation() {
    return this.#tab.read(CONVERSATION) ?? this.#shared.read(CONVERSATION);
  }

  set conversation(id) {
    this.#tab.write(CONVERSATION, id);
    this.#shared.write(CONVERSATION, id);
  }

  get draft() {
    return this.#tab.read(DRAFT) ?? "";
  }

  set draft(text) {
    if (text) this.#tab.write(DRAFT, text);
    else this.#tab.remove(DRAFT);
  }
}
