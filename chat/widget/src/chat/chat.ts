// The conversation in this tab: what the visitor does goes to the service, what the service says goes to the screen.

import { newId } from "../ids.ts";
import type { LineState } from "../net/line.ts";
import { readEvent } from "../net/shapes.ts";
import type { CaseView, ErrorEvent, MessageStart, Resume, SetLanguage, Snapshot } from "../protocol.ts";
import { Conversation, type NumberedEvent } from "../state/conversation.ts";
import type { Message } from "../state/message.ts";
import { t } from "../words/words.ts";
import { Deadlines } from "./deadlines.ts";
import { Drafts } from "./drafts.ts";
import { Opinions } from "./opinions.ts";
import type { ChatParts, Line } from "./parts.ts";
import { Reachability } from "./reachability.ts";
import { Replies } from "./replies.ts";
import type { Screen } from "./screen.ts";
import { Watch } from "./watch.ts";

const RENEWALS_IN_A_ROW = 2;
/** No waiting helps: this page may not have the assistant. */
const NOT_HERE = ["forbidden_origin", "unknown_site"];
/** What is asked can never be answered. */
const UNANSWERABLE = /^(no_words|empty_|question_|bad_)/;
/** Seconds, where the service does not say. */
const ASK_AGAIN_AFTER = 5;

type How = Partial<Pick<Message, "asQuestion" | "replaces">>;

