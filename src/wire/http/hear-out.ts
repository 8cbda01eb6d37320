// A peer that takes no more of what we write may have said something before, which waits in our kernel. Node destroys a socket with the first write that
// fails, and with the error that ends its reading: what was not taken by then would be lost, and with it how a command ended.
import type { Duplex } from 'node:stream';

type Failure = NodeJS.ErrnoException;
type Done = (error?: Error | null) => void;
type Write = (...args: [...unknown[], Done]) => void;

const losses = new WeakMap<Duplex, Failure>();

/** Why a connection that is heard out has ended, or will end, before its peer had ended it. Undefined: nothing of what was said to us is missing. */
export const lossOf = (connection: Duplex): Error | undefined => losses.get(connection);

/**
 * From now on a connection whose peer is gone ends like any other: 'end' comes once all is read that has come. What is written to it goes nowhere. Who has
 * not read all `ms` after the first failure loses the rest.
 */
export function hearOut(connection: Duplex, ms: number): void {
  let failure: Failure | undefined;
  const fail = (error: Failure): void => {
    if (failure) return;
    failure = error;
    // A broken pipe is one whose end has come already, with all that was before it.
    if (error.code !== 'EPIPE') losses.set(connection, error);
    const timer = setTimeout(() => connection.destroy(error), ms).unref();
    connection.once('close', () => clearTimeout(timer));
  };
  const heedless =
    (write: Write): Write =>
    (...args) => {
      const done = args.at(-1) as Done;
      if (failure) return done();
      write(...(args.slice(0, -1) as unknown[]), (error) => {
        if (error && !connection.destroyed) fail(error);
        done();
      });
    };
  const { _write: write, _writev: writev, destroy } = connection;
  connection._write = heedless(write.bind(connection) as Write);
  if (writev) connection._writev = heedless(writev.bind(connection) as Write);
  connection.destroy = (error?: Failure) => {
    const isUnread = error?.syscall === 'read' && connection.readableLength > 0 && !connection.destroyed;
    if (!isUnread) return destroy.call(connection, error);
    fail(error);
    losses.set(connection, error);
    connection.push(null);
    return connection;
  };
}
