// A small server of DigitalOcean's public API on loopback, for tests: droplets, load balancers, certificates, tags, firewalls and regions of one
// account, and the metadata service, written from the vendor's API reference (https://docs.digitalocean.com/reference/api/).
import type { Clock, Rng } from 'sagong/cloud-provider';
import {
  type FaultRule,
  type Refusal as VendorRefusal,
  startVendorServer,
  type VendorRequest,
  type VendorServer,
} from 'sagong/cloud-provider/test-server';
import { Account } from '../src/emulator/account.ts';
import { RateLimiter, type RateLimits } from '../src/emulator/rate-limit.ts';
import { notFound, Refusal, refusalBody, requestIdOf } from '../src/emulator/refusal.ts';
import { apiRoutes } from '../src/emulator/routes.ts';

export type { Account, Droplet, LoadBalancer } from '../src/emulator/account.ts';

export interface TestServerOptions {
  /** The account's token. */
  token?: string;
  /** The account's rate limits; those of the vendor unless given. */
  rateLimits?: RateLimits;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** Time of latency. Default: the machine's. */
  clock?: Pick<Clock, 'sleep'>;
  /** Draws which calls fail, for faults that have a rate. */
  rng?: Rng;
}

export interface TestServer extends VendorServer {
  token: string;
  account: Account;
  fail(fault: FaultRule): void;
}

/** What a request asked for, with the query. */
export const pathOf = ({ url }: VendorRequest): string => url.pathname + url.search;

const isMetadata = ({ url }: VendorRequest): boolean => url.pathname.startsWith('/metadata/');

/** Starts it on a free port of 127.0.0.1. */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { token = 'dop_v1_test', rateLimits = { perHour: 5_000, perMinute: 250 }, now = Date.now, clock, rng } = options;
  const account = new Account(now);
  const limiter = new RateLimiter(rateLimits, now);
  const server = await startVendorServer({
    ...(clock && { clock }),
    ...(rng && { rng }),
    spared: isMetadata,
    routes: {
      ...apiRoutes(account),
      'GET /metadata/v1/region': () => {
        if (account.ownRegion === undefined) throw notFound();
        return { body: account.ownRegion };
      },
    },
    enter(request) {
      if (isMetadata(request)) return;
      if (request.headers['authorization'] !== `Bearer ${token}`) throw new Refusal(401, 'Unable to authenticate you.');
      limiter.take();
    },
    refusalAnswer: (refusal: VendorRefusal, request) => ({ body: refusalBody(refusal, request) }),
    headers: (request) => ({ 'x-request-id': requestIdOf(request), ...limiter.headers() }),
  });
  return { ...server, token, account, fail: (fault) => server.faults.add(fault) };
}
