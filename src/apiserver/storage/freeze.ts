// Stored objects are shared by all who read them, so nobody may change one.

/** Freezes everything below; what is frozen already is taken to be so all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key in value) deepFreeze(value[key]);
  }
  return value;
}
