// The chat's inside: header, consent or conversation, field, panes. It is made anew when the language changes.

import { WayBack } from "../back.ts";
import type { Screen, Shown, Standing } from "../chat/screen.ts";
import type { AssistantInfo } from "../protocol.ts";
import type { Conversation } from "../state/conversation.ts";
import type { Message } from "../state/message.ts";
import { quotedBlocks } from "../text/quoted.ts";
import { language, t } from "../words/words.ts";
import { Announcer } from "./announcer.ts";
import { tool } from "./buttons.ts";
import type { CaseActions } from "./case_card.ts";
import { Composer, type ComposerActions } from "./composer.ts";
import { consentNotice } from "./consent.ts";
import { ConversationsPane, type ConversationsActions } from "./conversations_pane.ts";
import { el, setText } from "./dom.ts";
import { HandoverPane, type HandoverActions } from "./handover_pane.ts";
import { chatHeader } from "./header.ts";
import { icon } from "./icons.ts";
import { spokenHelp } from "./help_view.ts";
import { spokenOffice } from "./office_view.ts";
import { MessageList } from "./message_list.ts";
import { contactLinks } from "./outward.ts";
import type { Pane } from "./pane.ts";
import { RatingForm, type Stars } from "./rating_form.ts";
import { SettingsPane, type SettingsActions } from "./settings_pane.ts";
import type { MessageActions } from "./types.ts";
import { Welcome } from "./welcome.ts";

export interface ViewActions {
  agree(): Promise<void>;
  message: Omit<MessageActions, "announce" | "wish">;
  composer: ComposerActions;
  begin(): void;
  cases: Omit<CaseActions, "announce" | "withdrawn" | "ask"> & Omit<HandoverActions, "left"> & {
    /** Gives the wish's id. Raises Problem. */
    wish(answer: number): Promise<number>;
  };
  /** There is something to read, or no more, while the chat is closed. */
  news(are: boolean): void;
  stars(stars: Stars): boolean;
  /** Whether the visitor declined to rate this conversation. */
  declined(conversation: string): boolean;
  decline(conversation: string): void;
  conversations: Omit<ConversationsActions, "announce">;
  settings: SettingsActions;
  /** Null where there is nothing to close. */
  close: (() => void) | null;
}

export interface ViewParts {
  info: AssistantInfo;
  agreed: boolean;
  actions: ViewActions;
  back: WayBack;
}

/** px from which the conversations stand beside the chat. */
const WIDE = 1000;

