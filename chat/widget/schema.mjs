// Makes src/protocol.ts, the types and the shapes for the check at run time, from protocol.schema.json.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const { $defs: definitions } = JSON.parse(readFileSync(`${HERE}protocol.schema.json`, "utf8"));

const named = (reference) => reference.split("/").at(-1);

function typeOf(schema, indent = "") {
  if (schema.$ref) return named(schema.$ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.oneOf) return schema.oneOf.map((part) => typeOf(part, indent)).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(" | ");
  if (schema.type === "integer") return "number";
  if (schema.type === "array") return `Array<${typeOf(schema.items, indent)}>`;
  if (schema.type !== "object") return schema.type;
  const inner = `${indent}  `;
  const lines = Object.entries(schema.properties).map(([name, part]) => {
    const optional = schema.required?.includes(name) ? "" : "?";
    return `${inner}${name}${optional}: ${typeOf(part, inner)};\n`;
  });
  return `{\n${lines.join("")}${indent}}`;
}

const LETTERS = { string: "s", integer: "i", number: "n", boolean: "b", null: "0" };

/** The schema as net/shapes.ts reads it: short, because it is part of what every visitor loads. */
function shapeOf(schema) {
  if (schema.$ref) return `$${named(schema.$ref)}`;
  if ("const" in schema) return `=${schema.const}`;
  if (schema.enum) return schema.enum.map((value) => `=${value}`).join("|");
  if (schema.oneOf) return schema.oneOf.map(shapeOf).join("|");
  if (schema.type === "array") return [shapeOf(schema.items)];
  if (schema.type === "object") {
    const optional = (name) => (schema.required?.includes(name) ? name : `${name}?`);
    return Object.fromEntries(Object.entries(schema.properties).map(([name, part]) => [optional(name), shapeOf(part)]));
  }
  return [schema.type]
    .flat()
    .map((type) => LETTERS[type])
    .join("|");
}

/** What the widget reads, and so checks: not what it sends. */
function reachable(roots) {
  const found = new Set();
  const visit = (schema) => {
    if (schema === null || typeof schema !== "object") return;
    if (schema.$ref && !found.has(named(schema.$ref))) {
      found.add(named(schema.$ref));
      visit(definitions[named(schema.$ref)]);
    }
    Object.values(schema).forEach(visit);
  };
  roots.forEach((name) => visit({ $ref: `#/$defs/${name}` }));
  const names = Object.keys(definitions).filter((name) => found.has(name));
  return Object.fromEntries(names.map((name) => [name, shapeOf(definitions[name])]));
}

export function protocol() {
  const parts = Object.entries(definitions).map(([name, schema]) => {
    const comment = schema.description ? `/** ${schema.description} */\n` : "";
    return `${comment}export type ${name} = ${typeOf(schema)};\n`;
  });
  const shapes = reachable(["ServerEvent", "AssistantInfo", "SessionReply", "ConversationSummary", "Problem"]);
  return [
    "// Made by schema.mjs from protocol.schema.json: change that, not this.\n",
    ...parts,
    `/** What the server says, in the notation of net/shapes.ts. */\nexport const SHAPES = ${JSON.stringify(shapes, null, 2)} as const;\n`,
  ].join("\n");
}

export const PROTOCOL_FILE = `${HERE}src/protocol.ts`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(PROTOCOL_FILE, protocol());
