// Brings the parts together: what the visitor does goes to the server, what the server says goes to the page.

import { Composer } from "./composer.js";
import { Connection } from "./connection.js";
import { Conversation } from "./conversation.js";
import { newId } from "./ids.js";
import { Session } from "./session.js";
import { Store } from "./store.js";
import { t } from "./strings.js";
import { View } from "./view.js";

const SAY_RECONNECTING_AFTER = 1_200;
const TAKEN_WITHIN = 30_000;
const SILENT_TOO_LONG = 45_000;
const RENEWALS_IN_A_ROW = 2;

export class Chat {
  #store = new Store();
  #session;
  #connection;
  #conversation = null;
  #view;
  #composer;
  #ready = false;
  #everReady = false;
  #stopWanted = false;
  #stopSent = null;
  #beganAnew = false;
  #renewals = 0;
  #greeted = false;
  #told = false;
  #tellTimer = 0;
  #silence = 0;
  #deadlines = new Map();

  constructor({ config, name }) {
    this.#session = new Session({ url: config.session, language: config.language, store: this.#store });
    this.#connection = new Connection({
      path: config.socket,
      greet: () => this.#greeting(),
      onFrame: (frame) => this.#hear(frame),
      onState: (state) => this.#connectionIs(state),
    });
    this.#view = new View({
      name,
      quotes: config.quotes,
      actions: {
        newConversation: () => this.#begin(),
        ask: (text) => this.#ask(text),
        retry: (message) => this.#retry(message),
        rate: (message, value) => this.#rate(message, value),
      },
    });
    this.#composer = new Composer({
      form: document.querySelector("[data-part=composer]"),
      limit: config.maxCharacters,
      on: {
        ask: (text) => {
          this.#composer.text = "";
          this.#ask(text);
        },
        stop: () => this.#stop(),
        typed: (text) => {
          if (this.#session.agreed) this.#store.draft = text;
        },
      },
    });
  }

  start() {
    if (this.#session.agreed) {
      this.#open();
    } else {
      this.#view.askForConsent(async () => {
        await this.#session.agree();
        this.#open();
        this.#composer.focus();
      });
    }
  }

  #open() {
    const kept = this.#store.conversation;
    this.#conversation = new Conversation(kept ?? newId());
    this.#store.conversation = this.#conversation.id;
    this.#view.open();
    if (this.#store.draft) this.#composer.text = this.#store.draft;
    this.#show();
    this.#connection.start();
  }

  // --- the connection ---

  async #greeting() {
    const token = await this.#session.token();
    // After a break the whole saved state is asked for: it is the only reply that always comes.
    return { type: "resume", token, conversation: this.#conversation.id, after: null };
  }

  #resume() {
    // A connection that has not begun yet asks for the current conversation when it does.
    if (!this.#greeted) return;
    this.#connection.send({
      type: "resume",
      conversation: this.#conversation.id,
      after: this.#conversation.lastSeq,
    });
  }

  #connectionIs(state) {
    this.#greeted = state === "open";
    if (this.#greeted) return;
    this.#ready = false;
    const tell = () => {
      this.#told = true;
      this.#view.showState(navigator.onLine ? "reconnecting" : "offline");
    };
    if (this.#told || !navigator.onLine) tell();
    else if (!this.#everReady && state === "connecting") this.#view.showState("connecting");
    // A short break needs no words.
    else this.#tellTimer ||= setTimeout(tell, SAY_RECONNECTING_AFTER);
    this.#show();
  }

  #isReady() {
    clearTimeout(this.#tellTimer);
    this.#tellTimer = 0;
    this.#told = false;
    this.#ready = this.#everReady = true;
    this.#renewals = 0;
    this.#connection.settled();
    this.#view.showState("ready");
    for (const question of this.#conversation.sending) this.#send(question);
    const writing = this.#conversation.generating;
    if (this.#stopSent !== null && writing?.id === this.#stopSent) this.#sendStop();
    else this.#stopSent = null;
  }

  /** A server that writes an answer is never silent for long; if it is, the line is dead. */
  #listen() {
    clearTimeout(this.#silence);
    if (!this.#conversation.busy) return;
    this.#silence = setTimeout(() => this.#connection.restart(), SILENT_TOO_LONG);
  }

  // --- what the server says ---

  #hear(frame) {
    if (frame.type === "ping") {
      this.#listen();
      return;
    }
    // An error without a number is the reply to a frame of ours; one with a number is part of an answer.
    if (frame.type === "error" && typeof frame.seq !== "number") this.#error(frame);
    else if (frame.type === "conversation") this.#restored(frame);
    else this.#event(frame);
    this.#listen();
    this.#show();
  }

  #restored(frame) {
    if (frame.conversation !== this.#conversation.id) return;
    const writing = this.#conversation.generating;
    this.#conversation.restore(frame);
    if (writing && writing.status !== "generating") this.#view.follow(writing, true);
    for (const clientId of this.#deadlines.keys()) {
      if (this.#conversation.findQuestion(clientId)?.id) this.#taken(clientId);
    }
    this.#isReady();
    const last = this.#conversation.messages.findLast((message) => message.role === "user");
    if (last?.id && this.#composer.text.trim() === last.text) this.#composer.text = "";
  }

  #event(frame) {
    const outcome = this.#conversation.apply(frame);
    if (outcome === "gap") this.#resume();
    if (outcome !== "applied") return;
    if (frame.type === "message_start") this.#started(frame);
    const message = this.#conversation.find(frame.message);
    if (!message) return;
    if (frame.type === "message_delta") this.#view.follow(message, false);
    if (frame.type === "message_end") {
      this.#stopSent = null;
      this.#view.follow(message, true);
    }
  }

  #started({ question }) {
    this.#taken(question.client_id);
    this.#view.clearProblem();
    this.#view.announce(t("looking"));
    // The server has the question, so what was kept of it here is not needed.
    if (this.#composer.text.trim() === question.text) this.#composer.text = "";
    if (!this.#composer.text) this.#store.draft = "";
    if (this.#stopWanted) this.#sendStop();
    this.#stopWanted = false;
  }

  #error({ code = "", detail, conversation, client_id: clientId, message: id, retry_after: wait }) {
    if (code === "session_expired" || code === "session_required") {
      this.#renew();
      return;
    }
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
      this.#taken(clientId);
      this.#begin();
      this.#ask(question.text);
    } else if (question?.status === "sending") {
      this.#giveBack(question, text, wait);
    } else if (message) {
      this.#conversation.refused(message);
      this.#view.showProblem(text);
    } else {
      this.#view.showProblem(text);
      this.#view.announce(text);
      if (!this.#ready) this.#cannotResume(code);
    }
  }

  /** The conversation cannot be had, for example because it belongs to a visitor of before: begin another. */
  #cannotResume(code) {
    if (this.#beganAnew || code.startsWith("rate") || code.startsWith("too_many")) return;
    this.#beganAnew = true;
    this.#begin();
  }

  async #renew() {
    this.#ready = false;
    this.#renewals += 1;
    if (this.#renewals > RENEWALS_IN_A_ROW) {
      this.#view.showProblem(t("error_session"));
      return;
    }
    try {
      await this.#session.renew();
    } catch {
      // The next connection tries again, after a wait.
    }
    this.#connection.restart();
  }

  // --- what the visitor does ---

  #ask(text) {
    if (this.#conversation.busy) return;
    if (!this.#ready && this.#told) {
      this.#composer.text = text;
      this.#composer.hint(t("hint_offline"));
      return;
    }
    for (const message of this.#conversation.messages) {
      if (message.status === "unsent" && message.text === text) this.#conversation.forget(message);
    }
    const clientId = newId();
    this.#conversation.addQuestion(clientId, text);
    if (!this.#composer.text) this.#store.draft = text;
    if (this.#ready) this.#send(this.#conversation.findQuestion(clientId));
    this.#show();
    this.#view.toEnd();
  }

  #send({ clientId, text }) {
    this.#connection.send({ type: "ask", conversation: this.#conversation.id, client_id: clientId, text });
    this.#taken(clientId);
    this.#deadlines.set(
      clientId,
      setTimeout(() => this.#notTaken(clientId), TAKEN_WITHIN),
    );
    this.#listen();
  }

  #taken(clientId) {
    clearTimeout(this.#deadlines.get(clientId));
    this.#deadlines.delete(clientId);
  }

  #notTaken(clientId) {
    this.#deadlines.delete(clientId);
    const question = this.#conversation.findQuestion(clientId);
    if (question?.status !== "sending" || !this.#ready) return;
    this.#giveBack(question, t("error_no_reply"));
    this.#show();
  }

  #giveBack(question, detail, wait = 0) {
    this.#taken(question.clientId);
    this.#stopWanted = false;
    this.#conversation.unsent(question, detail, wait ? Date.now() + wait * 1000 : 0);
    if (!this.#composer.text.trim()) this.#composer.text = question.text;
    this.#view.announce(detail);
  }

  #retry(message) {
    const question = message.role === "user" ? message : this.#conversation.questionOf(message);
    if (!question) return;
    if (this.#conversation.busy || !this.#ready) {
      this.#composer.hint(t(this.#ready ? "hint_busy" : "hint_offline"));
      return;
    }
    if (this.#composer.text.trim() === question.text) this.#composer.text = "";
    this.#ask(question.text);
    this.#composer.focus();
  }

  #stop() {
    if (this.#conversation.generating) this.#sendStop();
    else this.#stopWanted = true;
    this.#show();
  }

  #sendStop() {
    const { id } = this.#conversation.generating;
    this.#stopSent = id;
    this.#connection.send({ type: "stop", message: id });
  }

  #rate(message, value) {
    if (!this.#ready) {
      this.#view.announce(t("hint_offline"));
      return;
    }
    this.#conversation.rate(message, value);
    this.#connection.send({ type: "feedback", message: message.id, value });
    this.#view.announce(t(value ? "thanks" : "feedback_removed"));
    this.#show();
  }

  /** Another conversation in this tab. An answer still being written is finished and kept in the one before. */
  #begin() {
    const before = this.#conversation;
    for (const { clientId } of before.sending) this.#taken(clientId);
    this.#conversation = new Conversation(newId(), { elsewhere: before.messageIds });
    this.#store.conversation = this.#conversation.id;
    this.#stopWanted = false;
    this.#stopSent = null;
    this.#ready = false;
    this.#resume();
    this.#view.clearProblem();
    this.#view.announce(t("announce_new_conversation"));
    this.#show();
    this.#composer.hint("");
    this.#composer.focus();
  }

  // --- the page ---

  #show() {
    this.#view.show(this.#conversation);
    const stopping = this.#stopWanted || this.#stopSent !== null;
    this.#composer.show({ ready: this.#ready, busy: this.#conversation.busy, stopping });
  }
}
