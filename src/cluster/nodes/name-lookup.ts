// What a name means to the machine (or the node) that this process is on, in bounded time.
import { lookup } from 'node:dns/promises';
import type { Clock } from '#utils';
import { nameLookupTimeoutMs } from './limits.ts';

/** The IPv4 addresses of a name. Rejects when it has none, or when no name server answers in time; the query itself cannot be cancelled. */
export async function addressesOf(host: string, clock: Clock): Promise<string[]> {
  const over = new AbortController();
  const late = clock.sleep(nameLookupTimeoutMs, over.signal).then(() => {
    throw new Error(`no name server has answered for ${host} within ${nameLookupTimeoutMs / 1_000} s`);
  });
  const asked = lookup(host, { all: true, family: 4 });
  try {
    return (await Promise.race([asked, late])).map(({ address }) => address);
  } finally {
    over.abort();
    for (const one of [asked, late]) one.catch(() => {});
  }
}
