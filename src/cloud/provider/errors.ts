// Errors of the cloud's API as the controllers understand them.
import { retryAfter } from '#cloud-provider';
import { CloudApiError } from '../client/index.ts';

/** Runs a call of the provider interface. Where the API asks for a pause, the error carries it. */
export async function told<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof CloudApiError && error.retryAfterMs !== undefined)
      throw retryAfter(error.message, error.retryAfterMs, error);
    throw error;
  }
}

export const hasCode = (error: unknown, code: string): boolean => error instanceof CloudApiError && error.code === code;

/** The result, or undefined when what the request names is not there. */
export async function orMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof CloudApiError && error.status === 404) return undefined;
    throw error;
  }
}
