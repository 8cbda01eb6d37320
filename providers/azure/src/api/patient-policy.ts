// The one step of the SDK's pipeline through which every request to Azure passes, in the place of the SDK's own retries: rate limit, time limit, retry
// of what is worth it, metrics, errors with a meaning. Progress of operations is asked for through it as well, so that one lost answer does not end them.
import type { PipelinePolicy, PipelineRequest, PipelineResponse, SendRequest } from '@azure/core-rest-pipeline';
import type { Clock, ProviderMetrics, Rng } from 'sagong/cloud-provider';
import { type Calls, createCalls, type RateLimiter, type RetryPolicy } from 'sagong/cloud-provider/kit';
import { answerBytesMax } from '../limits.ts';
import { AzureError, failureOf, operationFailure } from './errors.ts';
import { createCallMetrics } from './metrics.ts';
import { requestName, type RequestName } from './requests.ts';

/** Limiters of questions and of changes for one type of resource. */
export interface Pace {
  read: RateLimiter;
  write: RateLimiter;
}

export interface PolicyOptions {
  clock: Clock;
  rng?: Rng;
  metrics?: ProviderMetrics;
  paceOf(type: string): Pace;
  retry?: Partial<RetryPolicy>;
}

const badEnds = /^(failed|canceled|cancelled)$/i;

/** Throws where the answer about an operation says that it ended badly; its HTTP status is 200 then. */
function refuseBadEnd(name: RequestName, response: PipelineResponse, nowMs: number): void {
  if (name.type !== 'operations' || !response.bodyAsText) return;
  let status: unknown;
  try {
    ({ status } = JSON.parse(response.bodyAsText) as { status?: unknown });
  } catch {
    return;
  }
  if (typeof status !== 'string' || !badEnds.test(status)) return;
  const header = (): undefined => undefined;
  throw operationFailure('operation', new AzureError(response.bodyAsText, { status: 0, header }, nowMs));
}

/** Sends a request until its signal ends it. An answer without an end is given up: the SDK would keep all of it. */
const bounded = (request: PipelineRequest, signal: AbortSignal, next: SendRequest): Promise<PipelineResponse> =>
  new Promise((resolve, reject) => {
    const tooLarge = new AbortController();
    request.abortSignal = AbortSignal.any([signal, tooLarge.signal]);
    request.onDownloadProgress = ({ loadedBytes }) => {
      if (loadedBytes <= answerBytesMax) return;
      reject(new Error(`the answer is larger than ${answerBytesMax} bytes`));
      tooLarge.abort();
    };
    next(request).then(resolve, reject);
  });

export function patientPolicy({ clock, rng, metrics, paceOf, retry }: PolicyOptions): PipelinePolicy {
  const callMetrics = createCallMetrics(metrics);
  const known = new Map<string, Calls>();

  /** Calls with the metrics and the limits of this kind of request. */
  function callsOf(name: RequestName): Calls {
    const key = `${name.metric} ${name.group} ${name.subscription}`;
    const calls = known.get(key);
    if (calls) return calls;
    const { read, write } = paceOf(name.type);
    const observer = callMetrics.observer(name);
    const made = createCalls({
      clock,
      ...(rng && { rng }),
      classify: failureOf,
      limiter: read,
      writeLimiter: write,
      ...(retry && { retry }),
      observer,
    });
    known.set(key, made);
    return made;
  }
  return {
    name: 'patientPolicy',
    async sendRequest(request: PipelineRequest, next: SendRequest): Promise<PipelineResponse> {
      const name = requestName(request.method, request.url);
      const signal = request.abortSignal as AbortSignal | undefined;
      const attempt = async (until: AbortSignal): Promise<PipelineResponse> => {
        const response = await bounded(request, until, next);
        if (response.status < 400) return response;
        const { status, headers, bodyAsText } = response;
        throw new AzureError(bodyAsText ?? '', { status, header: (one) => headers.get(one) }, clock.now());
      };
      const calls = callsOf(name);
      // The SDK sends the conditions of a change with the questions about its progress, too, where they mean something else.
      if (name.isRead) for (const header of ['if-match', 'if-none-match']) request.headers.delete(header);
      const options = signal ? { signal } : {};
      // Every change is a PUT or a DELETE of a named thing: the second one finds that all is done, or meets the ETag of the first.
      const response = name.isRead
        ? await calls.read(name.call, attempt, options)
        : await calls.write(name.call, attempt, { ...options, idempotent: true });
      refuseBadEnd(name, response, clock.now());
      return response;
    },
  };
}
