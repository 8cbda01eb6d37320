// Every endpoint of every component answers HTTP/1.1 and HTTP/2 alike, whichever of them was asked first: headers that answers share once were
// written into for one version and broke the other until the restart.
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:http2';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defaultOptions, runKubeApiServer } from '#apiserver/app';
import { createClient } from '#client';
import { memoryLoadBalancers, memoryMachines } from '#cloud/memory';
import { startCloud } from '#cloud/server';
import { serveWebhooks } from '#cloud-controller-manager';
import { createMetrics } from '#component-base';
import { defaultDelegatedAuth, type ReviewClient, selfSignedCertificate, serveComponent } from '#component-base/serving';
import { systemClock, systemRng } from '#host';
import { createSimulatedNode, startKubeletServer } from '#kubelet';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { serve } from '#wire';

interface Answer {
  status: number;
  type: unknown;
  body: string;
}
type Version = 'http1' | 'http2';

const headersFor = (token: string | undefined) => (token === undefined ? {} : { authorization: `Bearer ${token}` });
const ask: Record<Version, (port: number, path: string, token?: string) => Promise<Answer>> = {
  http1: (port, path, token) =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, headers: headersFor(token), agent: false, rejectUnauthorized: false };
      request(options, async (response) => {
        let body = '';
        for await (const chunk of response) body += String(chunk);
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'], body });
      })
        .on('error', reject)
        .end();
    }),
  http2: (port, path, token) =>
    new Promise((resolve, reject) => {
      const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on('error', reject);
      const stream = session.request({ ':path': path, ...headersFor(token) });
      const answer: Answer = { status: 0, type: undefined, body: '' };
      stream.on('error', reject).on('response', (headers) => {
        answer.status = Number(headers[':status']);
        answer.type = headers['content-type'];
      });
      stream.on('data', (chunk: Buffer) => (answer.body += chunk.toString()));
      stream.on('close', () => {
        session.destroy();
        resolve(answer);
      });
    }),
};

const clock = systemClock();
const deps = { clock, rng: systemRng(), logger: silentLogger };
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface Served {
  port: number;
  paths: readonly string[];
  tokens?: readonly string[];
}

const everybody: ReviewClient = {
  resource: () => ({
    create: () => Promise.resolve({ status: { allowed: true } }),
    get: () => Promise.reject(new Error('not found')),
  }),
};
const nobody: ReviewClient = {
  resource: () => ({
    create: () => Promise.resolve({ status: {} }),
    get: () => Promise.reject(new Error('not found')),
  }),
};

const ownPaths = [
  '/healthz',
  '/healthz?verbose',
  '/livez',
  '/readyz',
  '/metrics',
  '/metrics/slis',
  '/configz',
  '/debug/flags/v',
  '/nothing',
  '//',
];

/** The endpoints beside a component's work, for callers who may, and for those who may not. */
async function ownEndpoints(component: string, authorization: ReviewClient): Promise<Served> {
  const check = { name: 'ping', check: () => Promise.resolve() };
  const server = await serveComponent(
    {
      serving: { listen: { host: '127.0.0.1', port: 0 }, tls: selfSignedCertificate(component, clock) },
      auth: { ...defaultDelegatedAuth, lookup: 'skip' },
      health: () => ({ healthz: [check], livez: [check], readyz: [check] }),
      metrics: createMetrics(),
      setVerbosity: () => {},
      configz: { name: component, configuration: {} },
      component,
      flags: {},
    },
    { ...deps, authentication: authorization, authorization },
  );
  undo.push(() => server.close({ graceMs: 0 }));
  return { port: server.port, paths: ownPaths };
}

async function startApiServer() {
  const server = await runKubeApiServer(
    {
      ...defaultOptions(),
      securePort: 0,
      bindAddress: '127.0.0.1',
      tokenFile: 'admin,admin,1,system:masters\ntenant,tenant,2,tenants',
    },
    deps,
  );
  undo.push(() => server.close());
  await server.started;
  return server;
}

const apiPaths = [
  ...['/', '/api', '/apis', '/api/v1', '/version', '/healthz', '/livez?verbose', '/readyz', '/metrics', '/openapi/v2'],
  ...['/openapi/v3', '/openapi/v3/api/v1', '/.well-known/openid-configuration', '/openid/v1/jwks', '/nothing', '//', '/%zz'],
  ...['/api/v1/namespaces', '/api/v1/namespaces/default', '/api/v1/namespaces/none', '/apis/apps/v1/deployments?limit=1'],
  ...['/api/v1/pods?watch=1&timeoutSeconds=1', '/api/v1/pods?timeout=x', '/apis/none.example/v1', '/api/v1/pods?limit=-'],
];

const kubeletPaths = [
  '/healthz',
  '/pods',
  '/runningpods/',
  '/metrics',
  '/metrics/resource',
  '/metrics/cadvisor',
  '/stats/summary',
];

