// The manager's own endpoints, its lease, and what it does when it loses it.
import { request } from 'node:https';
import { afterEach, describe, expect, it } from 'vitest';
import type { Lease } from '#api/coordination/v1';
import { serveWebhooks } from '#cloud-controller-manager';
import type { CloudProvider } from '#cloud-provider';
import { createMetrics } from '#component-base';
import { defaultDelegatedAuth, type ReviewClient, selfSignedCertificate, serveComponent } from '#component-base/serving';
import { systemClock } from '#host';
import { silentLogger } from '#utils';
import { type CloudWorld, startCloudWorld } from './world.ts';

let world: CloudWorld;
afterEach(() => world.close());

const get = (port: number, path: string, post?: { method?: string; body: string; type: string }) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    const sent = post && { method: post.method ?? 'POST', headers: { 'content-type': post.type } };
    request({ host: '127.0.0.1', port, path, rejectUnauthorized: false, ...sent }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    })
      .on('error', reject)
      .end(post?.body);
  });

interface Review {
  spec: { nonResourceAttributes: { path: string } };
}
/** The test apiserver authorizes nobody; this answers in its place: everything but /secret. */
const reviewer: ReviewClient = {
  resource: () => ({
    create: (review) =>
      Promise.resolve({ status: { allowed: (review as unknown as Review).spec.nonResourceAttributes.path !== '/secret' } }),
    get: () => Promise.reject(new Error('there is none')),
  }),
};

describe('the manager', () => {
  it('serves health to everybody, metrics and configuration to those who may', async () => {
    world = await startCloudWorld();
    const { manager } = world;
    const clock = systemClock();
    const levels: number[] = [];
    const server = await serveComponent(
      {
        serving: { listen: { host: '127.0.0.1', port: 0 }, tls: selfSignedCertificate('cloud-controller-manager', clock) },
        auth: { ...defaultDelegatedAuth, lookup: 'tolerant' },
        health: () => ({ healthz: manager.healthChecks() }),
        metrics: manager.metrics,
        setVerbosity: (level) => void levels.push(level),
        configz: { name: 'cloudcontrollermanager.config.k8s.io', configuration: { clusterName: 'kubernetes' } },
        component: 'cloud-controller-manager',
        flags: { 'cluster-name': 'kubernetes' },
      },
      { authentication: reviewer, authorization: reviewer, clock, logger: silentLogger },
    );
    const { port } = server;
    expect(await get(port, '/healthz')).toEqual({ status: 200, body: 'ok' });
    expect((await get(port, '/healthz?verbose')).body).toContain('[+]cloud-node-controller ok');
    expect((await get(port, '/metrics')).body).toContain(
      'running_managed_controllers{name="service",manager="cloud-controller-manager"} 1',
    );
    const metrics = (await get(port, '/metrics')).body;
    expect(metrics).toMatch(/^workqueue_adds_total\{name="node-route-controller"\} [1-9]/m);
    expect(metrics).toMatch(/^workqueue_work_duration_seconds_count\{name="node-route-controller"\} [1-9]/m);
    expect(metrics).toMatch(/^workqueue_depth\{name="node-route-controller"\} 0/m);
    expect(metrics).toMatch(/^workqueue_unfinished_work_seconds\{name="node-route-controller"\} 0/m);
    expect((await get(port, '/metrics/slis')).body).toContain('kubernetes_healthcheck{name="leaderElection",type="healthz"} 1');
    expect(JSON.parse((await get(port, '/configz')).body)).toEqual({
      'cloudcontrollermanager.config.k8s.io': { clusterName: 'kubernetes' },
    });
    const put = (body: string) => get(port, '/debug/flags/v', { method: 'PUT', body, type: 'text/plain' });
    expect(await put('4')).toEqual({ status: 200, body: 'successfully set klog.logging.verbosity to 4' });
    expect((await put('much')).status).toBe(400);
    expect((await get(port, '/debug/flags/v')).status).toBe(406);
    expect(levels).toEqual([4]);
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
  it('serves the webhooks of its provider', async () => {
    world = await startCloudWorld();
    const clock = systemClock();
    const metrics = createMetrics();
    const webhooks: NonNullable<CloudProvider['webhooks']> = {
      volumes: {
        path: '/volumes',
        admit: ({ name }) => (name === 'broken' ? Promise.reject(new Error('no zone')) : { allowed: name === 'good' }),
      },
      off: { path: '/off', admit: () => ({ allowed: true }) },
    };
    const serving = { listen: { host: '127.0.0.1', port: 0 }, tls: selfSignedCertificate('webhook', clock) };
    const deps = { clock, logger: silentLogger };
    const server = await serveWebhooks({ webhooks, wanted: ['*', '-off'], serving, metrics }, deps);
    const { port = 0 } = server ?? {};
    const post = (path: string, body: string, type = 'application/json') => get(port, path, { body, type });
    const review = (name: string) =>
      JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: { uid: 'u', name } });
    expect(JSON.parse((await post('/volumes', review('good'))).body)).toEqual({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1',
      response: { allowed: true, uid: 'u' },
    });
    expect(await post('/volumes', review('broken'))).toEqual({
      status: 500,
      body: 'error generating admission response: no zone\n',
    });
    expect(await post('/volumes', '')).toEqual({ status: 400, body: 'admission request HTTP body is empty\n' });
    expect(await post('/volumes', '{"kind":"Pod","apiVersion":"v1"}')).toMatchObject({ status: 400 });
    expect((await post('/volumes', review('good'), 'text/plain')).body).toContain('should be "application/json"');
    expect((await post('/off', review('good'))).status).toBe(404);
    expect(await metrics.expose()).toContain('cloud_provider_webhook_request_total{code="400",webhook="volumes"} 3');
    await server?.close({ graceMs: 0 });
    expect(await serveWebhooks({ webhooks, wanted: [], serving, metrics }, deps)).toBeUndefined();
    await expect(serveWebhooks({ webhooks, wanted: ['nonsense'], serving, metrics }, deps)).rejects.toThrow('known webhooks');
  });
});
