// A small server of Azure Resource Manager on loopback, for tests: the load balancers, public IPs, security groups, route tables, network interfaces and
// machines of one subscription, with operations that take time. Written from the vendor's public reference
// (https://learn.microsoft.com/rest/api/load-balancer, /virtualnetwork, /compute).
import type { Clock, Rng } from 'sagong/cloud-provider';
import { Refusal, startVendorServer, type VendorServer } from 'sagong/cloud-provider/test-server';
import { computeRoutes } from './compute.ts';
import { networkRoutes } from './network.ts';
import { operationRoutes } from './operations.ts';
import { Subscription } from './subscription.ts';

export { Subscription } from './subscription.ts';

export interface TestServerOptions {
  clock: Clock;
  rng: Rng;
  token?: string;
  /** PEM. */
  tls?: { key: string; cert: string };
}
export interface TestServer extends VendorServer {
  token: string;
  subscription: Subscription;
}

export const subscriptionId = '11111111-2222-3333-4444-555555555555';
export const group = 'shop';
export const location = 'westeurope';

const refusalBody = ({ code, message }: Refusal): unknown => ({ error: { code: code || 'InternalServerError', message } });

/** What the words of faults by rate are here. */
const codes: Readonly<Record<number, string>> = {
  409: 'AnotherOperationInProgress',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

/** Starts it with one resource group, a virtual network with a subnet, and a security group. */
export async function startTestServer({ clock, rng, token = 'test-token', tls }: TestServerOptions): Promise<TestServer> {
  const subscription: Subscription = new Subscription(
    subscriptionId,
    () => clock.now(),
    () => server.faults,
    rng,
  );
  const server: VendorServer = await startVendorServer({
    clock,
    rng,
    ignoreCase: true,
    ...(tls && { tls }),
    routes: { ...networkRoutes(subscription), ...computeRoutes(subscription), ...operationRoutes(subscription) },
    enter({ method, url, headers }) {
      subscription.operations.settle();
      if (headers['authorization'] !== `Bearer ${token}`)
        throw new Refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.');
      if (method === 'GET' && (headers['if-match'] ?? headers['if-none-match']) !== undefined)
        throw new Refusal(412, 'PreconditionFailed', 'The conditions of a change do not fit a question.');
      subscription.needGroup(decodeURIComponent(url.pathname));
      if (!url.searchParams.get('api-version'))
        throw new Refusal(
          400,
          'MissingApiVersionParameter',
          'The api-version query parameter (?api-version=) is required for all requests.',
        );
    },
    refusalAnswer: (refusal) => ({
      body: refusalBody(new Refusal(refusal.status, refusal.code || (codes[refusal.status] ?? ''), refusal.message)),
    }),
    headers: ({ number }) => ({ 'x-ms-request-id': `request-${number}`, 'x-ms-correlation-request-id': `correlation-${number}` }),
  });
  subscription.addNetwork(group, location);
  return { ...server, token, subscription };
}
