// Request metrics, and the end of what listens to a request.
import type { Link } from '../chain.ts';
import type { ChainServices } from '../services.ts';

export const observe =
  ({ clock, observer }: ChainServices): Link =>
  async (request, next) => {
    const started = clock.monotonic();
    const ended = observer.began(request);
    try {
      return await next(request);
    } finally {
      const { reply, notes } = request;
      if (reply.streaming) reply.onEnd(ended);
      else ended();
      request.cancellation.release();
      const seconds = (clock.monotonic() - started) / 1000;
      const { sentBytes, receivedBytes, awayMs } = notes;
      observer.over({ request, status: reply.status, seconds, sentBytes, receivedBytes, awaySeconds: awayMs / 1000 });
    }
  };
