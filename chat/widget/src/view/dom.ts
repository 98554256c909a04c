// Making elements. Text only ever becomes a text node, and styles only ever come from the sheet: nothing that a model,
// a page or a person wrote is markup, and a strict Content-Security-Policy has nothing to refuse.

type Value = string | number | boolean | null | undefined;
type Listeners = { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void };
export type Attributes = { on?: Listeners } & Record<string, Value | Listeners>;
export type Child = Node | string | null | undefined | false;

/** An element; attributes that are false, null or undefined are left out, `on` holds event listeners. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { on = {}, ...attributes }: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value as Value);
  for (const [event, listener] of Object.entries(on)) node.addEventListener(event, listener as EventListener);
  node.append(...present(children));
  return node;
}

function present(children: readonly Child[]): (Node | string)[] {
  return children.filter((child): child is Node | string => Boolean(child));
}

/** Sets, changes or removes an attribute, and only touches the page where something changes. */
export function setAttribute(node: Element, name: string, value: Value): void {
  if (value === false || value === null || value === undefined) {
    node.removeAttribute(name);
  } else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

const drawn = new WeakMap<Element, string>();

/** Puts new children into `node`, but only where `key` says that they differ from those it has. */
export function fill(node: Element, key: unknown, children: () => readonly Child[]): void {
  const text = JSON.stringify(key);
  if (drawn.get(node) === text) return;
  drawn.set(node, text);
  node.replaceChildren(...present(children()));
}

/** Changes `current` into `wanted` and touches only what differs; gives the node that stands there then. */
export function morph(current: ChildNode, wanted: ChildNode): ChildNode {
  if (current instanceof Text && wanted instanceof Text) {
    // Words that are added leave a selection in those before them alone.
    if (wanted.data.startsWith(current.data)) current.appendData(wanted.data.slice(current.data.length));
    else current.data = wanted.data;
    return current;
  }
  if (!(current instanceof Element && wanted instanceof Element && sameKind(current, wanted))) {
    current.replaceWith(wanted);
    return wanted;
  }
  const children = [...wanted.childNodes];
  while (current.childNodes.length > children.length) current.lastChild?.remove();
  children.forEach((child, index) => {
    const there = current.childNodes[index];
    if (there) morph(there, child);
    else current.append(child);
  });
  return current;
}

function sameKind(one: Element, other: Element): boolean {
  if (one.tagName !== other.tagName || one.attributes.length !== other.attributes.length) return false;
  return [...one.attributes].every(({ name, value }) => other.getAttribute(name) === value);
}

/** Calls `draw` once before the next frame; a hidden tab draws no frames, so there a timer does it. */
export function onceAFrame(draw: () => void): () => void {
  let frame = 0;
  let timer = 0;
  const run = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = timer = 0;
    draw();
  };
  return () => {
    if (timer) return;
    frame = requestAnimationFrame(run);
    timer = window.setTimeout(run, 150);
  };
}

/** The focused element, looked for inside shadow roots too. */
export function focused(): Element | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
}
