// With `--enable-token-health-checker`: whether the API still takes the token, at the start and every five minutes.
import type { Clock, Logger } from 'sagong/cloud-provider';
import { callErrorOf, textOf } from 'sagong/cloud-provider/kit';
import type { LinodeApi } from './api/linode.ts';
import { tokenCheckMs } from './limits.ts';

type Profile = Pick<LinodeApi, 'profile'>;

const isUnauthorized = (error: unknown): boolean => callErrorOf(error)?.status === 401;

/** Rejects for a token that the API does not take. */
export async function checkToken(api: Profile, from: string): Promise<void> {
  await api.profile().catch((error: unknown) => {
    if (isUnauthorized(error)) throw new Error(`linode api token from ${from} is invalid`, { cause: error });
    throw new Error(`linode client authenticated connection error: ${textOf(error)}`, { cause: error });
  });
}

/** Checks the token from time to time until the signal ends it. */
export async function watchToken(api: Profile, deps: { clock: Clock; logger: Logger; signal: AbortSignal }): Promise<void> {
  const { clock, logger, signal } = deps;
  while (!signal.aborted) {
    await clock.sleep(tokenCheckMs, signal).catch(() => {});
    if (signal.aborted) return;
    await api.profile().catch((error: unknown) => {
      if (signal.aborted) return;
      if (isUnauthorized(error)) logger.error('detected invalid linode api token');
      else logger.warn('unable to determine linode client authentication status', { error: textOf(error) });
    });
  }
}
