// The form in which a question is left with an office: which one, what it reads, and where the reply goes.

import type { CaseDraft } from "../chat/case_drafts.ts";
import { Problem } from "../net/http.ts";
import type { Handover, HelpCard, OfficeChoice, Shareable } from "../protocol.ts";
import { plain } from "../text/plain.ts";
import { dueOf } from "../text/times.ts";
import { language, t } from "../words/words.ts";
import { el, setAttribute, setText } from "./dom.ts";
import { helpContacts } from "./help_view.ts";
import { icon } from "./icons.ts";

const QUESTION_CHARACTERS = 4000;
const ADDRESS_CHARACTERS = 254;
const EXCERPT_CHARACTERS = 160;

interface Parts {
  handover: Handover;
  draft: CaseDraft;
  /** Who helps at once, for somebody in need. */
  help: HelpCard | null;
  /** Of the assistant. */
  name: string;
  /** How long what is left is stored. */
  days: number;
  keep(draft: CaseDraft): void;
  /** Raises Problem. */
  send(draft: CaseDraft): Promise<void>;
}

export function handoverForm({ handover, draft, help, name, days, keep, send }: Parts): HTMLFormElement {
  const { offices, messages, mails } = handover;
  const wanted = draft.office ?? handover.office;
  const chosen = offices.find(({ id }) => id === wanted) ?? offices[0];
  const office = officeField(offices, chosen?.id ?? 0);
  const question = questionField(draft.text);
  const shared = sharedFields(messages, draft.shared ?? handover.shared, name);
  const address = mails ? addressField(draft.email ?? "") : null;
  const problem = el("p", { class: "wrong", role: "alert", "data-test": "handover-problem" });
  const status = el("p", { class: "soft", role: "status" });
  const button = el(
    "button",
    { type: "submit", class: "button button--main", "data-test": "send-to-office" },
    t("handover_send"),
  );
  const entered = (): CaseDraft => ({
    clientId: draft.clientId,
    text: question.value(),
    office: office.value(),
    shared: shared.value(),
    email: address?.value() ?? "",
  });
  const submit = async () => {
    if (button.getAttribute("aria-disabled")) return;
    setText(problem, "");
    // The first field that is wrong has the focus in the end.
    if (![address?.check() ?? true, question.check()].every(Boolean)) return;
    setAttribute(button, "aria-disabled", "true");
    setText(status, t("sending"));
    keep(entered());
    try {
      await send(entered());
    } catch (error) {
      if (!(error instanceof Problem || error instanceof TypeError)) throw error;
      setText(problem, (error instanceof Problem && error.detail) || t("case_not_sent"));
    } finally {
      setText(status, "");
      setAttribute(button, "aria-disabled", null);
    }
  };
  return el(
    "form",
    {
      class: "handover",
      novalidate: true,
      "data-test": "handover",
      on: {
        input: () => keep(entered()),
        submit: (event) => {
          event.preventDefault();
          void submit();
        },
      },
    },
    help && help.contacts.length > 0 && urgency(help),
    office.element,
    question.element,
    shared.element,
    el(
      "div",
      { class: "setting" },
      el("h4", { class: "setting__title" }, t("handover_told")),
      el("p", {}, t("handover_in_chat")),
      address?.element,
    ),
    el("p", { class: "soft" }, t("handover_stored", { count: days })),
    problem,
    el("div", { class: "row" }, button, status),
  );
}

function urgency(help: HelpCard): HTMLElement {
  return el("div", { class: "setting", "data-test": "handover-help" }, el("p", {}, t("handover_urgent")), helpContacts(help));
}

function officeField(offices: readonly OfficeChoice[], chosen: number) {
  const facts = el("div", { class: "handover__office", id: "office-facts", "data-test": "office-facts" });
  const options = offices.map(({ id, name }) => el("option", { value: id, selected: id === chosen }, name));
  const select = el(
    "select",
    { id: "office", class: "field", "data-test": "office-choice", "aria-describedby": "office-facts" },
    ...options,
  );
  const value = () => (offices.length > 1 ? Number(select.value) : chosen);
  const draw = () => {
    const office = offices.find(({ id }) => id === value());
    if (office) facts.replaceChildren(...factsOf(office));
  };
  select.addEventListener("change", () => draw());
  draw();
  const only = offices.length === 1 && offices[0];
  const element = el(
    "div",
    { class: "setting" },
    only
      ? el("h4", { class: "setting__title", "data-test": "office-name" }, only.name)
      : el("label", { class: "setting__title", for: "office" }, t("handover_office")),
    !only && select,
    facts,
  );
  setAttribute(facts, "aria-live", only ? null : "polite");
  return { element, value };
}

