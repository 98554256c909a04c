// Reads what the server sends: only what has the shape of the protocol goes on.

import { SHAPES, type ServerEvent } from "../protocol.ts";

/**
 * A list of one shape, an object of shapes ("name?" may be missing), or alternatives between bars: "s" string,
 * "i" integer, "n" number, "b" boolean, "0" null, "=word" that word, "$Name" the shape of that name.
 */
type Shape = string | readonly [Shape] | { readonly [name: string]: Shape };

const shapes: Readonly<Record<string, Shape>> = SHAPES;

/** Whether a value has a shape; properties that the shape does not name are passed over. */
export function fits(value: unknown, shape: Shape): boolean {
  if (typeof shape === "string") return shape.split("|").some((alternative) => isOne(value, alternative));
  if (isList(shape)) return Array.isArray(value) && value.every((item) => fits(item, shape[0]));
  if (!isRecord(value)) return false;
  return Object.entries(shape).every(([key, part]) => {
    const name = key.replace("?", "");
    return value[name] === undefined ? name !== key : fits(value[name], part);
  });
}

function isList(shape: Shape): shape is readonly [Shape] {
  return Array.isArray(shape);
}

function isOne(value: unknown, alternative: string): boolean {
  const rest = alternative.slice(1);
  switch (alternative[0]) {
    case "$":
      return fits(value, shapes[rest] ?? "");
    case "=":
      return value === rest;
    case "s":
      return typeof value === "string";
    case "i":
      return Number.isSafeInteger(value);
    case "n":
      return typeof value === "number";
    case "b":
      return typeof value === "boolean";
    default:
      return alternative === "0" && value === null;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** An event that this version does not know, or that is malformed: it still counts in its conversation's order. */
export interface UnknownEvent {
  type: "unknown";
  seq: number;
  conversation: string;
}

/** The event in a frame, or null where there is nothing to go on with. */
export function readEvent(value: unknown): ServerEvent | UnknownEvent | null {
  if (fits(value, "$ServerEvent")) return value as ServerEvent;
  if (!isRecord(value) || typeof value["conversation"] !== "string" || !Number.isSafeInteger(value["seq"])) return null;
  return { type: "unknown", seq: value["seq"] as number, conversation: value["conversation"] };
}

/** `value` as the named type of the protocol; throws where it is not of that shape. */
export function expectShape<T>(name: string, value: unknown): T {
  if (!fits(value, `$${name}`)) throw new TypeError(`not a ${name}`);
  return value as T;
}
