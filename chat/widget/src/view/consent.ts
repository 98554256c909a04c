// What a visitor must know before anything is stored.

import type { AssistantInfo } from "../protocol.ts";
import { webAddress } from "../text/links.ts";
import { Problem } from "../net/http.ts";
import { t } from "../words/words.ts";
import { button } from "./buttons.ts";
import { el, setAttribute, setText } from "./dom.ts";
import { outward } from "./outward.ts";

/** `agree` is called when the visitor does; it raises Problem where the service refuses. */
export function consentNotice(info: AssistantInfo, agree: () => Promise<void>): HTMLElement {
  const problem = el("p", { class: "consent__problem", "data-test": "consent-error", role: "alert" });
  const press = async () => {
    if (agreed.getAttribute("aria-disabled")) return;
    setAttribute(agreed, "aria-disabled", "true");
    setText(problem, "");
    try {
      await agree();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setText(problem, error.detail || t("error_session"));
    } finally {
      setAttribute(agreed, "aria-disabled", null);
    }
  };
  const agreed = button("main", t("consent_agree"), { test: "consent-agree", press: () => void press() });
  const privacy = webAddress(info.privacy_url);
  const points = [t("consent_personal"), t("consent_limits"), t("consent_small")];
  return el(
    "section",
    { class: "consent", "data-test": "consent", "aria-labelledby": "consent-title" },
    el("h3", { id: "consent-title", class: "consent__title", tabindex: "-1" }, t("consent_title")),
    el("p", { class: "consent__text" }, t("consent_machine")),
    el("p", { class: "consent__text" }, t("consent_stored", { count: info.retention_days })),
    privacy && el("p", {}, outward(privacy, t("privacy"), "privacy-link")),
    el(
      "details",
      { class: "consent__more", "data-test": "consent-more" },
      el("summary", {}, t("consent_more")),
      el("ul", {}, ...points.map((point) => el("li", {}, point))),
    ),
    el("div", { class: "consent__foot" }, problem, agreed),
  );
}
