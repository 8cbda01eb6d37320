// What an apiserver's bytes mean to a transport: failures as errors, watches as events.
import { genericServerResponse, type Status, StatusError } from '../errors/index.ts';
import type { KubeObject } from '../meta/index.ts';
import type { WatchEvent } from '../watch/index.ts';

/** The failure an answer tells: its Status, or what its code means where the body is a proxy's or another server's page. */
export function failureOf(
  answer: { status: number; text: string; retryAfter?: string | undefined },
  method: string,
  call: { group: string; resource: string; name?: string },
): StatusError {
  const { status, text, retryAfter } = answer;
  try {
    const body = JSON.parse(text) as Status;
    if (body.kind === 'Status' && body.status === 'Failure') return new StatusError(body);
  } catch {
    // Not a Status.
  }
  return genericServerResponse({
    code: status,
    method,
    resource: call,
    name: call.name ?? '',
    text,
    retryAfterSeconds: Number(retryAfter) || 0,
    unexpected: true,
  });
}

/** Takes a watch's text piece by piece. The result throws an Error for what is no event, and for one that is longer than `lengthMax`. */
export function eventReader<T extends KubeObject>(
  handler: (event: WatchEvent<T>) => void,
  lengthMax: number,
): (piece: string) => void {
  let rest = '';
  return (piece) => {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lengthMax) throw new Error('a watch event exceeds the size limit');
    for (const line of lines) if (line.trim() !== '') handler(eventOf(line));
  };
}

function eventOf<T extends KubeObject>(line: string): WatchEvent<T> {
  try {
    return JSON.parse(line) as WatchEvent<T>;
  } catch (error) {
    throw new Error('the watch sent something that is not JSON', { cause: error });
  }
}
