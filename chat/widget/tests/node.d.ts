// The little of Node that the tests use.

declare module "node:test" {
  interface Timers {
    enable(options: { apis: string[] }): void;
    tick(ms: number): void;
  }
  type Body = (context: { mock: { timers: Timers } }) => void | Promise<void>;
  export default function test(name: string, body: Body): void;
}
declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    rejects(promise: Promise<unknown>): Promise<void>;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    match(text: string, pattern: RegExp, message?: string): void;
    doesNotMatch(text: string, pattern: RegExp, message?: string): void;
  }
  const assert: Assert;
  export default assert;
}
declare module "node:fs" {
  export function existsSync(path: string): boolean;
  export function readFileSync(path: string, encoding: "utf8"): string;
}
declare const process: { env: Record<string, string | undefined> };
