// A small server of Azure Resource Manager on loopback, for tests: the load balancers, public IPs, security groups, route tables, network interfaces and
// machines of one subscription, with operations that take time. Written from the vendor's public reference
// (https://learn.microsoft.com/rest/api/load-balancer, /virtualnetwork, /compute).
import type { Clock, Rng } from 'sagong/cloud-provider';
import { Refusal, startVendorServer, type VendorServer } from 'sagong/cloud-provider/test-server';
import { computeRoutes } from '../src/emulator/compute.ts';
import { networkRoutes } from '../src/emulator/network.ts';
import { operationRoutes } from '../src/emulator/operations.ts';
import { refusalBody } from '../src/emulator/refusals.ts';
import { checkRequest } from '../src/emulator/requests.ts';
import { Subscription } from '../src/emulator/subscription.ts';

export { Subscription } from '../src/emulator/subscription.ts';

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
    enter(request) {
      subscription.operations.settle();
      if (request.headers['authorization'] !== `Bearer ${token}`)
        throw new Refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.');
      checkRequest(subscription, request);
    },
    refusalAnswer: (refusal) => ({ body: refusalBody(refusal) }),
    headers: ({ number }) => ({ 'x-ms-request-id': `request-${number}`, 'x-ms-correlation-request-id': `correlation-${number}` }),
  });
  subscription.addNetwork(group, location);
  return { ...server, token, subscription };
}
