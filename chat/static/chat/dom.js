// Making elements. Text only ever becomes a text node, so nothing that a model, a page or a person wrote is markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element; `attributes` with the value false, null or undefined are left out, `on` holds event listeners. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else {
      setAttribute(node, name, value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

/** Sets, changes or removes an attribute, and only touches the page where something changes. */
export function setAttribute(node, name, value) {
  if (value === false || value === null || value === undefined) {
    node.removeAttribute(name);
  } else {
    const text = value === true ? "" : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** One of the drawings at the top of the page's template. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Calls `draw` once before the next frame; a hidden tab draws no frames, so there a timer does it. */
export function onceAFrame(draw) {
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
    timer = setTimeout(run, 150);
  };
}
