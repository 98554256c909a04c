// window.MarcelChat: what a page can tell the chat, also before it is loaded.

export interface Commands {
  open(): void;
  close(): void;
  setLocale(tag: unknown): void;
  /** A new conversation. */
  reset(): void;
  theme(name: unknown): void;
}

type Command = keyof Commands;
type Entry = ((name: Command, value?: unknown) => void) & { q?: ArrayLike<unknown>[] };

declare global {
  interface Window {
    MarcelChat?: Entry;
  }
}

const NAMES: readonly string[] = ["open", "close", "setLocale", "reset", "theme"] satisfies Command[];

export function isCommand(name: unknown): name is Command {
  return typeof name === "string" && NAMES.includes(name);
}

export function run(commands: Commands, name: unknown, value?: unknown): void {
  if (isCommand(name)) commands[name](value);
  else console.warn("MarcelChat: unknown command", name);
}

/** Takes the page's commands from now on, and those that it gave before. */
export function listen(commands: Commands): void {
  const waiting = window.MarcelChat?.q ?? [];
  window.MarcelChat = (name, value) => run(commands, name, value);
  for (const call of Array.from(waiting)) run(commands, call[0], call[1]);
}

export function tell(event: "ready" | "open" | "close"): void {
  window.dispatchEvent(new CustomEvent(`marcelchat:${event}`));
}
