// A message as this tab knows it.

import type { Appointment, Contact, HelpCard, Message as Saved, OfficeWords, Source, Working } from "../protocol.ts";

export interface Message {
  readonly key: string;
  id: number | null;
  readonly role: "user" | "assistant";
  clientId: string | null;
  text: string;
  /** Of the server's; or "sending" until it has a question that was typed here, or "unsent" where it refused it. */
  status: string;
  createdAt: string;
  strategy: string;
  /** A machine wrote the text or put it together. */
  machineMade: boolean;
  notice: string;
  reason: string;
  sources: readonly Source[];
  /** What can be put into a calendar. */
  dates: readonly Appointment[];
  choices: readonly string[];
  related: readonly string[];
  contact: Contact | null;
  /** Set if the question was a cry for help: who helps. */
  help: HelpCard | null;
  /** An answer of staff's own, which comes before the text. */
  office: OfficeWords | null;
  feedback: number;
  reasons: readonly string[];
  abstained: boolean;
  /** A question that is to be looked up even if it reads like a cry for help. The service does not send it back. */
  readonly asQuestion: boolean;
  /** The earlier question whose place this one takes, while it is on its way. */
  readonly replaces: number | null;
  /** How many are served before, this one included; 0 where nobody waits. */
  queue: number;
  /** What is done while there is no text yet. */
  working: Pick<Working, "stage" | "pages"> | null;
  error: string;
  /** Not to be sent again before this time, in ms of the epoch; Infinity for what would only be refused again. */
  retryAt: number;
  /** Grows with each change, so that a view can tell what to draw. */
  version: number;
}

export function blank(values: Partial<Message> & Pick<Message, "key" | "role">): Message {
  return {
    id: null,
    clientId: null,
    text: "",
    status: "complete",
    createdAt: new Date().toISOString(),
    strategy: "",
    machineMade: false,
    notice: "",
    reason: "",
    sources: [],
    choices: [],
    dates: [],
    related: [],
    contact: null,
    help: null,
    office: null,
    feedback: 0,
    reasons: [],
    abstained: false,
    asQuestion: false,
    replaces: null,
    queue: 0,
    working: null,
    error: "",
    retryAt: 0,
    version: 0,
    ...values,
  };
}

export function fromWire(wire: Saved): Message {
  return blank({
    key: (wire.role === "user" && wire.client_id) || `message-${wire.id}`,
    id: wire.id,
    role: wire.role,
    clientId: wire.client_id ?? null,
    text: wire.text,
    status: wire.status,
    createdAt: wire.created_at,
    strategy: wire.strategy ?? "",
    machineMade: wire.machine_made ?? false,
    notice: wire.notice ?? "",
    reason: wire.reason ?? "",
    sources: wire.sources ?? [],
    choices: wire.choices ?? [],
    dates: wire.dates ?? [],
    related: wire.related ?? [],
    contact: wire.contact ?? null,
    help: wire.help ?? null,
    office: wire.office ?? null,
    feedback: wire.feedback ?? 0,
    reasons: wire.feedback_reasons ?? [],
    abstained: wire.status === "abstained",
  });
}

export function change(message: Message, values: Partial<Omit<Message, "key" | "role" | "asQuestion" | "replaces" | "version">>): void {
  Object.assign(message, values);
  message.version += 1;
}
