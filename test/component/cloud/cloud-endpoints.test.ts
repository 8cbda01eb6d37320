// The manager's own endpoints, its lease, and what it does when it loses it.
import { request } from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import { serveCloudControllerManager } from '#cloud-controller-manager';
import type { KubeClient } from '#client';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { type CloudWorld, startCloudWorld } from './world.ts';

let world: CloudWorld;
afterEach(() => world.close());

const get = (port: number, path: string) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end();
  });

interface Review {
  spec: { nonResourceAttributes: { path: string } };
}
/** The test apiserver authorizes nobody; this answers in its place: everything but /secret. */
const reviewer = {
  resource: () => ({
    create: ({ spec }: Review) => Promise.resolve({ status: { allowed: spec.nonResourceAttributes.path !== '/secret' } }),
  }),
} as unknown as KubeClient;

describe('the manager', () => {
  it('serves health to everybody, metrics and configuration to those who may', async () => {
    world = await startCloudWorld();
    const { manager } = world;
    const server = await serveCloudControllerManager(
      {
        listen: { host: '127.0.0.1', port: 0 },
        healthChecks: () => manager.healthChecks(),
        metrics: manager.metrics,
        configuration: { clusterName: 'kubernetes' },
      },
      { client: reviewer, clock: systemClock(), logger: silentLogger },
    );
    const { port } = server;
    expect(await get(port, '/healthz')).toEqual({ status: 200, body: 'ok' });
    expect((await get(port, '/healthz?verbose')).body).toContain('[+]cloud-node-controller ok');
    expect((await get(port, '/metrics')).body).toContain(
      'running_managed_controllers{name="service",manager="cloud-controller-manager"} 1',
    );
    expect(JSON.parse((await get(port, '/configz')).body)).toEqual({
      'cloudcontrollermanager.config.k8s.io': { clusterName: 'kubernetes' },
    });
    expect((await get(port, '/nonsense')).status).toBe(404);
    expect((await get(port, '/secret')).status).toBe(403);
    await server.close({ graceMs: 0 });
  });
  it('leads by the lease cloud-controller-manager', async () => {
    world = await startCloudWorld();
    const leases = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' };
    const lease = await world.plane.client.resource<Lease>(leases, 'kube-system').get('cloud-controller-manager');
    expect(lease.spec).toMatchObject({ holderIdentity: 'one', leaseDurationSeconds: 15 });
    expect(world.manager.running()).toHaveLength(4);
  });
  it('leaves out what the provider does not support', async () => {
    world = await startCloudWorld({ provider: { instances: 'none', routes: false } });
    expect(world.manager.running()).toEqual(['service-lb-controller']);
  });
});
