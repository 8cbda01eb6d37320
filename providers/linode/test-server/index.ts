// A small server of Linode's API v4 on loopback, for tests: Linodes, VPCs, NodeBalancers, Cloud Firewalls of one account. Written from the vendor's public
// reference (https://techdocs.akamai.com/linode-api/reference).
import type { Clock, Rng } from 'sagong/cloud-provider';
import { Refusal, startVendorServer, type VendorServer } from 'sagong/cloud-provider/test-server';
import { Account } from '../src/emulator/account.ts';
import { refusalBody, unauthorized } from '../src/emulator/refusals.ts';
import { balancerRoutes } from '../src/emulator/balancer-routes.ts';
import { firewallRoutes } from '../src/emulator/firewalls.ts';
import { linodeRoutes } from '../src/emulator/linodes.ts';
import { vpcRoutes } from '../src/emulator/vpcs.ts';

export type { Account } from '../src/emulator/account.ts';

export interface TestServerOptions {
  clock: Clock;
  rng: Rng;
  token?: string;
}
export interface TestServer extends VendorServer {
  token: string;
  account: Account;
  /** The value for LINODE_URL. */
  endpoint: string;
}

export const region = 'us-ord';
const windowSeconds = 60;
const requestsInWindow = 800;

/** Starts it with an empty account. */
export async function startTestServer({ clock, rng, token = 'linode-test-token' }: TestServerOptions): Promise<TestServer> {
  const account: Account = new Account(
    () => clock.now(),
    () => server.faults.rates.lagMs,
  );
  const server: VendorServer = await startVendorServer({
    clock,
    rng,
    routes: {
      'GET /v4/profile': () => ({ body: { username: 'tester', email: 'tester@example.com', restricted: false } }),
      ...linodeRoutes(account),
      ...vpcRoutes(account),
      ...balancerRoutes(account),
      ...firewallRoutes(account),
    },
    enter({ headers }) {
      if (headers['authorization'] !== `Bearer ${account.token}`) throw unauthorized();
    },
    refusalAnswer: (refusal: Refusal) => ({ body: refusalBody(refusal) }),
    headers: ({ number }) => ({
      'x-ratelimit-limit': String(requestsInWindow),
      'x-ratelimit-remaining': String(Math.max(0, requestsInWindow - (number % requestsInWindow))),
      'x-ratelimit-reset': String(Math.floor(clock.now() / 1000) + windowSeconds),
      'x-spec-version': '4.200.0',
    }),
  });
  account.token = token;
  return { ...server, token, account, endpoint: `${server.url}/v4` };
}
