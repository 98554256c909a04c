// One visitor's chat: consent, conversation, data, language. What it stands in is the element's business.

import { WayBack } from "./back.ts";
import { Cases } from "./chat/cases.ts";
import { Chat } from "./chat/chat.ts";
import { Library } from "./chat/library.ts";
import type { Config } from "./config.ts";
import { Connection } from "./net/connection.ts";
import { Http } from "./net/http.ts";
import type { AssistantInfo } from "./protocol.ts";
import { Session } from "./state/session.ts";
import { Store } from "./state/store.ts";
import { printChat } from "./view/printing.ts";
import { View, type ViewActions } from "./view/view.ts";
import { language, offered, speak, spokenBy, spokenLanguage, t, type Language } from "./words/words.ts";

export class App {
  readonly info: AssistantInfo;
  #config: Config;
  #http: Http;
  #store: Store;
  #session: Session;
  #library: Library;
  #cases: Cases;
  #chat: Chat | null = null;
  #view: View;
  #place: HTMLElement;
  #close: (() => void) | null;
  #news: (are: boolean) => void;
  #shown = false;
  #back = new WayBack();
  #chosen: Language | null = null;

  /**
   * `place` is filled; `close` is called when the visitor closes the chat, null where it stands in the page; `news` when
   * there is something to read, or no more, while the chat is closed.
   */
  constructor({
    config,
    info,
    http,
    place,
    close,
    news,
  }: {
    config: Config;
    info: AssistantInfo;
    http: Http;
    place: HTMLElement;
    close: (() => void) | null;
    news: (are: boolean) => void;
  }) {
    this.info = info;
    this.#config = config;
    this.#http = http;
    this.#place = place;
    this.#close = close;
    this.#news = news;
    this.#store = new Store(config.site);
    this.#session = new Session({ http, site: config.site, store: this.#store, language });
    this.#library = new Library(http, this.#session);
    this.#cases = new Cases(this.#library, this.#store, () => this.#chat);
    speak(this.#languageNow());
    this.#view = this.#newView();
    this.#store.onErased(() => this.#forgotten());
    document.addEventListener("visibilitychange", () => this.#chat?.replies.tell());
    if (this.#session.agreed) this.#begin();
  }

  /** The chat can be seen: a visitor who agreed before is connected. */
  shown({ focus }: { focus: boolean }): void {
    this.#shown = true;
    if (this.#session.agreed) this.#begin();
    this.#view.fit();
    if (focus) this.#view.focusStart();
    this.#chat?.replies.tell({ lead: true });
  }

  /** Escape was pressed; false where there is nothing to go back from. */
  back(): boolean {
    return this.#view.back();
  }

  reset(): void {
    if (this.#chat?.conversation.messages.length) this.#chat.begin();
  }

  setLanguage(tag: unknown): void {
    const wanted = offered(tag, this.info.assistant.languages);
    if (wanted) this.#choose(wanted);
  }

  // --- language ---

  /** The visitor's choice, else the tag's word, else the page's, else the browser's. */
  #languageNow(): Language {
    const spoken = spokenBy(this.info.assistant.languages);
    const wishes = [this.#store.language, this.#config.language, document.documentElement.lang, ...navigator.languages];
    const wished = wishes.map(spokenLanguage).find((code) => code !== null && spoken.includes(code));
    return wished ?? spoken[0] ?? "en";
  }

  #choose(wanted: Language): void {
    if (wanted === language()) return;
    const inSettings = this.#view.settingsOpen;
    this.#chosen = wanted;
    if (this.#session.agreed) this.#store.language = wanted;
    speak(wanted);
    this.#view = this.#newView();
    this.#chat?.showOn(this.#view);
    this.#chat?.setLanguage(wanted);
    if (!inSettings) return;
    this.#view.openSettings();
    this.#view.focusLanguage();
  }

  // --- consent and what follows from it ---

  #newView(): View {
    const view = new View({ info: this.info, agreed: this.#session.agreed, actions: this.#actions(), back: this.#back });
    this.#place.lang = language();
    this.#place.replaceChildren(...view.elements);
    return view;
  }

  async #agree(): Promise<void> {
    await this.#session.agree();
    if (this.#chosen) this.#store.language = this.#chosen;
    this.#view.open();
    this.#begin();
    this.#view.focusStart();
  }

  #begin(): void {
    if (this.#chat || !(this.#shown || this.#store.listensUntil > Date.now())) return;
    this.#chat = new Chat({
      connect: (events) => new Connection(this.#http, events, { sse: this.#config.sse }),
      session: this.#session,
      store: this.#store,
      screen: this.#view,
      online: () => navigator.onLine,
      erased: () => this.#forgotten(),
    });
    this.#chat.start();
  }

  async #erase(): Promise<void> {
    await this.#library.erase();
    this.#forgotten();
    this.#view.showErased();
    this.#view.focusStart();
    this.#view.announce(t("erased"));
  }

  /** There is no consent any more: it was given back, here or elsewhere. */
  #forgotten(): void {
    this.#store.clear();
    this.#chat?.stop();
    this.#chat = null;
    this.#news(false);
    this.#view = this.#newView();
  }

  async #save(file: Promise<Blob>, name: string): Promise<void> {
    const address = URL.createObjectURL(await file);
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    this.#view.announce(t("downloaded", { name }));
  }

  async #remove(id: string): Promise<void> {
    await this.#library.delete(id);
    if (this.#chat?.conversation.id === id) this.#chat.begin();
  }

  #actions(): ViewActions {
    const chat = (action: (chat: Chat) => void) => {
      if (this.#chat) action(this.#chat);
    };
    return {
      agree: () => this.#agree(),
      message: {
        ask: (text) => chat((c) => c.ask(text)),
        retry: (message) => chat((c) => c.retry(message)),
        askAnyway: (help) => chat((c) => c.askAnyway(help)),
        regenerate: (message) => chat((c) => c.regenerate(message)),
        edit: (message) => chat((c) => c.edit(message)),
        askPerson: (message) => this.#view.openHandover(message),
        plain: (answer) => this.#library.plain(answer),
        remember: (answer, begin) => this.#save(this.#library.calendar(answer, begin), "date.ics"),
        rate: (...feedback) => this.#chat?.opinions.rate(...feedback) ?? false,
        useContact: (...used) => this.#chat?.opinions.useContact(...used),
      },
      composer: {
        ask: (text) => chat((c) => c.submit(text)),
        stop: () => chat((c) => c.halt()),
        typed: () => chat((c) => c.typed()),
      },
      begin: () => chat((c) => c.begin()),
      cases: this.#cases,
      news: this.#news,
      stars: (stars) => this.#chat?.opinions.giveStars(stars) ?? false,
      declined: (conversation) => this.#store.unrated === conversation,
      decline: (conversation) => (this.#store.unrated = conversation),
      conversations: {
        load: () => this.#library.conversations(),
        rename: (id, title) => this.#library.rename(id, title),
        remove: (id) => this.#remove(id),
        open: (id, title) => chat((c) => c.open(id, title)),
        begin: () => chat((c) => c.begin()),
      },
      settings: {
        choose: (wanted) => this.#choose(wanted),
        download: () => this.#save(this.#library.myData(), "my-data.json"),
        print: () => printChat(this.#place),
        keep: (id) => this.#save(this.#library.file(id), "conversation.html"),
        erase: () => this.#erase(),
      },
      close: this.#close,
    };
  }
}
