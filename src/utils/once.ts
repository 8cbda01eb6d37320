// Values that are made when somebody first asks for them.

/** The function, which is called once at most: whoever asks again is given what it returned. */
export function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
