// What a failed call of a cloud's API means, whatever the vendor's SDK threw: five kinds, on which retries and controllers decide. Pure.
import { causesMax } from './limits.ts';

export type FailureKind =
  /** The thing asked for does not exist. */
  | 'absent'
  /** Somebody else changed it, or it is busy: read it again, then try again. */
  | 'conflict'
  /** Refused for coming too often. Nothing was done. */
  | 'throttled'
  /** It may go well next time; whether anything was done is not known. */
  | 'transient'
  /** It fails again until somebody changes something. */
  | 'refused';

export interface Failure {
  kind: FailureKind;
  /** When the cloud wants to be asked again, in milliseconds from now. */
  retryAfterMs?: number;
  status?: number;
  /** The vendor's word for it, as `RESOURCE_NOT_FOUND`. */
  code?: string;
  requestId?: string;
}

/** A failed call: its message says which call it was, what the cloud answered, and under which request ID. */
export class CallError extends Error implements Failure {
  readonly call: string;
  readonly kind: FailureKind;
  readonly retryAfterMs?: number;
  readonly status?: number;
  /** The vendor's word. Not called `code`, which is how the controllers tell errors with a meaning. */
  readonly vendorCode?: string;
  readonly requestId?: string;

  constructor(call: string, failure: Failure, cause: unknown) {
    const { kind, retryAfterMs, status, code, requestId } = failure;
    const request = requestId ? ` (request ${requestId})` : '';
    super(`${call}: ${textOf(cause)}${request}`, { cause });
    this.name = 'CallError';
    this.call = call;
    this.kind = kind;
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs;
    if (status !== undefined) this.status = status;
    if (code !== undefined) this.vendorCode = code;
    if (requestId !== undefined) this.requestId = requestId;
  }
}

export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The error and its causes, outermost first. */
export function* causesOf(error: unknown): Generator<Record<string, unknown>> {
  let current = error;
  for (let depth = 0; depth < causesMax && typeof current === 'object' && current !== null; depth++) {
    yield current as Record<string, unknown>;
    current = 'cause' in current ? current.cause : undefined;
  }
}

/** The failed call behind an error, through everything that wrapped it. */
export function callErrorOf(error: unknown): CallError | undefined {
  for (const one of causesOf(error)) if (one instanceof CallError) return one;
  return undefined;
}

export const failedWith = (error: unknown, ...kinds: readonly FailureKind[]): boolean => {
  const kind = callErrorOf(error)?.kind;
  return kind !== undefined && kinds.includes(kind);
};
export const isAbsent = (error: unknown): boolean => failedWith(error, 'absent');
export const isConflict = (error: unknown): boolean => failedWith(error, 'conflict');

/** For the `.catch` of a question: an error that says «absent» becomes undefined; every other error is thrown again. */
export const undefinedIfAbsent = (error: unknown): undefined => {
  if (!isAbsent(error)) throw error;
};
/** For the `.catch` of a deletion: an error that says «absent» is ignored, because the thing is gone; every other error is thrown again. */
export const fineIfAbsent = (error: unknown): void => {
  if (!isAbsent(error)) throw error;
};

/**
 * For a `.catch`: throws the error again with what was being done in front of its message. The original, with its wish for a later time, is its
 * cause.
 */
export const during =
  (what: string) =>
  (error: unknown): never => {
    throw new Error(`${what}: ${textOf(error)}`, { cause: error });
  };

/** System errors of sockets and names (https://nodejs.org/api/errors.html#common-system-errors), and undici's own. */
const networkCodes =
  /^(E(CONN(RESET|REFUSED|ABORTED)|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN|NOTFOUND|PROTO)|UND_ERR_|ERR_STREAM_PREMATURE_CLOSE)/;

const isNetwork = (error: unknown): boolean =>
  [...causesOf(error)].some(({ code, name, message }) => {
    if (typeof code === 'string' && networkCodes.test(code)) return true;
    return name === 'TimeoutError' || (name === 'TypeError' && message === 'fetch failed') || message === 'socket hang up';
  });

/** Milliseconds in a Retry-After header (RFC 9110, 10.2.3): seconds, or a date. */
export function retryAfterHeaderMs(value: string | null | undefined, nowMs: number): number | undefined {
  if (!value) return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The kind that an HTTP status has with most vendors. A vendor that differs asks its own codes first. */
export function kindOfStatus(status: number): FailureKind {
  if (status === 404 || status === 410) return 'absent';
  if (status === 409 || status === 412) return 'conflict';
  if (status === 429) return 'throttled';
  return status === 408 || status >= 500 ? 'transient' : 'refused';
}

/**
 * For APIs whose refusals have a form of their own. A 404 without that form may come from a proxy or a gateway in between, and does not prove that
 * the thing is gone: it becomes a transient failure, so that the call is made again and no machine is taken for deleted.
 */
export const unlessForeign = (failure: Failure, isInOwnWords: boolean): Failure =>
  failure.kind === 'absent' && !isInOwnWords ? { ...failure, kind: 'transient' } : failure;

const statusIn = ({ status, statusCode }: Record<string, unknown>): number | undefined => {
  const found = typeof status === 'number' ? status : statusCode;
  return typeof found === 'number' && found >= 400 && found < 600 ? found : undefined;
};

/** Reads an error by its HTTP status or as one of the network, for SDKs whose errors carry `status` or `statusCode`. */
export function httpFailure(error: unknown): Failure {
  for (const one of causesOf(error)) {
    const status = statusIn(one);
    if (status === undefined) continue;
    const code = typeof one['code'] === 'string' ? one['code'] : undefined;
    return { kind: kindOfStatus(status), status, ...(code !== undefined && { code }) };
  }
  return { kind: isNetwork(error) ? 'transient' : 'refused' };
}
