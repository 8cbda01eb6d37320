// The cloud's API without a connection: the same requests, checks, failures and answers as over HTTP, in one process and in the time of any clock.
import { bound } from '#component-base/failures';
import { createTurnstile, createTurns, type Turnstile } from '#host';
import { type Clock, deepCopy, type Rng } from '#utils';
import type { Operation, OperationId } from '../api/index.ts';
import { encodeRequest, type SendCall } from '../client/client.ts';
import { answeredError, CloudApiError } from '../client/errors.ts';
import { requestTimeoutMs } from '../client/limits.ts';
import type { Account } from '../core/index.ts';
import { auditCall, type Call, perform, type PerformDeps, refusalFor } from '../server/perform.ts';

export interface DirectDeps extends PerformDeps {
  rng: Rng;
}

/**
 * Carries out calls of an account. Thousands of them, like the routes of as many nodes, let sockets and timers come between. What goes wrong in the cloud
 * meanwhile is the failure of who has made this, and not of the caller.
 */
export function directCalls(deps: DirectDeps, account: Account): SendCall {
  const turn = createTurnstile({ clock: deps.clock, turns: createTurns(deps.clock) });
  return bound((id, operation, input, signal) =>
    inTime(deps.clock, id, signal, () => inTurn(turn, () => send(deps, account, id, operation, input))),
  );
}

async function inTurn<T>(turn: Turnstile, work: () => Promise<T>): Promise<T> {
  const wait = turn();
  if (wait) await wait;
  return work();
}

async function send(
  deps: DirectDeps,
  account: Account,
  id: OperationId,
  operation: Operation,
  input: Record<string, unknown>,
): Promise<unknown> {
  const { method } = operation;
  const { path, body } = encodeRequest(operation, input);
  const url = new URL(path, 'http://cloud');
  const call: Call = { requestId: `req-${deps.rng.uuid()}` };
  const sinceMs = deps.clock.monotonic();
  let status: number = operation.success;
  try {
    const request = {
      method,
      pathname: url.pathname,
      search: url.search.slice(1),
      account,
      body: () => Promise.resolve(body === undefined ? undefined : (JSON.parse(body) as unknown)),
    };
    const result = await perform(deps, call, request);
    if (result === 'cut') {
      status = 0;
      throw new CloudApiError(`${id}: the connection was closed`, { code: 'Unreachable', status: 0 });
    }
    // What the world holds is frozen and shared; callers of an API own what they are given.
    return 'response' in operation ? deepCopy(result.value) : undefined;
  } catch (error) {
    if (error instanceof CloudApiError) throw error;
    const { status: refused, code, message, field } = refusalFor(deps, call, path, error);
    status = refused;
    call.errorCode = code;
    const retryAfter = refused === 429 ? `${deps.service.gate.faults.retryAfterSeconds}` : undefined;
    const text = JSON.stringify({ error: { code, message, requestId: call.requestId, ...(field !== undefined && { field }) } });
    throw answeredError(id, refused, retryAfter, text);
  } finally {
    const durationMs = deps.clock.monotonic() - sinceMs;
    auditCall(deps, call, { sourceAddress: 'this process', method, path: url.pathname, status, durationMs });
  }
}

/** Behaves as a client on a wire: it gives up after a while, or when its signal aborts. The operation may still be carried out. */
function inTime<T>(clock: Clock, id: OperationId, given: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (given?.aborted) return Promise.reject(given.reason as Error);
  // One of its own: many calls may wait at a manager's signal.
  const signal = given && AbortSignal.any([given]);
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => finish(() => reject(signal?.reason as Error));
    const tooLate = (): void =>
      finish(() =>
        reject(new CloudApiError(`${id}: no answer within ${requestTimeoutMs} ms`, { code: 'Unreachable', status: 0 })),
      );
    const timer = clock.setTimer(requestTimeoutMs, tooLate);
    const finish = (end: () => void): void => {
      timer.cancel();
      signal?.removeEventListener('abort', onAbort);
      end();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    work().then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error as Error)),
    );
  });
}
