// Reviews posted to a server that a kubeconfig names, of tokens, access and images (k8s.io/apiserver/pkg/util/webhook, WithExponentialBackoff).
import { builtinSchema } from '#api';
import { DecodeError, type SchemaTable } from '#apimachinery/schema';
import type { Clock, Rng } from '#utils';
import { createWireClient, dialErrorText } from '#wire';
import type { WebhookServer } from './kubeconfig.ts';
import { type Leave, Places } from './places.ts';
import { readAnswer } from './read-answer.ts';

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
  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

export interface ReviewDeps {
  clock: Clock;
  rng: Rng;
  /** It is called after each try, with the server's status (0 where it did not answer). */
  observe?(code: number, seconds: number): void;
}

export interface ReviewOptions {
  /** For one try; absent: until the signal of the review ends it. */
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

const shouldRetry = (error: ReviewError): boolean =>
  error.code === 429 || error.code === 500 || error.code === 504 || error.code === -1;

const pathWith = ({ pathname, search }: URL, timeoutMs: number | undefined): string =>
  timeoutMs === undefined
    ? `${pathname}${search}`
    : `${pathname}${search}${search === '' ? '?' : '&'}timeout=${timeoutMs / 1000}s`;

/** What says of itself that it is something else is no answer, whatever its status looks like; what says nothing is one, as for client-go. */
function checkKind(asked: Review, { kind = asked.kind, apiVersion = asked.apiVersion }: Partial<Review>): void {
  if ((kind || asked.kind) === asked.kind && (apiVersion || asked.apiVersion) === asked.apiVersion) return;
  throw new ReviewError(`the answer is no review: ${JSON.stringify(kind)} of ${JSON.stringify(apiVersion)}`, 0);
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
  const once = async <T>(review: Review, body: string, typeName: string, signal: AbortSignal | undefined): Promise<T> => {
    const abort = new AbortController();
    const end = (): void => abort.abort();
    const timer = timeoutMs === undefined ? undefined : clock.setTimer(timeoutMs, end);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    let leave: Leave | undefined;
    try {
      leave = await places.take(abort.signal);
      const authorization = await server.authorization();
      const answer = await client.request({
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...(authorization !== undefined && { authorization }),
        },
        body,
        signal: abort.signal,
      });
      const text = await answer.text(answerBytesMax);
      if (answer.status < 200 || answer.status > 206)
        throw new ReviewError(`the server answered ${answer.status}: ${text.slice(0, 256)}`, answer.status);
      const { status, ...named } = readAnswer<Partial<Review> & { status?: T }>(text, typeName, table);
      checkKind(review, named);
      return status ?? ({} as T);
    } catch (error) {
      if (error instanceof ReviewError) throw error;
      if (error instanceof DecodeError) throw new ReviewError(`the answer is no review: ${error.message}`, 0);
      const reset = (error as NodeJS.ErrnoException).code === 'ECONNRESET' && !abort.signal.aborted;
      const why = abort.signal.aborted ? 'context deadline exceeded' : dialErrorText(error, url.host);
      throw new ReviewError(`Post ${JSON.stringify(server.url)}: ${why}`, reset ? -1 : 0);
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
        const told = (code: number): void => observe?.(Math.max(code, 0), (clock.monotonic() - since) / 1000);
        try {
          const status = await once<T>(review, body, typeName, signal);
          told(200);
          return status;
        } catch (error) {
          told((error as ReviewError).code);
          if (attempt >= retry.attempts || signal?.aborted || !shouldRetry(error as ReviewError)) throw error;
        }
        // Called off meanwhile, it fails at once with the next try.
        await clock.sleep(waitMs * (1 + retry.jitter * rng.next()), signal).catch(() => undefined);
      }
    },
    close: () => client.close(),
  };
}
