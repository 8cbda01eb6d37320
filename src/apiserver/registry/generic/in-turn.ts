// What is done with several, one after the other, each of which may or may not wait. Most do not, and a promise for each of them would cost a small write
// more than what it does.

/** Does it with each in turn. Undefined where none waits: all is done then. */
export function inTurn<T>(all: readonly T[], act: (one: T) => void | Promise<void>, from = 0): Promise<void> | undefined {
  for (let at = from; at < all.length; at++) {
    const pending = act(all[at] as T);
    if (pending) return pending.then(() => inTurn(all, act, at + 1));
  }
  return undefined;
}
