// Prints the conversation alone: of the page around it, what stands beside the way to the chat is left out on paper.

const MARK = "data-marcel-print";
const RULES = `@media print{[${MARK}=aside]{display:none!important}[${MARK}=around]{display:block!important;position:static!important;block-size:auto!important;overflow:visible!important}}`;

/** `place` is in the chat's shadow root. */
export function printChat(place: HTMLElement): void {
  const { host } = place.getRootNode() as ShadowRoot;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(RULES);
  const marked: Element[] = [];
  const mark = (element: Element, as: string) => {
    element.setAttribute(MARK, as);
    marked.push(element);
  };
  for (let way: Element | null = host; way; way = way.parentElement) {
    for (const other of way.parentElement?.children ?? []) mark(other, other === way ? "around" : "aside");
  }
  const undo = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    for (const element of marked) element.removeAttribute(MARK);
  };
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  window.addEventListener("afterprint", undo, { once: true });
  window.print();
}
