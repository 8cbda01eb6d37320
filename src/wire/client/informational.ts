// Informational answers (RFC 9110 section 15.2) come before the one that counts. A server may send some; one that goes on with them keeps its client busy
// for as long as that waits.
import type { ClientRequest } from 'node:http';
import { limits } from '../limits.ts';

export const tooManyInformational = (): Error => new Error('net/http: too many 1xx informational responses');

/** The request ends with an error when its server sends more of them than Go's client takes. */
export function boundInformational(request: ClientRequest): void {
  let seen = 0;
  request.on('information', () => {
    if (++seen > limits.informationalMax) request.destroy(tooManyInformational());
  });
}
