// The drawings, as paths on a grid of 24.

const SVG = "http://www.w3.org/2000/svg";
const CIRCLE = "M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18";

const PATHS = {
  chat: "M5 5h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2h-7l-5 4v-4H5a2 2 0 0 1-2-2V7a2 2 0 0 1 2-2zM7.5 9.500h9M7.5 13h5.5",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M8 8h8v8H8z",
  new: "M12 6H6a2 2 0 0 0-2 2v10a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-6M18 3v6M15 6h6",
  list: "M4 6h16M4 12h16M4 18h10",
  settings:
    "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.500a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5M9 14.500a2.5 2.5 0 1 0 0 5a2.5 2.5 0 1 0 0-5",
  down: "M12 5v14M6 13l6 6 6-6",
  back: "M19 12H5M11 6l-6 6 6 6",
  close: "M6 6l12 12M18 6L6 18",
  out: "M10 6H6v12h12v-4M14 5h5v5M19 5l-8 8",
  again: "M19 12a7 7 0 1 1-2.2-5.100M19 4v4h-4",
  edit: "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
  copy: "M11 9h7a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-7a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2zM5 15H4V6a2 2 0 0 1 2-2h9v1",
  check: "M5 13l4 4L19 7",
  warning: "M12 4l9 16H3zM12 10v4M12 17v.2",
  help: `${CIRCLE}M9.5 9.500a2.5 2.5 0 1 1 3.5 2.300c-.7.3-1 .8-1 1.700M12 16.800v.2`,
  // A lifebuoy.
  support: `${CIRCLE}M12 8a4 4 0 1 0 0 8a4 4 0 1 0 0-8M6 6l3 3M15 15l3 3M18 6l-3 3M9 15l-3 3`,
  person: "M12 4a4 4 0 1 0 0 8a4 4 0 1 0 0-8M4 20.500c.8-3.8 3.800-6 8-6s7.2 2.200 8 6",
  bell: "M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
  calendar: "M5 6h14v14H5zM5 10h14M9 3v5M15 3v5",
  phone: "M6 3h3l2 5-3 2a11 11 0 0 0 6 6l2-3 5 2v3a3 3 0 0 1-3 3A15 15 0 0 1 3 6a3 3 0 0 1 3-3z",
  quote: "M10 7H5v6h5V7zM10 13c0 2.5-1.5 4-4 4M19 7h-5v6h5V7zM19 13c0 2.5-1.5 4-4 4",
  "thumbs-up": "M7 11v9H4v-9zM7 11l4-8a2.5 2.5 0 0 1 2.5 2.500V9H19a2 2 0 0 1 2 2.300l-1.2 7A2 2 0 0 1 17.8 20H7",
  "thumbs-down": "M17 13V4h3v9zM17 13l-4 8a2.5 2.5 0 0 1-2.5-2.500V15H5a2 2 0 0 1-2-2.300l1.2-7A2 2 0 0 1 6.2 4H17",
  star: "M12 3.500l2.6 5.4 5.9.8-4.3 4.1 1.1 5.9-5.3-2.9-5.3 2.9 1.1-5.9-4.3-4.1 5.9-.800z",
  delete: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5",
  download: "M12 4v11M7 10l5 5 5-5M5 20h14",
};

export type Icon = keyof typeof PATHS;

export function icon(name: Icon): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon icon--${name}`);
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("focusable", "false");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
