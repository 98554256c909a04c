// What the visitor thinks of an answer and of the conversation: told to the service until it has heard it. And which
// contacts they went to from there: told once, where there is a line.

import type { GiveFeedback, GiveRating, UseContact } from "../protocol.ts";
import type { Conversation } from "../state/conversation.ts";
import type { Message } from "../state/message.ts";
import { t } from "../words/words.ts";
import type { Screen } from "./screen.ts";

type Opinion = GiveFeedback | GiveRating;

interface Around {
  conversation: Conversation;
  screen: Screen;
  show(): void;
}

export class Opinions {
  #around: () => Around;
  #send: (frame: Opinion | UseContact) => boolean;
  /** By the message or the conversation that they are about. */
  #unheard = new Map<number | string, Opinion>();

  /** `send` gives false where there is no line. */
  constructor(around: () => Around, send: (frame: Opinion | UseContact) => boolean) {
    this.#around = around;
    this.#send = send;
  }

  /** False where it cannot be sent just now, which is said. */
  rate(message: Message, value: GiveFeedback["value"], reasons: GiveFeedback["reasons"] = [], comment = ""): boolean {
    const { conversation, screen, show } = this.#around();
    const { id } = message;
    if (id === null || !this.#tell(id, { type: "feedback", message: id, value, reasons, comment })) return false;
    conversation.rate(message, value, reasons);
    screen.announce(t(value ? "thanks" : "feedback_removed"));
    show();
    return true;
  }

  /** Gives the whole conversation 1 to 5 stars; false where that cannot be sent just now, which is said. */
  giveStars(stars: GiveRating["stars"]): boolean {
    const { conversation, screen } = this.#around();
    if (!this.#tell(conversation.id, { type: "rating", conversation: conversation.id, stars })) return false;
    conversation.stars = stars;
    screen.announce(t("rating_thanks", { stars }));
    return true;
  }

  useContact({ id: message }: Message, kind: UseContact["kind"]): void {
    if (message !== null) this.#send({ type: "contact", message, kind });
  }

  /** The service has taken or refused the opinion about this message or conversation. */
  heard(about: number | string | null | undefined): void {
    if (about) this.#unheard.delete(about);
  }

  /** There is a line again; the one before may have broken before anybody knew. */
  repeat(): void {
    for (const opinion of this.#unheard.values()) this.#send(opinion);
  }

  #tell(about: number | string, opinion: Opinion): boolean {
    const sent = this.#send(opinion);
    if (sent) this.#unheard.set(about, opinion);
    else this.#around().screen.hint(t("hint_not_told"));
    return sent;
  }
}
