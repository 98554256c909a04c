// The site's colour made usable: every pair of text and ground reaches WCAG AA (4.5:1), whatever colour is given.

export type Colour = readonly [red: number, green: number, blue: number];

const AA = 4.5;
/** On a dark ground thin letters look thinner. */
const IN_THE_DARK = 6.5;
const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];

/** Reads "#abc", "#aabbcc" and what getComputedStyle gives, "rgb(1, 2, 3)"; null for anything else. */
export function readColour(text: string): Colour | null {
  const hex = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(text.trim())?.[1];
  if (hex) {
    const [r, g, b] = hex.length === 3 ? [...hex].map((digit) => digit + digit) : (hex.match(/../g) ?? []);
    return [parseInt(r ?? "0", 16), parseInt(g ?? "0", 16), parseInt(b ?? "0", 16)];
  }
  const numbers = /^rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)/.exec(text.trim());
  return numbers ? [Number(numbers[1]), Number(numbers[2]), Number(numbers[3])] : null;
}

export function toHex(colour: Colour): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

/** Relative luminance, WCAG 2.2. */
function luminance(colour: Colour): number {
  const [r, g, b] = colour.map((part) => {
    const c = part / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * (r ?? 0) + 0.7152 * (g ?? 0) + 0.0722 * (b ?? 0);
}

/** Contrast ratio, 1 to 21. */
export function contrast(one: Colour, other: Colour): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

export function mix(one: Colour, other: Colour, share: number): Colour {
  return [0, 1, 2].map((i) => Math.round((one[i] ?? 0) * (1 - share) + (other[i] ?? 0) * share)) as unknown as Colour;
}

/** The colour, moved along `way` until it has that contrast to each of `grounds`. */
function readableOn(colour: Colour, grounds: readonly Colour[], way: readonly Colour[], wanted: number): Colour {
  let from = colour;
  for (const goal of way) {
    for (let share = 0; share <= 1; share += 0.04) {
      const moved = mix(from, goal, share);
      if (grounds.every((ground) => contrast(moved, ground) >= wanted)) return moved;
    }
    from = goal;
  }
  return from;
}

/** The same hue as bright as it can be without getting pale. */
function bright(colour: Colour): Colour {
  const most = Math.max(...colour);
  return most === 0 ? WHITE : (colour.map((part) => (part * 255) / most) as unknown as Colour);
}

export interface Palette {
  accent: Colour;
  accentText: Colour;
  accentStrong: Colour;
  accentSoft: Colour;
  /** The accent as text and lines on the widget's surfaces. */
  link: Colour;
}

/** `text` is what the page wants on the accent; it is kept where it can be read. */
export function palette(accent: Colour, { dark, text }: { dark: boolean; text: Colour | null }): Palette {
  const ground: Colour = dark ? [23, 28, 35] : WHITE;
  const page: Colour = dark ? [17, 21, 27] : [246, 247, 249];
  const raised: Colour = dark ? [29, 36, 45] : WHITE;
  const soft = mix(ground, accent, dark ? 0.22 : 0.11);
  const candidates = [text, WHITE, [13, 20, 30] as const, BLACK].filter((colour) => colour !== null);
  const accentText = candidates.find((colour) => contrast(colour, accent) >= AA) ?? BLACK;
  // Away from the text on it, so that the pair only gains.
  const strong = mix(accent, luminance(accentText) > luminance(accent) ? BLACK : WHITE, 0.15);
  return {
    accent,
    accentText,
    accentStrong: strong,
    accentSoft: soft,
    link: readableOn(
      accent,
      [ground, page, raised, soft],
      dark ? [bright(accent), WHITE] : [BLACK],
      dark ? IN_THE_DARK : AA,
    ),
  };
}
