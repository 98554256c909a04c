// The HTML that the Markdown reader makes, as elements of the page. It is not given to the browser's parser: only the
// elements and attributes of the short list are made, one by one, and everything else stays text.

import { ATTRIBUTES, ELEMENTS, LINKED } from "../text/markdown.ts";

const PIECE = /<(\/?)([a-z]+)((?: [a-z]+="[^"<>]*")*)>|<|[^<]+/g;
const ATTRIBUTE = /([a-z]+)="([^"]*)"/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };

/** `linked` as the text that the HTML was made of. */
export function elementsOf(html: string, linked = false): DocumentFragment {
  const { elements, attributes } = linked ? LINKED : { elements: [], attributes: [] };
  const known = { elements: [...ELEMENTS, ...elements], attributes: [...ATTRIBUTES, ...attributes] };
  const whole = document.createDocumentFragment();
  const open: (DocumentFragment | Element)[] = [whole];
  for (const [piece, closes, name = "", values = ""] of html.matchAll(PIECE)) {
    const inner = open.at(-1) ?? whole;
    if (!known.elements.includes(name)) {
      inner.append(decoded(piece));
    } else if (closes) {
      const index = open.findLastIndex((each) => each instanceof Element && each.localName === name);
      if (index > 0) open.length = index;
    } else {
      const element = document.createElement(name);
      for (const [, key = "", value = ""] of values.matchAll(ATTRIBUTE)) {
        if (known.attributes.includes(key)) element.setAttribute(key, decoded(value));
      }
      inner.append(element);
      if (name !== "br") open.push(element);
    }
  }
  return whole;
}

function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,6})|(\w+));/g, (whole, code: string | undefined, name: string) =>
    code ? String.fromCodePoint(+code) : (ENTITIES[name] ?? whole),
  );
}
