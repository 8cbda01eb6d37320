// Request metrics, and the end of what listens to a request.
import type { Link } from '../chain.ts';
import type { ChainServices } from '../services.ts';

export const observe =
  ({ clock, observeRequest }: ChainServices): Link =>
  async (request, next) => {
    const started = clock.monotonic();
    try {
      return await next(request);
    } finally {
      request.cancellation.release();
      observeRequest({ request, status: request.reply.status, seconds: (clock.monotonic() - started) / 1000 });
    }
  };