const components: Record<string, () => Promise<Served>> = {
  'kube-apiserver': async () => ({
    port: (await startApiServer()).wire.port,
    paths: apiPaths,
    tokens: ['admin', 'tenant', 'unknown', ''],
  }),
  'kube-controller-manager': () => ownEndpoints('kube-controller-manager', everybody),
  'kube-scheduler': () => ownEndpoints('kube-scheduler', everybody),
  'cloud-controller-manager': () => ownEndpoints('cloud-controller-manager', everybody),
  'a component whose caller may nothing': () => ownEndpoints('kube-scheduler', nobody),
  'webhooks of the cloud-controller-manager': async () => {
    const webhook = { path: '/validate', kind: 'validating', review: () => Promise.reject(new Error('never asked')) };
    const server = await serveWebhooks(
      {
        webhooks: { one: webhook as never },
        wanted: ['*'],
        serving: { listen: { host: '127.0.0.1', port: 0 }, tls: selfSignedCertificate('webhooks', clock) },
        metrics: createMetrics(),
      },
      deps,
    );
    undo.push(() => server?.close({ graceMs: 0 }));
    return { port: server?.port ?? 0, paths: ['/validate', '/nothing'] };
  },
  ...Object.fromEntries(
    [true, false].map((anonymous) => [
      `kubelet${anonymous ? '' : ', to callers it does not know'}`,
      async () => {
        const apiserver = await startApiServer();
        const client = createClient(
          apiserver.transport({ name: 'system:node:n1', groups: ['system:nodes', 'system:masters'] }, 'test'),
        );
        const kubelet = createSimulatedNode({ name: 'n1', nodeIP: '10.9.0.1' }, { ...deps, client });
        undo.push(() => kubelet.close());
        const server = await startKubeletServer(
          kubelet,
          {
            tls: selfSignedCertificate('kubelet', clock),
            listen: { host: '127.0.0.1', port: 0 },
            anonymous,
            tokenReview: false,
            authorization: 'AlwaysAllow',
          },
          { client, ...deps },
        );
        undo.push(() => server.close({ graceMs: 0 }));
        const more = ['/configz', '/containerLogs/default/none/c', '/exec/default/none/c', '/run/x', '/nothing', '/%zz', '//'];
        return { port: server.port, paths: [...kubeletPaths, ...more] };
      },
    ]),
  ),
  'the cloud': async () => {
    const dir = await mkdtemp(join(tmpdir(), 'both-versions-'));
    undo.push(() => rm(dir, { recursive: true, force: true }));
    const ca = createCertificateAuthority({ commonName: 'test' });
    const cloud = await startCloud(
      {
        dataDir: dir,
        tls: issueCertificate({ ca, commonName: 'cloud', ips: ['127.0.0.1'], usages: ['server auth'], days: 1 }),
        accounts: [{ id: 'customer', token: 'a-customer-token', role: 'customer' }],
        region: 'local-1',
        zones: ['local-1a'],
        publicCidr: '198.18.0.0/24',
        mark: 'abcdef',
        drivers: { machines: memoryMachines({ clock, delayMs: 1 }), 'load-balancers': memoryLoadBalancers() },
      },
      deps,
    );
    undo.push(() => cloud.close());
    const paths = [
      '/healthz',
      '/openapi.json',
      '/v1/instances',
      '/v1/vpcs',
      '/v1/instances/none',
      '/v1/none',
      '/faults',
      '//',
      '/%zz',
    ];
    return { port: cloud.port, paths, tokens: ['a-customer-token', 'wrong', ''] };
  },
};

/** What says the time, counts requests or draws a number says something else each time. */
const stable = ({ body, ...rest }: Answer, path: string): object =>
  /metrics|stats|verbose|watch|jwks/.test(path)
    ? rest
    : { ...rest, body: body.replace(/req-[0-9a-f-]+|[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID') };

describe.each(Object.entries(components))('%s', (_name, start) => {
  it.each<{ first: Version; second: Version }>([
    { first: 'http1', second: 'http2' },
    { first: 'http2', second: 'http1' },
  ])('answers $first, $second and $first again alike', async ({ first, second }) => {
    const { port, paths, tokens = [''] } = await start();
    for (const token of tokens)
      for (const path of paths) {
        const asked = `${path} as ${token || 'nobody'}`;
        const before = await ask[first](port, path, token || undefined);
        const between = await ask[second](port, path, token || undefined);
        const after = await ask[first](port, path, token || undefined);
        expect(before.status, asked).toBeGreaterThanOrEqual(200);
        expect(before.status, `${asked}: ${before.body}`).not.toBe(500);
        expect(stable(between, path), asked).toEqual(stable(before, path));
        expect(stable(after, path), asked).toEqual(stable(before, path));
      }
  });
});

it('frozen headers are served: nobody writes into them', async () => {
  const headers = Object.freeze({ 'content-type': 'text/plain', connection: 'close' });
  const server = await serve({
    tls: selfSignedCertificate('test', clock),
    onRequest: ({ path }, response) => {
      if (path === '/sent') return response.send(200, headers, 'x');
      response.head(200, headers);
      response.end('x');
    },
  });
  undo.push(() => server.close({ graceMs: 0 }));
  for (const path of ['/sent', '/streamed'])
    for (const version of ['http2', 'http1', 'http2'] as const)
      expect(await ask[version](server.port, path)).toEqual({ status: 200, type: 'text/plain', body: 'x' });
});
