// The second interface of a managed control plane's machine: what the cloud attaches has an address, and the machine itself says what leaves by it, as the
// images of vendors do for theirs.
import { execCommand } from '#host';
import type { Clock, Logger } from '#utils';
import type { CustomerSide } from './config.ts';
import { customerSideMs } from './limits.ts';

/** Keeps nodes and pods reachable by that interface, also when it is attached late or anew. Rejects when `signal` says that it is over. */
export async function keepRoutes(
  { link, gateway, destinations }: CustomerSide,
  { clock, logger, signal }: { clock: Clock; logger: Logger; signal: AbortSignal },
): Promise<never> {
  for (let said = false; ; ) {
    const words = (destination: string): string[] => ['route', 'replace', destination, 'via', gateway, 'dev', link];
    const outcomes = await Promise.all(
      destinations.map((one) => execCommand('ip', words(one), { timeoutMs: customerSideMs.look })),
    );
    const failed = outcomes.find(({ code }) => code !== 0);
    if (failed && !said) logger.warn("the customer's network is not reached yet", { link, err: failed.stderr.trim() });
    said = failed !== undefined;
    await clock.sleep(failed ? customerSideMs.retry : customerSideMs.look, signal);
  }
}
