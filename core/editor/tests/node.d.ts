// The little of Node that the tests use.

declare module "node:test" {
  export default function test(name: string, body: () => void): void;
}
declare module "node:assert/strict" {
  interface Assert {
    (value: unknown, message?: string): asserts value;
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    fail(message: string): never;
  }
  const assert: Assert;
  export default assert;
}