function factsOf({ hours, is_open: isOpen, reply_due: due }: OfficeChoice): HTMLElement[] {
  const list = hours.length
    ? [
        el("p", { class: "handover__open" }, icon(isOpen ? "check" : "close"), t(isOpen ? "office_open" : "office_closed")),
        el("ul", { class: "handover__hours", "aria-label": t("office_hours") }, ...hours.map((line) => el("li", {}, line))),
      ]
    : [];
  return [el("p", { "data-test": "reply-due" }, t("handover_due", { due: dueOf(due, language()) })), ...list];
}

function questionField(text: string) {
  const wrong = el("p", { class: "wrong", id: "handover-question-wrong", role: "alert" });
  const counter = el("p", { class: "counter", "data-test": "handover-counter" });
  const field = el("textarea", {
    id: "handover-question",
    class: "field",
    rows: 5,
    dir: "auto",
    required: true,
    "data-test": "handover-question",
    "aria-describedby": "handover-question-hint handover-question-wrong",
    on: { input: () => changed() },
  });
  field.value = text;
  const lengthNow = () => [...field.value.trim()].length;
  const changed = () => {
    const length = lengthNow();
    setText(counter, t("characters", { length, limit: QUESTION_CHARACTERS }));
    counter.classList.toggle("counter--over", length > QUESTION_CHARACTERS);
    tell("");
  };
  const tell = (problem: string) => {
    setText(wrong, problem);
    setAttribute(field, "aria-invalid", problem ? "true" : null);
  };
  changed();
  const element = el(
    "div",
    { class: "setting" },
    el("label", { class: "setting__title", for: field.id }, t("question")),
    el("p", { class: "soft", id: "handover-question-hint" }, t("handover_question_hint")),
    field,
    counter,
    wrong,
  );
  const check = () => {
    const over = lengthNow() - QUESTION_CHARACTERS;
    if (lengthNow() > 0 && over <= 0) return true;
    tell(over > 0 ? t("hint_too_long", { over, limit: QUESTION_CHARACTERS }) : t("hint_empty"));
    field.focus();
    return false;
  };
  return { element, value: () => field.value, check };
}

/** Those that are proposed, or were ticked, stand open; the others can be unfolded. */
function sharedFields(messages: readonly Shareable[], ticked: readonly number[], name: string) {
  const boxes = messages.map(({ id, role, text }) => {
    const box = el("input", { type: "checkbox", value: id, checked: ticked.includes(id), "data-test": "share" });
    const who = el("span", { class: "handover__who" }, `${role === "user" ? t("you") : name}: `);
    return { box, label: el("label", { class: "check" }, box, el("span", { dir: "auto" }, who, excerpt(text))) };
  });
  const open = boxes.filter(({ box }) => box.checked).map(({ label }) => label);
  const folded = boxes.filter(({ box }) => !box.checked).map(({ label }) => label);
  const more =
    folded.length > 0 &&
    el(
      "details",
      { class: "handover__more", "data-test": "share-more", open: open.length === 0 },
      el("summary", {}, t("handover_more", { count: folded.length })),
      ...folded,
    );
  const element = el(
    "fieldset",
    { class: "setting", "data-test": "shared" },
    el("legend", {}, t("handover_reads")),
    el("p", { class: "soft" }, t("handover_reads_hint")),
    ...open,
    more,
  );
  return { element, value: () => boxes.filter(({ box }) => box.checked).map(({ box }) => Number(box.value)) };
}

function addressField(address: string) {
  const wrong = el("p", { class: "wrong", id: "handover-email-wrong", role: "alert" });
  const field = el("input", {
    id: "handover-email",
    type: "email",
    class: "field",
    maxlength: ADDRESS_CHARACTERS,
    autocomplete: "email",
    "data-test": "handover-email",
    "aria-describedby": "handover-email-hint handover-email-wrong",
    on: { input: () => tell("") },
  });
  field.value = address;
  const tell = (problem: string) => {
    setText(wrong, problem);
    setAttribute(field, "aria-invalid", problem ? "true" : null);
  };
  const element = el(
    "div",
    { class: "handover__address" },
    el("label", { for: field.id }, t("handover_email")),
    field,
    wrong,
    el("p", { class: "soft", id: "handover-email-hint" }, t("handover_email_hint")),
  );
  const check = () => {
    if (field.validity.valid) return true;
    tell(t("handover_email_wrong"));
    field.focus();
    return false;
  };
  return { element, value: () => field.value.trim(), check };
}

function excerpt(text: string): string {
  const words = plain(text).replace(/^\s*[-*]\s+/gm, "").replace(/\s+/g, " ").trim();
  return words.length > EXCERPT_CHARACTERS ? `${words.slice(0, EXCERPT_CHARACTERS).trimEnd()} …` : words;
}
