// Where a question is left with an office: the form, or why there is none.

import type { CaseDraft } from "../chat/case_drafts.ts";
import type { AssistantInfo, Handover, HelpCard } from "../protocol.ts";
import { t } from "../words/words.ts";
import { button } from "./buttons.ts";
import { el } from "./dom.ts";
import { handoverForm } from "./handover_form.ts";
import { Pane } from "./pane.ts";

export interface HandoverActions {
  /** Both raise Problem. */
  begin(answer: number): Promise<{ handover: Handover; draft: CaseDraft }>;
  /** Gives the case's id. */
  leave(answer: number, draft: CaseDraft): Promise<number>;
  keep(answer: number, draft: CaseDraft): void;
  /** The question was left. */
  left(id: number): void;
}

export class HandoverPane {
  readonly pane: Pane;
  #info: AssistantInfo;
  #actions: HandoverActions;
  #answer = 0;

  constructor(info: AssistantInfo, actions: HandoverActions, onClosed: () => void) {
    this.#info = info;
    this.#actions = actions;
    this.pane = new Pane({ name: "handover", title: t("ask_person"), onClosed });
  }

  /** `answer`: the id of the one that did not help; `help`: who helps, if it was given to somebody in need. */
  open(answer: number, help: HelpCard | null): void {
    this.#answer = answer;
    this.pane.open();
    void this.#load(answer, help);
  }

  async #load(answer: number, help: HelpCard | null): Promise<void> {
    const { content } = this.pane;
    content.replaceChildren(el("p", { class: "soft", role: "status" }, t("list_loading")));
    const begun = await this.pane.attempt(() => this.#actions.begin(answer), t("handover_failed"));
    if (answer !== this.#answer) return;
    if (!begun) {
      content.replaceChildren(
        button("quiet", t("try_again"), { test: "load-again", press: () => void this.#load(answer, help) }),
      );
    } else if (begun.handover.offices.length === 0) {
      content.replaceChildren(el("p", { role: "status", "data-test": "no-office" }, t("handover_none")));
    } else {
      content.replaceChildren(
        handoverForm({
          ...begun,
          help,
          name: this.#info.assistant.name || t("assistant"),
          days: this.#info.retention_days,
          keep: (draft) => this.#actions.keep(answer, draft),
          send: async (draft) => {
            const id = await this.#actions.leave(answer, draft);
            if (!this.pane.isOpen || answer !== this.#answer) return;
            this.pane.close({ restoreFocus: false });
            this.#actions.left(id);
          },
        }),
      );
    }
  }
}
