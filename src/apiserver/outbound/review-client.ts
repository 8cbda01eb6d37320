// Reviews posted to a server that a kubeconfig names, of tokens, access and images (k8s.io/apiserver/pkg/util/webhook, WithExponentialBackoff).
import { builtinSchema } from '#api';
import { isInternalError, isTimeout, isTooManyRequests, suggestedDelaySeconds } from '#apimachinery/errors';
import { decode, DecodeError, parseJson, type SchemaTable } from '#apimachinery/schema';
import { failureOf } from '#apimachinery/transport';
import type { Clock, Rng } from '#utils';
import { ClientGoneError, type ClientResponse, createWireClient, dialErrorText, isReset, type WireClient } from '#wire';
import type { WebhookServer } from './kubeconfig.ts';
import { type Leave, Places } from './places.ts';

/** What is posted, and answered with a status. */
export interface Review {
  kind: string;
  apiVersion: string;
}

export interface ReviewClient {
  /**
   * The status of the answer, which is of the type that the review is of. Rejects with an Error that says why there is none; `code` is the server's,
   * 0 where it did not answer.
   */
  post<T>(review: Review, typeName: string, signal?: AbortSignal): Promise<T>;
  close(): void;
}

export class ReviewError extends Error {
  readonly code: number;
  /** Another try may have an answer. */
  readonly isPassing: boolean;
  constructor(message: string, code: number, isPassing = false) {
    super(message);
    this.code = code;
    this.isPassing = isPassing;
  }
}

export interface ReviewDeps {
  clock: Clock;
  rng: Rng;
  /** It is called after each try, with the server's status (0 where it did not answer). */
  observe?(code: number, seconds: number): void;
}

export interface ReviewOptions {
  /** For one try, with those that the server itself asks for by `Retry-After`; absent: until the signal of the review ends it. */
  timeoutMs?: number;
  /** Before the second try; default 500. */
  retryMs?: number;
  /** What the answers' types are in; default: the built-in kinds. */
  table?: SchemaTable;
}

const retry = { attempts: 5, firstMs: 500, factor: 1.5, jitter: 0.2 };
const answerBytesMax = 1024 * 1024;
/** Reviews that one server is asked for at once: each may be a connection. */
const reviewsAtOnceMax = 1_000;

const reading = 'unexpected error when reading response body. Please retry. Original error';
/** How often the server is asked again within one try because it named a time to wait (client-go's rest.Request). */
const waitsMax = 10;

const pathWith = ({ pathname, search }: URL, timeoutMs: number | undefined): string =>
  timeoutMs === undefined
    ? `${pathname}${search}`
    : `${pathname}${search}${search === '' ? '?' : '&'}timeout=${timeoutMs / 1000}s`;

