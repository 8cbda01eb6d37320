// What an apiserver's bytes mean to a transport: failures as errors, watches as events.
import { genericServerResponse, type Status, StatusError, unstructuredText } from '../errors/index.ts';
import type { KubeObject } from '../meta/index.ts';
import type { WatchEvent } from '../watch/index.ts';

/** The failure an answer tells: its Status, or what its code means where the body is a proxy's or another server's page. */
export function failureOf(
  answer: { status: number; text: string; type?: string | undefined; retryAfter?: string | undefined },
  method: string,
  call: { group: string; resource: string; name?: string },
): StatusError {
  const { status, text, type, retryAfter } = answer;
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
    text: unstructuredText(text, type),
    retryAfterSeconds: Number(retryAfter) || 0,
    unexpected: true,
  });
}

/** Takes a watch's text piece by piece. The result throws an Error for what is no event, and for one that is longer than `lengthMax`. */
export function eventReader<T extends KubeObject>(
  handler: (event: WatchEvent<T>) => void,
  lengthMax: number,
): (piece: string) => void {
  // Of a line that has not ended yet: joined once it has, so that a long one in many pieces is not looked through for each of them.
  let pieces: string[] = [];
  let length = 0;
  return (piece) => {
    let from = 0;
    for (let end = piece.indexOf('\n'); end >= 0; end = piece.indexOf('\n', from)) {
      const line = pieces.join('') + piece.slice(from, end);
      [pieces, length, from] = [[], 0, end + 1];
      if (line.trim() !== '') handler(eventOf(line));
    }
    if (from < piece.length) pieces.push(piece.slice(from));
    length += piece.length - from;
    if (length > lengthMax) throw new Error('a watch event exceeds the size limit');
  };
}

function eventOf<T extends KubeObject>(line: string): WatchEvent<T> {
  try {
    return JSON.parse(line) as WatchEvent<T>;
  } catch (error) {
    throw new Error('the watch sent something that is not JSON', { cause: error });
  }
}
