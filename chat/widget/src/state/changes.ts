// What each event does to the answer it is about.

import type {
  Abstain,
  Citation,
  Clarify,
  ErrorEvent,
  FeedbackEvent,
  Help,
  MessageDelta,
  MessageEnd,
  OfficeAnswer,
  Queued,
  Sources,
  Working,
} from "../protocol.ts";
import { change, type Message } from "./message.ts";

export type AnswerEvent =
  | Abstain
  | Citation
  | Clarify
  | ErrorEvent
  | FeedbackEvent
  | Help
  | MessageDelta
  | MessageEnd
  | OfficeAnswer
  | Queued
  | Sources
  | Working;

export function applyTo(message: Message, event: AnswerEvent): void {
  switch (event.type) {
    case "message_delta":
      return change(message, { text: message.text + event.text, queue: 0 });
    case "citation": {
      const others = message.sources.filter((source) => source.n !== event.source.n);
      return change(message, { sources: [...others, event.source].sort((a, b) => a.n - b.n) });
    }
    case "sources":
      return change(message, { sources: event.sources });
    case "office_answer":
      return change(message, { office: event.answer, queue: 0 });
    case "abstain": {
      const { text, contact, reason, related = [] } = event;
      return change(message, { abstained: true, text, contact, reason, related, sources: [], queue: 0 });
    }
    case "help":
      return change(message, { text: event.text, help: event.card, sources: [], queue: 0 });
    case "clarify":
      return change(message, { text: event.text, choices: event.choices, queue: 0 });
    case "queued":
      return change(message, { queue: event.position });
    case "working":
      return change(message, { working: event, queue: 0 });
    case "message_end": {
      const { status, strategy = "", machine_made: machineMade = false, notice = "", dates = [] } = event;
      const abstained = status === "abstained";
      // What is offered instead of an answer came with the abstention.
      const related = abstained ? message.related : (event.related ?? []);
      return change(message, { status, strategy, machineMade, notice, related, dates, queue: 0, abstained });
    }
    case "error":
      return change(message, { error: event.detail });
    case "feedback":
      return change(message, { feedback: event.value, reasons: event.reasons ?? message.reasons });
  }
}