/** The seconds that an answer asks to wait before it is asked for again. */
function waitOf({ status, headers }: ClientResponse): number | undefined {
  const text = status === 429 || status >= 500 ? headers['retry-after'] : undefined;
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** What an answer with the code of a failure tells: its Status, or what its code means. */
function refusalOf({ status, headers }: ClientResponse, text: string): ReviewError {
  const answer = { status, text, type: headers['content-type'], retryAfter: headers['retry-after'] };
  const error = failureOf(answer, 'POST', { group: '', resource: '' });
  const isPassing =
    isInternalError(error) || isTimeout(error) || isTooManyRequests(error) || suggestedDelaySeconds(error) !== undefined;
  return new ReviewError(error.message, status, isPassing);
}

/** Throws where the answer names another kind or version than was asked for. An answer that names none is taken, as client-go takes it. */
function checkKind(asked: Review, answer: unknown): void {
  const { kind, apiVersion } = answer as Partial<Review>;
  if ((kind || asked.kind) === asked.kind && (apiVersion || asked.apiVersion) === asked.apiVersion) return;
  const named = `no kind ${JSON.stringify(kind || asked.kind)} is registered for version ${JSON.stringify(apiVersion || asked.apiVersion)}`;
  throw new ReviewError(`the answer to a ${asked.kind} is something else: ${named}`, 200);
}

/** The types by which answers are read. */
interface Reader {
  table: SchemaTable;
  typeName: string;
}

/** Reads the status of an answer. Throws a ReviewError that says why there is none. */
function statusOf<T>(asked: Review, text: string, { status: code, headers }: ClientResponse, read: Reader): T {
  if (text === '')
    throw new ReviewError(`0-length response with status code: ${code} and content type: ${headers['content-type'] ?? ''}`, code);
  let isRead = false;
  try {
    const { value } = parseJson(text);
    isRead = true;
    if (typeof value === 'object' && value !== null) checkKind(asked, value);
    return (decode(read.table, read.typeName, value).object as { status?: T }).status ?? ({} as T);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new ReviewError(isRead ? error.message : `couldn't get version/kind; json parse error: ${error.message}`, code);
  }
}

/** Asks, and again where the answer names a time to wait. */
async function answered({ client, server, path, clock }: Way, body: string, signal: AbortSignal): Promise<ClientResponse> {
  for (let waited = 0; ; waited++) {
    const authorization = await server.authorization();
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...(authorization && { authorization }) };
    const answer = await client.request({ method: 'POST', path, headers, body, signal });
    const seconds = waited < waitsMax ? waitOf(answer) : undefined;
    if (seconds === undefined) return answer;
    await answer.text(answerBytesMax);
    await clock.sleep(seconds * 1000, signal);
  }
}

/** Where a review goes. */
interface Way {
  client: WireClient;
  server: WebhookServer;
  path: string;
  clock: Clock;
}

export function createReviewClient(
  server: WebhookServer,
  { timeoutMs, retryMs = retry.firstMs, table = builtinSchema() }: ReviewOptions,
  { clock, rng, observe }: ReviewDeps,
): ReviewClient {
  const url = new URL(server.url);
  const client = createWireClient({ baseUrl: url.origin, tls: server.tls });
  const path = pathWith(url, timeoutMs);
  const places = new Places(reviewsAtOnceMax);
  const shown = new URL(path, url).href;
  const once = async <T>(review: Review, body: string, typeName: string, signal: AbortSignal | undefined): Promise<T> => {
    const abort = new AbortController();
    const end = (): void => abort.abort();
    const timer = timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, end);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    let leave: Leave | undefined;
    let answer: ClientResponse | undefined;
    try {
      leave = await places.take(abort.signal);
      answer = await answered({ client, server, path, clock }, body, abort.signal);
      const text = await answer.text(answerBytesMax);
      if (answer.status < 200 || answer.status > 206) throw refusalOf(answer, text);
      return statusOf<T>(review, text, answer, { table, typeName });
    } catch (error) {
      if (error instanceof ReviewError) throw error;
      const lost = error instanceof ClientGoneError ? 'unexpected EOF' : dialErrorText(error, url.host);
      const why = abort.signal.aborted ? 'context deadline exceeded' : lost;
      const about = answer ? reading : `Post ${JSON.stringify(shown)}`;
      throw new ReviewError(`${about}: ${why}`, 0, isReset(error));
    } finally {
      leave?.();
      timer?.cancel();
      signal?.removeEventListener('abort', end);
    }
  };
  return {
    async post<T>(review: Review, typeName: string, signal?: AbortSignal): Promise<T> {
      const body = JSON.stringify(review);
      for (let attempt = 1, waitMs = retryMs; ; attempt++, waitMs *= retry.factor) {
        const since = clock.monotonic();
        const told = (code: number): void => observe?.(code, (clock.monotonic() - since) / 1000);
        let failure: ReviewError;
        try {
          const status = await once<T>(review, body, typeName, signal);
          told(200);
          return status;
        } catch (error) {
          failure = error as ReviewError;
          told(failure.code);
        }
        if (attempt >= retry.attempts || !failure.isPassing) throw failure;
        // Called off meanwhile, the last failure is the most that is known.
        await clock.sleep(waitMs * (1 + retry.jitter * rng.next()), signal).catch(() => undefined);
        if (signal?.aborted) throw failure;
      }
    },
    close: () => client.close(),
  };
}
