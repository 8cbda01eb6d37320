// Bounds on every request: the length of its target and the time it may take (k8s.io/apiserver/pkg/server/filters/timeout.go and
// endpoints/filters/request_deadline.go).
import { DurationError, parseDurationMs } from '#apimachinery/duration';
import { badRequest, StatusError, timeout } from '#apimachinery/errors';
import { targetLengthMax } from '../../limits.ts';
import { isLongRunning } from '../../request/request.ts';
import type { Link } from '../link.ts';
import type { ChainServices } from '../services.ts';

/** Refuses a request target that is too long; only a client over a connection can send one. */
export const bound: Link = (request, next) => {
  if (request.via === 'memory' || request.uri.length <= targetLengthMax) return next(request);
  return Promise.reject(new StatusError({ code: 414, message: 'Request URI too long' }));
};

/** Milliseconds of `timeout=`, at most the server's own bound. Throws 400 for what is no duration. */
function timeoutMsOf(value: string | undefined, maxMs: number): number {
  if (value === undefined || value === '' || value === '0') return maxMs;
  try {
    const ms = parseDurationMs(value);
    // Zero and negative durations mean the server's bound, as upstream reads them.
    return ms <= 0 ? maxMs : Math.min(ms, maxMs);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
  }
}

/** Whose time it was, in upstream's words: the endpoint's, or that of who finds out who asks and whether they may. */
const byEndpoint = 'requested timeout - context deadline exceeded';
const byFilter = 'the allotted timeout';

/** Answers 504 when the time is over and calls the request off; what cannot be called off any more may still happen. */
export const deadline =
  ({ clock, requestTimeoutMs }: ChainServices): Link =>
  (request, next) => {
    if (isLongRunning(request)) return next(request);
    const timeoutMs = timeoutMsOf(request.options.timeout, requestTimeoutMs);
    return new Promise((resolve, reject) => {
      const timer = clock.setTimer(timeoutMs, () => {
        const error = timeout(`request did not complete within ${request.progress === 'authorized' ? byEndpoint : byFilter}`);
        reject(error);
        request.cancellation.cancel(error);
      });
      const over =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          timer.cancel();
          settle(value);
        };
      try {
        next(request).then(over(resolve), over(reject));
      } catch (error) {
        over(reject)(error);
      }
    });
  };