export class Chat {
  readonly opinions = new Opinions(
    () => ({ conversation: this.#conversation, screen: this.#screen, show: () => this.show() }),
    (frame) => this.#ready && this.#line.send(frame),
  );
  readonly replies: Replies;
  #session: ChatParts["session"];
  #store: ChatParts["store"];
  #screen: Screen;
  #erased: () => void;
  #line: Line;
  #reach: Reachability;
  #drafts: Drafts;
  #conversation: Conversation;
  #ready = false;
  #greeted = false;
  #stopWanted = false;
  #stopSent: number | null = null;
  #beganAnew = false;
  #renewals = 0;
  /** The question that stands in the field to be changed. */
  #editing: Message | null = null;
  #watch = new Watch(() => this.#resume(null));
  #deadlines = new Deadlines((clientId) => this.#notTaken(clientId));

  constructor({ connect, session, store, screen, online, erased }: ChatParts) {
    this.#session = session;
    this.#store = store;
    this.#screen = screen;
    this.#erased = erased;
    this.replies = new Replies(store, () => ({ conversation: this.#conversation, screen: this.#screen }));
    this.#drafts = new Drafts(store, () => this.#screen);
    this.#reach = new Reachability({ online, tell: (standing) => this.#screen.showStanding(standing) });
    this.#conversation = new Conversation(store.conversation ?? newId());
    store.conversation = this.#conversation.id;
    this.#line = connect({
      greet: () => this.#greeting(),
      onFrame: (frame) => this.#hear(frame),
      onState: (state) => this.#lineIs(state),
    });
  }

  get conversation(): Conversation {
    return this.#conversation;
  }

  start(): void {
    this.#drafts.begin();
    this.show();
    this.#line.start();
  }

  /** Nothing is heard or said any more: the visitor erased everything. */
  stop(): void {
    this.#reach.stop();
    this.#watch.stop();
    this.#deadlines.clear();
    this.#line.stop();
  }

  /** Goes on, on another screen: in another language. */
  showOn(screen: Screen): void {
    const { text } = this.#screen;
    this.#screen = screen;
    if (text) screen.text = text;
    screen.showStanding(this.#reach.standing);
    this.show();
  }

  // --- the line ---

  async #greeting(): Promise<Resume & { token: string }> {
    const token = await this.#session.token();
    // After a break the whole saved state is asked for: it is the only reply that always comes.
    return { type: "resume", token, conversation: this.#conversation.id, after: null };
  }

  #resume(after = this.#conversation.lastSeq): void {
    // A line that has not begun yet asks for the current conversation when it does.
    if (!this.#greeted) return;
    this.#line.send({ type: "resume", conversation: this.#conversation.id, after });
  }

  #lineIs(state: LineState): void {
    this.#greeted = state === "open";
    if (this.#greeted) return;
    this.#ready = false;
    this.#reach.broken({ connecting: state === "connecting" });
    this.show();
  }

  #isReady(): void {
    this.#ready = true;
    this.#renewals = 0;
    this.#line.settled();
    this.#reach.reached();
    this.#screen.showProblem(null);
    for (const question of this.#conversation.sending) this.#send(question);
    this.opinions.repeat();
    if (this.#stopSent !== null && this.#conversation.generating?.id === this.#stopSent) this.#sendStop();
    else this.#stopSent = null;
  }

  // --- what the service says ---

  #hear(frame: unknown): void {
    const event = readEvent(frame);
    if (event === null || event.type === "ping") return;
    if (event.type === "erased") {
      this.#erased();
      return;
    }
    // An error without a number is the reply to a frame of ours; one with a number is part of an answer.
    if (event.type === "error" && typeof event.seq !== "number") this.#refused(event);
    else if (event.type === "conversation") this.#restored(event);
    else this.#event(event);
    if (event.type !== "conversation") this.#watch.heard();
    if (this.#ready) this.#listen();
    this.show();
  }

  #listen(): void {
    if (this.#conversation.busy) this.#watch.begin();
    else this.#watch.stop();
  }

  #restored(snapshot: Snapshot): void {
    if (snapshot.conversation !== this.#conversation.id) return;
    const writing = this.#conversation.generating;
    const first = this.#conversation.lastSeq === null;
    this.#conversation.restore(snapshot);
    if (writing && writing.status !== "generating") this.#screen.follow(writing, true);
    for (const clientId of this.#deadlines.waiting) {
      if (this.#conversation.findQuestion(clientId)?.id) this.#deadlines.met(clientId);
    }
    this.#isReady();
    this.#drafts.settle(this.#conversation);
    this.replies.tell({ lead: first });
  }

  #event(event: NumberedEvent): void {
    if (event.type === "feedback") this.opinions.heard(event.message);
    if (event.type === "rating") this.opinions.heard(event.conversation);
    if (event.type === "case" && event.conversation !== this.#conversation.id) this.replies.heardElsewhere(event.case);
    const outcome = this.#conversation.apply(event);
    if (outcome === "gap") this.#resume();
    if (outcome !== "applied") return;
    if (event.type === "case" || event.type === "case_withdrawn") this.replies.tell();
    if (event.type === "message_start") this.#started(event);
    if (event.type === "conversation_deleted") this.begin();
    if (event.type === "message_delta" || event.type === "help" || event.type === "message_end") {
      const message = this.#conversation.find(event.message);
      if (event.type === "message_end") {
        this.#stopSent = null;
        this.replies.answered();
      }
      if (message) this.#screen.follow(message, event.type === "message_end");
    }
  }

  #started({ question }: MessageStart): void {
    if (question.client_id) this.#deadlines.met(question.client_id);
    this.#screen.showProblem(null);
    this.#screen.announce(t("looking"));
    this.#drafts.settle(this.#conversation);
    if (this.#stopWanted) this.#sendStop();
    this.#stopWanted = false;
  }

  #refused({ code, detail, conversation, client_id: clientId, message: id, retry_after: wait }: ErrorEvent): void {
    if (code === "session_expired" || code === "session_required") {
      void this.#renew();
      return;
    }
    // Before it is ready what is refused is the conversation, not what was said of it.
    if (!clientId && this.#ready) this.opinions.heard(id ?? conversation);
    if (conversation && conversation !== this.#conversation.id) return;
    if (this.#stopSent !== null && id === this.#stopSent) {
      // Nothing left to stop: see what has become of the answer.
      this.#stopSent = null;
      this.#resume();
      return;
    }
    const text = detail || t("error_generic");
    const question = this.#conversation.findQuestion(clientId);
    const message = this.#conversation.find(id);
    if (question?.status === "sending" && code === "not_found" && !this.#conversation.saved) {
      // The id belongs to a visitor of before, whose token is gone; nothing was said in it here.
      this.#deadlines.met(question.key);
      this.begin();
      this.ask(question.text, question);
    } else if (question?.status === "sending") {
      this.#giveBack(question, text, UNANSWERABLE.test(code) ? Infinity : (wait ?? 0));
    } else if (message) {
      this.#conversation.refused(message);
      this.#screen.showProblem(text);
    } else {
      this.#screen.showProblem(text);
      this.#screen.announce(text);
      if (!this.#ready) this.#cannotResume(code, wait ?? ASK_AGAIN_AFTER);
    }
  }

  /**
   * The conversation cannot be had on this page, or not now, or not at all, for example because it belongs to a
   * visitor of before: then another is begun. `wait` in seconds.
   */
  #cannotResume(code: string, wait: number): void {
    if (NOT_HERE.includes(code)) {
      this.stop();
    } else if (/^(too_many|unavailable)/.test(code)) {
      this.#watch.begin(wait * 1000);
    } else if (!this.#beganAnew) {
      this.#beganAnew = true;
      this.begin();
    }
  }

  async #renew(): Promise<void> {
    this.#ready = false;
    this.#renewals += 1;
    if (this.#renewals > RENEWALS_IN_A_ROW) {
      this.#screen.showProblem(t("error_session"));
      return;
    }
    try {
      await this.#session.renew();
    } catch {
      // The next line tries again, after a wait.
    }
    this.#line.restart();
  }

  // --- what the visitor does ---

  /** `asQuestion`: it is looked up even if it reads like a cry for help. */
  ask(text: string, { asQuestion = false, replaces = null }: How = {}): void {
    if (this.#conversation.busy) return;
    if (!this.#ready && this.#reach.isLost) {
      this.#drafts.put(text);
      this.#screen.hint(t("hint_offline"));
      return;
    }
    for (const message of this.#conversation.messages) {
      if (message.status !== "unsent" || message.text !== text) continue;
      replaces ??= message.replaces;
      this.#conversation.forget(message);
    }
    const question = this.#conversation.addQuestion(newId(), text, { asQuestion, replaces });
    this.#drafts.sent(question);
    if (this.#ready) this.#send(question);
    this.show();
    this.#screen.toEnd();
  }

  #send({ key, text, asQuestion, replaces }: Message): void {
    const ask = { type: "ask", conversation: this.#conversation.id, client_id: key, text } as const;
    this.#line.send({ ...ask, ...(asQuestion && { as_question: true }), ...(replaces !== null && { replaces }) });
    this.#deadlines.begin(key);
    this.#listen();
  }

  #notTaken(clientId: string): void {
    const question = this.#conversation.findQuestion(clientId);
    if (question?.status !== "sending" || !this.#ready) return;
    this.#giveBack(question, t("error_no_reply"));
    this.show();
  }

  #giveBack(question: Message, detail: string, wait = 0): void {
    this.#deadlines.met(question.key);
    this.#stopWanted = false;
    this.#conversation.unsent(question, detail, wait ? Date.now() + wait * 1000 : 0);
    this.#drafts.giveBack(question);
    this.#screen.announce(detail);
  }

  retry(message: Message): void {
    const question = message.role === "user" ? message : this.#conversation.questionOf(message);
    if (question) this.#askAgain(question, question.id === null ? question : { asQuestion: question.asQuestion });
  }

  /** The answer anew, in the place of the one that is there. */
  regenerate(answer: Message): void {
    const question = this.#conversation.questionOf(answer);
    if (question) this.#askAgain(question, { replaces: question.id });
  }

  /** `help` was no answer to a cry for help: its question is looked up. */
  askAnyway(help: Message): void {
    const question = this.#conversation.questionOf(help);
    if (question) this.#askAgain(question, { asQuestion: true });
  }

  #askAgain({ text }: Message, how: How): void {
    if (this.#conversation.busy || !this.#ready) {
      this.#screen.hint(t(this.#ready ? "hint_busy" : "hint_offline"));
      return;
    }
    this.ask(text, how);
    this.#screen.focusField();
  }

  /** What stands in the field: a new question, or the one that was to be changed. */
  submit(text: string): void {
    const replaces = this.#editing && this.#conversation.lastQuestion === this.#editing ? this.#editing.id : null;
    this.ask(text, { replaces });
  }

  /** The question again in the field, to be changed and sent in its own place. */
  edit(question: Message): void {
    this.#editing = question;
    const waits = this.#drafts.put(question.text);
    this.#screen.hint(t("hint_editing") + (waits ? ` ${t("hint_waiting")}` : ""));
    this.#screen.focusField();
  }

  halt(): void {
    if (this.#conversation.generating) this.#sendStop();
    else this.#stopWanted = true;
    this.show();
  }

  #sendStop(): void {
    const id = this.#conversation.generating?.id ?? null;
    if (id === null) return;
    this.#stopSent = id;
    this.#line.send({ type: "stop", message: id });
  }

  typed(): void {
    // Who empties the field asks something else.
    if (!this.#screen.text) this.#editing = null;
    else if (this.#editing) this.#screen.hint(t("hint_editing"));
    this.#drafts.typed();
  }

  /** What the service replied about a question to an office. */
  putCase(conversation: string, given: CaseView): void {
    if (conversation !== this.#conversation.id) return;
    this.#conversation.putReply(given);
    this.replies.tell();
    this.show();
  }

  dropCase(id: number): void {
    this.#conversation.dropCase(id);
    this.replies.tell();
    this.show();
  }

  setLanguage(language: SetLanguage["language"]): void {
    this.#line.send({ type: "language", language });
  }

  /** Another conversation in this tab. An answer still being written is finished and kept in the one before. */
  begin(): void {
    this.#turnTo(newId());
    this.#screen.announce(t("announce_new_conversation"));
    this.#screen.focusField();
  }

  /** One of the visitor's earlier conversations. */
  open(id: string, title: string): void {
    if (id !== this.#conversation.id) this.#turnTo(id);
    this.#screen.announce(t("announce_opened", { title }));
    this.#screen.toEnd();
  }

  #turnTo(id: string): void {
    this.#editing = null;
    this.#deadlines.clear();
    this.#conversation = new Conversation(id);
    this.#store.conversation = id;
    this.#stopWanted = false;
    this.#stopSent = null;
    this.#ready = false;
    this.#resume();
    this.#screen.showProblem(null);
    this.#screen.hint("");
    this.show();
  }

  show(): void {
    const stopping = this.#stopWanted || this.#stopSent !== null;
    this.#screen.show({
      conversation: this.#conversation,
      ready: !this.#reach.isLost,
      busy: this.#conversation.busy,
      stopping,
    });
  }
}
