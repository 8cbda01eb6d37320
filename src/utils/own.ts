// Objects whose keys come from outside: `constructor` and `__proto__` are keys like any other, so they are never looked up in a prototype
// and never become one.

/** The object's own value of the key. */
export const own = <T>(object: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Sets the key, whatever it is called. */
export function setOwn<T>(object: Record<string, T>, key: string, value: NoInfer<T>): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  else object[key] = value;
}

/** Does what Object.assign does, for sources from outside. */
export function assignOwn(target: object, source: object): void {
  for (const [key, value] of Object.entries(source)) setOwn(target as Record<string, unknown>, key, value);
}
