// Assertions for programmer errors. They stay on in production: a broken invariant must stop the work, not corrupt it.

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}

/** Makes a switch exhaustive by type. */
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
