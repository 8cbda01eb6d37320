// How a process ends that cannot go on: one line that says why, and exit code 1. A command that cannot do what was asked shows its stack only
// on request; an error that nobody handled is a bug, and always does.
import { writeSync } from 'node:fs';
import { visible } from '#utils';
import { EndedBySignal } from './stop-signal.ts';

const listeners = new Set<(line: string) => void>();

/** Also tells `listener` of the reason (with its stack where there is one) when this process dies of a bug. Must not throw or wait. */
export function onFatal(listener: (text: string) => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Written at once, whatever standard error is; where it is closed nobody wants to know. */
function say(text: string): void {
  try {
    writeSync(2, visible(text));
  } catch {
    // Nothing is left to say it to.
  }
}

export function fail(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  say(`sagong: ${message}\n`);
  if (process.env['SAGONG_DEBUG'] && error instanceof Error) say(`${error.stack}\n`);
  process.exit(error instanceof EndedBySignal ? error.code : 1);
}

/** Ends the process with the reason, which is a bug's. */
export function die(error: unknown, origin: NodeJS.UncaughtExceptionOrigin): never {
  const what = origin === 'unhandledRejection' ? 'unhandled rejection' : 'uncaught exception';
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error && error.stack ? `${error.stack}\n` : '';
  const text = `sagong: ${process.argv[2] ?? ''} ends: ${what}: ${message}\n${stack}`;
  say(text);
  for (const listener of listeners) {
    try {
      listener(text);
    } catch {
      // The process ends all the same.
    }
  }
  process.exit(1);
}

const noRoom = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);

/**
 * From now on nothing ends this process silently. A reader of its output that goes away does not end it at all, and neither does output that
 * finds no room: what serves goes on without a log, and a command whose output is not whole fails when it is done. `isTaken`: the error is that of
 * a component, which deals with it; the process goes on.
 */
export function failOnUnhandled(isTaken: (error: unknown) => boolean = () => false): void {
  process.on('uncaughtException', (error, origin) => {
    if (!isTaken(error)) die(error, origin);
  });
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') return;
      if (!noRoom.has(error.code ?? '')) die(error, 'uncaughtException');
      process.exitCode = 1;
    });
}
