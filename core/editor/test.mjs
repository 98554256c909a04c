// Runs the unit tests: each tests/*.test.ts is bundled into out/ and given to Node's own test runner.

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { OPTIONS } from "./build.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const names = readdirSync(`${HERE}tests`).filter((name) => name.endsWith(".test.ts"));

await build({
  ...OPTIONS,
  entryPoints: names.map((name) => `tests/${name}`),
  external: ["node:*"],
  format: "esm",
  outdir: `${HERE}out`,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  target: "node20",
});
const files = names.map((name) => `${HERE}out/${name.replace(/\.ts$/, ".mjs")}`);
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