export class View implements Screen {
  readonly elements: readonly HTMLElement[];
  #actions: ViewActions;
  #agreed: boolean;
  #consent: HTMLElement;
  #welcome: Welcome;
  #list: MessageList;
  #rating: RatingForm;
  /** What was just rated. */
  #rated: { conversation: Conversation; stars: Stars } | null = null;
  #composer: Composer;
  #problems = el("div", { role: "alert" });
  #status = el(
    "div",
    { class: "status", "data-test": "status", role: "status", hidden: true },
    el("span", { class: "status__dot", "aria-hidden": "true" }),
  );
  #statusText = el("span", {});
  #live = el("div", {
    class: "visually-hidden",
    role: "log",
    "aria-live": "polite",
    "aria-label": t("announcements"),
    "data-test": "live",
  });
  #announcer = new Announcer(this.#live);
  #main: HTMLElement;
  #body = el("div", { class: "body" });
  #header: ReturnType<typeof chatHeader>;
  #conversations: ConversationsPane;
  #settings: SettingsPane;
  #handover: HandoverPane;
  #conversation: Conversation | null = null;
  #back: WayBack;
  /** One pane takes the place of another. */
  #switching = false;
  /** There is room for the conversations beside the chat. */
  #isWide = false;
  #listed = "";

  constructor({ info, agreed, actions, back }: ViewParts) {
    this.#actions = actions;
    this.#back = back;
    this.#agreed = agreed;
    const announce = (text: string) => this.announce(text);
    const box = el("div", { class: "scroll scroll--consent", "data-test": "scroll", tabindex: "-1" });
    // The button that was pressed may be gone; but a phone's keyboard is not called up for that.
    const goOn = () => {
      if (matchMedia("(hover: hover)").matches) this.#composer.focus();
      else box.focus({ preventScroll: true });
    };
    const ask = (text: string) => {
      actions.message.ask(text);
      goOn();
    };
    const open = (id: string, title: string) => {
      actions.conversations.open(id, title);
      goOn();
    };
    this.#consent = consentNotice(info, () => actions.agree());
    this.#welcome = new Welcome(info, ask);
    const withdrawn = () => {
      this.#list.drawNow();
      goOn();
    };
    const { cases } = actions;
    const options = {
      name: info.assistant.name,
      writes: info.writes,
      offices: info.offices,
      mails: info.mails,
      actions: {
        ...actions.message,
        ask,
        announce,
        wish: async ({ id }: Message) => {
          if (id === null) return;
          const made = await cases.wish(id);
          this.#list.toCase(made, { focus: true });
          announce(t("wish_made"));
        },
      },
      cases: {
        typed: (id: number) => cases.typed(id),
        type: (id: number, text: string) => cases.type(id, text),
        write: (id: number) => cases.write(id),
        setAddress: (id: number, email: string) => cases.setAddress(id, email),
        sayHelped: (id: number, helped: boolean | null) => cases.sayHelped(id, helped),
        withdraw: (id: number) => cases.withdraw(id),
        announce,
        ask,
        withdrawn,
      },
    };
    this.#list = new MessageList(box, options, (conversation) => this.#around(conversation));
    this.#rating = new RatingForm({ rate: (stars) => this.#rate(stars), decline: () => this.#decline() });
    this.#composer = new Composer({
      limit: info.limits.question_characters,
      actions: actions.composer,
      problems: this.#problems,
    });
    const contact =
      info.contact &&
      el("div", { class: "people", "data-test": "people" }, el("p", {}, t("people")), ...contactLinks(info.contact));
    box.append(
      ...[this.#welcome.element, this.#consent, this.#list.element, this.#rating.element, contact].filter(
        (part) => part !== null,
      ),
    );
    this.#status.append(this.#statusText);
    const foot = el("div", { class: "foot" }, this.#list.follower.jump, this.#composer.element);
    this.#main = el("div", { class: "main" }, box, foot);
    const closed = () => {
      this.#main.hidden = false;
      if (!this.#switching) this.#back.closed();
    };
    this.#conversations = new ConversationsPane({ ...actions.conversations, open, announce }, closed);
    this.#settings = new SettingsPane(info, actions.settings, closed);
    const leaving: HandoverActions = {
      begin: (answer) => cases.begin(answer),
      leave: (answer, draft) => cases.leave(answer, draft),
      keep: (answer, draft) => cases.keep(answer, draft),
      left: (id) => {
        this.#list.toCase(id, { focus: true });
        announce(t("handover_left"));
      },
    };
    this.#handover = new HandoverPane(info, leaving, closed);
    this.#header = chatHeader(info, {
      begin: () => this.#leavePanes(() => actions.begin()),
      conversations: () => this.#openPane(() => this.#conversations.open(this.#conversation?.id ?? "")),
      settings: () => this.openSettings(),
      close: actions.close,
    });
    this.elements = [
      this.#header.element,
      this.#status,
      this.#body,
      this.#live,
    ];
    this.#body.append(...[this.#conversations, this.#settings, this.#handover].map(({ pane }) => pane.element), this.#main);
    new ResizeObserver(([entry]) => this.#arrange((entry?.contentRect.width ?? 0) >= WIDE)).observe(this.#body);
    if (agreed) this.open();
  }

  /** The visitor agreed: there is something to type into. */
  open(): void {
    this.#agreed = true;
    this.#consent.hidden = true;
    this.#consent.parentElement?.classList.remove("scroll--consent");
    this.#composer.element.hidden = false;
    this.#welcome.open();
    this.#header.open();
    this.#arrange(this.#isWide);
  }

  /** Everything was erased: that is said in sight, above the consent. */
  showErased(): void {
    this.#consent.before(el("p", { class: "notice", role: "status", "data-test": "erased" }, icon("check"), t("erased")));
  }

  openSettings(): void {
    const said = this.#conversation?.saved ? this.#conversation.id : null;
    this.#openPane(() => this.#settings.open({ agreed: this.#agreed, conversation: said }));
  }

  get settingsOpen(): boolean {
    return this.#settings.pane.isOpen;
  }

  focusLanguage(): void {
    this.#settings.pane.content.querySelector<HTMLElement>(`[data-test="language-${language()}"]`)?.focus();
  }

  /** Escape: closes a pane; false where none was open. */
  back(): boolean {
    const open = this.#panes.find((pane) => pane.isOpen);
    open?.close();
    return open !== undefined;
  }

  /** Where the visitor goes on: in the field, or at the consent. */
  focusStart(): void {
    if (this.#agreed) this.#composer.focus();
    else this.#consent.querySelector("h3")?.focus({ preventScroll: true });
  }

  /** Sizes that are only known once it is shown. */
  fit(): void {
    this.#composer.fit();
    this.#list.follower.grew();
  }

  // --- Screen ---

  get text(): string {
    return this.#composer.text;
  }

  set text(value: string) {
    this.#composer.text = value;
  }

  show({ conversation, ready, busy, stopping }: Shown): void {
    // An answer of another conversation is not asked about here.
    if (conversation !== this.#conversation) this.#handover.pane.close({ restoreFocus: false });
    this.#conversation = conversation;
    this.#list.show(conversation);
    this.#listBeside();
    this.#composer.show({ ready, busy, stopping });
  }

  showStanding(standing: Standing): void {
    const text =
      standing === "reconnecting" ? t("state_reconnecting") : standing === "offline" ? t("state_offline") : "";
    this.#status.hidden = !text;
    setText(this.#statusText, text);
    this.#main.dataset["state"] = standing;
  }

  showProblem(text: string | null): void {
    if (text === null) {
      this.#problems.replaceChildren();
      return;
    }
    const dismiss = tool("close", t("dismiss"), { test: "dismiss", press: () => this.showProblem(null) });
    this.#problems.replaceChildren(
      el("div", { class: "problem", "data-test": "error-notice" }, icon("warning"), el("p", {}, text), dismiss),
    );
  }

  hint(text: string): void {
    this.#composer.hint(text);
  }

  focusField(): void {
    this.#composer.focus();
  }

  toEnd(): void {
    this.#list.toEnd();
  }

  announce(text: string): void {
    this.#announcer.say(text);
  }

  follow(message: Message, done: boolean): void {
    if (message.id === null) return;
    const { help, office } = message;
    const blocks = help
      ? ([[spokenHelp(message.text, help), ""]] as const)
      : [...(office ? spokenOffice(office) : []), ...quotedBlocks(message.text, message.sources)];
    this.#announcer.follow(message.id, blocks, done || help !== null);
    if (!done) return;
    if (message.sources.length && message.status === "complete") this.announce(t("announce_sources", { count: message.sources.length }));
    if (message.choices.length) this.announce(`${t("choices_title")} ${message.choices.join("; ")}`);
    if (message.status === "failed") this.announce(message.error || t("answer_failed"));
    if (message.status === "stopped") this.announce(t("answer_stopped"));
  }

  get isSeen(): boolean {
    return !document.hidden && this.elements.some((element) => element.getClientRects().length > 0);
  }

  showNews(are: boolean): void {
    this.#actions.news(are);
  }

  toCase(id: number): void {
    this.#list.toCase(id);
  }

  openHandover({ id, help }: Message): void {
    if (id !== null) this.#openPane(() => this.#handover.open(id, help));
  }

  // --- the rest ---

  get #panes(): Pane[] {
    const beside = this.#conversations.pane.isBeside ? [] : [this.#conversations];
    return [...beside, this.#settings, this.#handover].map(({ pane }) => pane);
  }

  #arrange(isWide: boolean): void {
    this.#isWide = isWide;
    this.#conversations.pane.standBeside(isWide && this.#agreed);
    this.#listBeside();
  }

  /** Lists the conversations anew where they stand beside the chat and another one is open, begun or said more in. */
  #listBeside(): void {
    const { id = "", saved = false, busy = false } = this.#conversation ?? {};
    const state = this.#conversations.pane.isBeside ? `${id} ${saved} ${busy}` : "";
    if (state === this.#listed) return;
    this.#listed = state;
    if (state) this.#conversations.list(id);
  }

  #around(conversation: Conversation): void {
    const empty = conversation.messages.length === 0;
    this.#welcome.element.hidden = !empty;
    this.#header.canBegin(!empty);
    const thanks = this.#rated?.conversation === conversation && !conversation.hasHelp ? this.#rated.stars : null;
    this.#rating.draw({ wanted: conversation.wantsRating && !this.#actions.declined(conversation.id), thanks });
  }

  #rate(stars: Stars): void {
    if (!this.#conversation || !this.#actions.stars(stars)) return;
    this.#rated = { conversation: this.#conversation, stars };
    this.#list.drawNow();
    this.#composer.focus();
  }

  #decline(): void {
    if (this.#conversation) this.#actions.decline(this.#conversation.id);
    this.#list.drawNow();
    this.#composer.focus();
  }

  #openPane(open: () => void): void {
    this.#switching = true;
    for (const pane of this.#panes) pane.close({ restoreFocus: false });
    this.#switching = false;
    this.#main.hidden = true;
    open();
    this.#back.opened(() => this.back());
  }

  #leavePanes(then: () => void): void {
    for (const pane of this.#panes) pane.close({ restoreFocus: false });
    then();
  }
}
