// Requests that arrive together are begun a few in each turn of the event loop, the connections by turns: who sends a thousand at once waits
// for himself. Requests whose client has gone by then are never begun, which takes the profit out of HTTP/2's rapid reset (CVE-2023-44487).
import { limits } from '../limits.ts';

export interface WaitingRequest {
  /** Nobody waits for the answer any more. */
  gone(): boolean;
  begin(): void;
}

export interface RequestQueue {
  add(connection: object, request: WaitingRequest): void;
}

export function requestQueue(): RequestQueue {
  /** The connection whose turn it is comes first. */
  const waiting = new Map<object, WaitingRequest[]>();
  let begun = 0;
  let scheduled = false;
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(nextTurn);
  };
  function nextTurn(): void {
    scheduled = false;
    begun = 0;
    for (const [connection, requests] of waiting) {
      if (begun >= limits.requestsPerTurn) break;
      waiting.delete(connection);
      const request = requests.shift();
      // To the end, behind all others.
      if (requests.length > 0) waiting.set(connection, requests);
      if (request === undefined || request.gone()) continue;
      begun++;
      request.begin();
    }
    // Also to count anew: what was begun here is no reason to hold back what comes in a later turn.
    if (waiting.size > 0 || begun > 0) schedule();
  }
  return {
    add(connection, request) {
      schedule();
      const own = waiting.get(connection);
      if (own) own.push(request);
      else if (waiting.size === 0 && begun < limits.requestsPerTurn) {
        begun++;
        request.begin();
      } else waiting.set(connection, [request]);
    },
  };
}
