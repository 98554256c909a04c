// The last gate before an answer becomes part of the page: DOMPurify with the short list of elements that the
// Markdown reader makes. Nothing it makes should ever be taken out here.

import createPurify from "dompurify";
import { ATTRIBUTES, ELEMENTS, LINKED } from "../text/markdown.ts";

const CONFIG = {
  ALLOWED_TAGS: ELEMENTS,
  ALLOWED_ATTR: ATTRIBUTES,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
} as const;

/** `linked` as the text that the HTML was made of. */
export function sanitised(html: string, linked = false): DocumentFragment {
  const { elements, attributes } = linked ? LINKED : { elements: [], attributes: [] };
  return createPurify.sanitize(html, {
    ...CONFIG,
    ALLOWED_TAGS: [...ELEMENTS, ...elements],
    ALLOWED_ATTR: [...ATTRIBUTES, ...attributes],
  });
}

/** Whether this page lets a text be read as HTML at all: its policy may demand Trusted Types and allow none. */
export function canSanitise(): boolean {
  try {
    return createPurify.isSupported && sanitised("<p>x</p>").textContent === "x";
  } catch {
    return false;
  }
}
