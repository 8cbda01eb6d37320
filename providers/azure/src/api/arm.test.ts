import type { ProviderMetrics } from 'sagong/cloud-provider';
import { isAbsent, isConflict, tokenBucket } from 'sagong/cloud-provider/kit';
import { hastyClock, seededRng, testService } from 'sagong/cloud-provider/test-server';
import { expect, it, onTestFinished } from 'vitest';
import { group, location, startTestServer, subscriptionId } from '../../test-server/index.ts';
import { cluster, openWorld } from '../../test-server/world.ts';
import { createArm } from './arm.ts';
import { createClients } from './clients.ts';
import { patientPolicy } from './patient-policy.ts';
import { requestName } from './requests.ts';

async function opened(perSecond = 1_000) {
  const clock = hastyClock();
  const rng = seededRng(1);
  const server = await startTestServer({ clock, rng });
  onTestFinished(() => server.close());
  const one = tokenBucket({ clock, perSecond });
  const policy = patientPolicy({ clock, rng, paceOf: () => ({ read: one, write: one }) });
  const credential = { getToken: () => Promise.resolve({ token: server.token, expiresOnTimestamp: Number.MAX_SAFE_INTEGER }) };
  const common = {
    credential,
    subscription: subscriptionId,
    networkSubscription: subscriptionId,
    scope: 'x',
    policy,
    userAgent: 'test',
  };
  return { clock, server, arm: createArm(createClients({ ...common, endpoint: server.url }), clock) };
}

it('lists are read over all their pages', async () => {
  const { arm, server } = await opened();
  for (let number = 0; number < 45; number++) server.subscription.addMachine(`node-${number}`, location);
  expect(await arm.machines(group)).toHaveLength(45);
  expect(server.requests).toHaveLength(3);
});
it('a thing is written over the version that was read, or where there is none', async () => {
  const { arm } = await opened();
  const { publicIps } = arm;
  const made = await publicIps.put(group, 'ip', { location, sku: { name: 'Standard' } });
  await expect(publicIps.put(group, 'ip', { location })).rejects.toSatisfy(isConflict);
  await publicIps.put(group, 'ip', { ...made, tags: { a: 'b' } });
  await expect(publicIps.put(group, 'ip', { ...made, tags: { a: 'c' } })).rejects.toSatisfy(isConflict);
  await publicIps.delete(group, 'ip');
  await expect(publicIps.get(group, 'ip')).rejects.toSatisfy(isAbsent);
});
it('an operation is waited for, also while its progress cannot be asked for now and then', async () => {
  const { arm, server, clock } = await opened();
  server.faults.rates.operationMs = 30_000;
  server.faults.add({ method: 'GET', path: /operations/, status: 503, times: 2 });
  server.faults.add({ method: 'GET', path: /operations/, drop: true });
  const before = clock.monotonic();
  const made = await arm.publicIps.put(group, 'ip', { location });
  expect(made.provisioningState).toBe('Succeeded');
  expect(clock.monotonic() - before).toBeGreaterThanOrEqual(30_000);
  await arm.publicIps.delete(group, 'ip');
  expect(await arm.publicIps.list(group)).toEqual([]);
});
it('an operation that fails at its end says why', async () => {
  const { arm, server } = await opened();
  Object.assign(server.faults.rates, { operationMs: 5_000, lateFailure: 1 });
  await expect(arm.publicIps.put(group, 'ip', { location })).rejects.toThrow(
    'operation: InternalServerError: An error occurred.',
  );
});
it('an error says which call failed, why, and under which request ID', async () => {
  const { arm } = await opened();
  await expect(arm.loadBalancers.get(group, 'web')).rejects.toThrow(
    "loadBalancers.get: ResourceNotFound: The Resource 'Microsoft.Network/loadBalancers/web' was not found. (request request-1)",
  );
});
it('requests keep apart when they are told to', async () => {
  const { arm, clock } = await opened(2);
  const before = clock.monotonic();
  for (let call = 0; call < 12; call++) await arm.scaleSets(group);
  expect(clock.monotonic() - before).toBe(5_000);
});
it('a request has the name that upstream counts it under', () => {
  const at = (path: string): string =>
    `https://management.azure.com/subscriptions/s/resourceGroups/Shop/providers/${path}?api-version=1`;
  const names: [string, string, string][] = [
    ['PUT', 'Microsoft.Network/loadBalancers/web', 'load_balancers_create_or_update'],
    ['GET', 'Microsoft.Network/publicIPAddresses', 'public_ip_addresses_list'],
    ['GET', 'Microsoft.Network/virtualNetworks/v/subnets/s', 'subnets_get'],
    ['PUT', 'Microsoft.Compute/virtualMachineScaleSets/w/virtualMachines/1', 'vmssvm_create_or_update'],
    ['GET', 'Microsoft.Compute/virtualMachineScaleSets/w/virtualMachines', 'vmssvm_list'],
    ['DELETE', 'Microsoft.Network/loadBalancers/web', 'load_balancers_delete'],
  ];
  for (const [method, path, metric] of names)
    expect(requestName(method, at(path))).toMatchObject({ metric, group: 'shop', subscription: 's' });
});
it('calls and whole operations are counted by upstream’s names', async () => {
  const seen = new Map<string, number>();
  const note =
    (name: string) =>
    (value: number, ...labels: string[]) =>
      void seen.set([name, ...labels].join(' '), value);
  const metrics: ProviderMetrics = {
    counter: ({ name }) => ({ inc: (by = 1, ...labels) => note(name)(by, ...labels) }),
    histogram: ({ name }) => ({ observe: (value, ...labels) => note(name)(value, ...labels) }),
  };
  const { server, open } = await openWorld();
  onTestFinished(() => server.close());
  const { loadBalancer } = await open({ metrics });
  server.faults.add({ method: 'PUT', path: /networkSecurityGroups/, status: 429, code: 'TooManyRequests' });
  await loadBalancer?.ensureLoadBalancer(cluster, testService(), []);
  server.faults.add({ method: 'GET', path: /loadBalancers/, status: 403, code: 'AuthorizationFailed' });
  await expect(loadBalancer?.ensureLoadBalancer(cluster, testService(), [])).rejects.toThrow('AuthorizationFailed');
  const labels = `shop ${subscriptionId}`;
  expect([...seen.keys()]).toEqual(
    expect.arrayContaining([
      `cloudprovider_azure_api_request_duration_seconds load_balancers_create_or_update ${labels} `,
      `cloudprovider_azure_api_request_throttled_count nsg_create_or_update ${labels} `,
      `cloudprovider_azure_api_request_errors load_balancers_get ${labels}  AuthorizationFailed`,
      `cloudprovider_azure_op_duration_seconds services_ensure_loadbalancer ${labels} shop/web`,
      `cloudprovider_azure_op_failure_count services_ensure_loadbalancer ${labels} shop/web`,
    ]),
  );
});
