// Ports for programs that must be told theirs. They lie below those that the kernel gives to whoever asks for any, so that nobody is given one
// between the look and the use.
import { createServer } from 'node:net';

const range = { first: 10_000, last: 29_999 };
/** Processes that run at the same time begin at different places; one process never gets the same twice. */
let next = range.first + Math.floor(Math.random() * (range.last - range.first));

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer()
      .once('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });

/** A port of loopback that nobody listens on. */
export async function freePort(): Promise<number> {
  do next = next >= range.last ? range.first : next + 1;
  while (!(await isFree(next)));
  return next;
}
