// What Azure answers instead of a result: a status and a code (https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors).
// The codes decide where the status says too little.
import {
  CallError,
  type Failure,
  type FailureKind,
  httpFailure,
  kindOfStatus,
  retryAfterHeaderMs,
  unlessForeign,
} from 'sagong/cloud-provider/kit';

/** What a failure means, by its code in lower case. */
const kinds: Readonly<Record<string, FailureKind>> = {
  // Something else is under way on the same thing, or on one that it stands on: it goes well a little later.
  anotheroperationinprogress: 'transient',
  retryableerror: 'transient',
  retryablerrorduetoanotheroperation: 'transient',
  referencedresourcenotprovisioned: 'transient',
  operationpreempted: 'transient',
  internalservererror: 'transient',
  servertimeout: 'transient',
  serviceunavailable: 'transient',
  // Somebody else wrote in between.
  canceledandsupersededduetoanotheroperation: 'conflict',
  operationnotallowedonresourceetagmismatch: 'conflict',
  preconditionfailed: 'conflict',
  conflict: 'conflict',
  toomanyrequests: 'throttled',
  subscriptionrequeststhrottled: 'throttled',
  operationnotallowed: 'refused',
  resourcenotfound: 'absent',
  notfound: 'absent',
  parentresourcenotfound: 'absent',
  instanceidnotfound: 'absent',
};

interface ErrorWords {
  code?: unknown;
  message?: unknown;
  details?: unknown;
}
interface ErrorBody extends ErrorWords {
  error?: ErrorWords;
}

/** An answer of 400 or more, or an operation that ended badly. */
export class AzureError extends Error {
  readonly code: string;
  /** 0: of an operation. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(text: string, answer: { status: number; header(name: string): string | undefined }, nowMs: number) {
    const { code, message } = wordsOf(text);
    super(code === '' ? message || `status ${answer.status}` : `${code}: ${message}`);
    this.name = 'AzureError';
    this.code = code;
    this.status = answer.status;
    this.retryAfterMs = retryAfterHeaderMs(answer.header('retry-after'), nowMs);
    this.requestId = answer.header('x-ms-request-id') || undefined;
  }
}

function wordsOf(text: string): { code: string; message: string } {
  try {
    const body = JSON.parse(text) as ErrorBody;
    const { code, message, details }: ErrorWords = body.error ?? body;
    const more = Array.isArray(details) ? (details as (ErrorWords | null)[]).map((one) => one?.message) : [];
    const words = [message, ...more].filter((one, at) => typeof one === 'string' && one !== '' && (at === 0 || one !== message));
    return { code: typeof code === 'string' ? code : '', message: words.join(' ') };
  } catch {
    // A proxy in between may answer in HTML.
    return { code: '', message: text.slice(0, 200) };
  }
}

/** What an error of the SDK means for the one who called. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof AzureError)) return httpFailure(error);
  const { code, status, retryAfterMs, requestId } = error;
  const kind = kinds[code.toLowerCase()] ?? (status >= 400 ? kindOfStatus(status) : 'refused');
  const failure = {
    kind,
    ...(status > 0 && { status }),
    ...(code !== '' && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(requestId !== undefined && { requestId }),
  };
  return unlessForeign(failure, code !== '');
}

/** The failure of an operation that Azure carried out in its own time. */
export const operationFailure = (name: string, error: AzureError): CallError => new CallError(name, failureOf(error), error);
