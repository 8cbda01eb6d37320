// What configuration files say, held to what flags may say. Pure.
import { upFlags } from '#cluster/flags';

/** Throws a sentence where a file says what the flag of that meaning would not take. */
export function checkedAsFlags<T extends object>(shape: T): T {
  for (const [key, { name, type }] of Object.entries(upFlags)) {
    const value = (shape as Record<string, unknown>)[key];
    if (typeof value !== 'string' && typeof value !== 'number') continue;
    try {
      type.parse(String(value));
    } catch (error) {
      throw new Error(`--config: ${JSON.stringify(value)}, which would be --${name}, ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
  return shape;
}
