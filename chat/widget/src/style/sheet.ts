// The widget's style sheet, put where a page's Content-Security-Policy does not mind it.

import answers from "./answers.css";
import base from "./base.css";
import cases from "./cases.css";
import composer from "./composer.css";
import frame from "./frame.css";
import panes from "./panes.css";

const RULES = base + frame + answers + composer + panes + cases;

export function canDress(): boolean {
  return "adoptedStyleSheets" in Document.prototype && "replaceSync" in CSSStyleSheet.prototype;
}

/** A constructed sheet; an older browser gets here only in the service's own frame, whose script has a nonce. */
export function dress(shadow: ShadowRoot, nonce: string): void {
  if (canDress()) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(RULES);
    shadow.adoptedStyleSheets = [sheet];
    return;
  }
  const style = document.createElement("style");
  style.nonce = nonce;
  style.textContent = RULES;
  shadow.append(style);
}
