// Attacks that send the same requests again and again.

/** Sends what `make` gives, a few at once, until the time is over. */
export const repeat =
  (make, { atOnce = 2 } = {}) =>
  async (target) => {
    const until = performance.now() + target.seconds * 1000;
    let at = 0;
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (performance.now() < until) {
          const { method = 'POST', path, body, ...more } = make(at++, target);
          await target.ask(method, path, body, { token: target.token, timeoutMs: 60_000, ...more });
        }
      }),
    );
  };

export const times = (count, each) => Array.from({ length: count }, (_, at) => each(at));

/** `size` loops that take the next one each. */
export async function many(count, size, one) {
  let next = 0;
  const loop = async () => {
    for (let at = next++; at < count; at = next++) await one(at);
  };
  await Promise.all(Array.from({ length: size }, loop));
}
