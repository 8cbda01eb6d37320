// Certificates of a running cluster are renewed by itself, long before their end.
import type { Clock, Logger } from '#utils';
import { isAging, renewCertificates } from './certificates-check.ts';
import type { ControlPlane } from '../control-plane.ts';

/** Between two looks. */
const lookMs = 12 * 3_600_000;
/** What the process serves with is as old as the process, and good for a year. */
const servingMs = 180 * 24 * 3_600_000;

export interface RenewalDeps {
  clock: Clock;
  logger: Logger;
}

/** Renews certificates in the files on this machine that are about to expire. What cannot be renewed is logged and tried again. */
export async function renewAging(dataDir: string, { clock, logger }: RenewalDeps): Promise<void> {
  try {
    const renewed = await renewCertificates(dataDir, (kept) => isAging(kept, clock));
    if (renewed.length > 0) logger.info('certificates renewed', { certificates: renewed.join(', ') });
  } catch (error) {
    logger.error('certificates cannot be renewed', { err: (error as Error).message });
  }
}

/** Looks again and again; gives what ends it. */
export function keepRenewing(dataDir: string, own: ControlPlane | undefined, deps: RenewalDeps): () => void {
  let servedSinceMs = deps.clock.monotonic();
  const look = (): void => {
    timer = deps.clock.setTimer(lookMs, look);
    void renewAging(dataDir, deps);
    if (own === undefined || deps.clock.monotonic() - servedSinceMs < servingMs) return;
    servedSinceMs = deps.clock.monotonic();
    own.renewServing();
  };
  let timer = deps.clock.setTimer(lookMs, look);
  return () => timer.cancel();
}
