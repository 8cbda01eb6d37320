// Who waits for others on behalf of a client stops waiting when the client goes: webhooks, kubelets, pods and other API servers see the end of what
// they were asked, over a connection and in memory.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { APIService } from '#api/apiregistration/v1';
import type { ApiCall } from '#apimachinery/transport';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient, type KubeClient } from '#client';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { silentLogger } from '#utils';
import { createWireClient, serve, type WireClient, type WireServer } from '#wire';

const group = 'metrics.example.com';
const ca = createCertificateAuthority({ commonName: 'others' });
const caBundle = Buffer.from(ca.cert).toString('base64');
const dnsNames = ['localhost', 'metrics.default.svc'];
const others = issueCertificate({ ca, commonName: 'others', dnsNames, ips: ['127.0.0.1', '10.0.0.1'], usages: ['server auth'] });
const proxyCa = createCertificateAuthority({ commonName: 'front-proxy-ca' });

interface Held {
  path: string;
  over: boolean;
}

/** Everybody that the apiserver asks: takes each request, answers none but those about its API, and sees when they end. */
let silent: WireServer;
const held: Held[] = [];
let folder: string;
let server: KubeApiServer;
let wire: WireClient;
let client: KubeClient;

const hold = ({ path, signal }: { path: string; signal: AbortSignal }): void => {
  const one: Held = { path, over: false };
  held.push(one);
  signal.addEventListener('abort', () => (one.over = true));
};
const gauges = { name: 'gauges', singularName: 'gauge', namespaced: true, kind: 'Gauge', verbs: ['get', 'list', 'watch'] };
const resources = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1`, resources: [gauges] };
const json = { 'content-type': 'application/json' };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'called-off-'));
  silent = await serve({
    tls: others,
    onRequest(request, response) {
      const { path } = request;
      if (path === `/apis/${group}/v1`) response.send(200, json, JSON.stringify(resources));
      else if (path.startsWith('/openapi')) response.send(404, {}, '');
      else return new Promise((resolve) => (hold(request), request.onClose(resolve)));
    },
    onUpgrade: (upgrade) => new Promise((resolve) => (hold(upgrade), upgrade.signal.addEventListener('abort', () => resolve()))),
  });
  const url = `https://127.0.0.1:${silent.port}`;
  const kubeConfigFile = join(folder, 'access.kubeconfig');
  const cluster = { server: `${url}/access`, 'certificate-authority-data': caBundle };
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  await writeFile(kubeConfigFile, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  const authorizationConfig = join(folder, 'authorization.yaml');
  const webhook = {
    ...{ timeout: '30s', subjectAccessReviewVersion: 'v1', failurePolicy: 'NoOpinion' },
    ...{ matchConditionSubjectAccessReviewVersion: 'v1', connectionInfo: { type: 'KubeConfigFile', kubeConfigFile } },
  };
  const authorizers = [{ type: 'Webhook', name: 'w', webhook }];
  const authorization = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers };
  await writeFile(authorizationConfig, JSON.stringify(authorization));
  const requestHeader = {
    ...{ ca: proxyCa.cert, allowedNames: ['front-proxy-client'], usernameHeaders: ['X-Remote-User'], uidHeaders: [] },
    ...{ groupHeaders: ['X-Remote-Group'], extraHeaderPrefixes: ['X-Remote-Extra-'] },
  };
  const proxyClient = issueCertificate({ ca: proxyCa, commonName: 'front-proxy-client', usages: ['client auth'] });
  const tokenFile = 'admin,admin,admin,"system:masters"\njoe,joe,joe,';
  server = await runKubeApiServer(
    { ...defaultOptions(), requestHeader, proxyClient, tokenFile, authorizationModes: [], access: { authorizationConfig } },
    {
      clock: systemClock(),
      rng: systemRng(),
      logger: silentLogger,
      dialKubelet: async () => {
        const socket = connect({ host: '127.0.0.1', port: silent.port });
        await once(socket, 'connect');
        return socket;
      },
    },
  );
  await server.started;
  wire = createWireClient({ baseUrl: server.url, tls: { ca: server.ca ?? '' } });
  client = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
  await makeObjects(url);
}, 60_000);
afterAll(async () => {
  client?.close();
  wire?.close();
  await server?.close();
  await silent?.close({ graceMs: 0 });
  await rm(folder, { recursive: true });
});

async function makeObjects(url: string): Promise<void> {
  const core = (resource: string, namespace?: string) => client.resource({ group: '', version: 'v1', resource }, namespace);
  const node = await core('nodes').create({ metadata: { name: 'page' } } as never);
  const addresses = [{ type: 'InternalIP', address: '10.0.0.1' }];
  await core('nodes').updateStatus({ ...node, status: { addresses } } as never);
  await core('serviceaccounts', 'default')
    .create({ metadata: { name: 'default' } } as never)
    .catch(() => undefined);
  const spec = { nodeName: 'page', containers: [{ name: 'c', image: 'i' }] };
  const pod = await core('pods', 'default').create({ metadata: { name: 'page' }, spec } as never);
  const status = { phase: 'Running', podIP: '10.244.1.2', podIPs: [{ ip: '10.244.1.2' }] };
  await core('pods', 'default').updateStatus({ ...pod, status } as never);
  const ports = [{ port: silent.port }];
  const service = { type: 'ExternalName', externalName: 'localhost', ports };
  await core('services', 'default').create({ metadata: { name: 'metrics' }, spec: service } as never);
  const apiServices = client.resource<APIService>({ group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' });
  const at = { service: { namespace: 'default', name: 'metrics', port: silent.port }, caBundle };
  const remote = { group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 100, ...at };
  await apiServices.create({ metadata: { name: `v1.${group}` }, spec: remote } as never);
  const available = async () => expect((await apiServices.get(`v1.${group}`)).status?.conditions?.[0]?.status).toBe('True');
  await vi.waitFor(available, { timeout: 20_000, interval: 100 });
  const hooks = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' };
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  const hook = { name: 'h.example.com', rules, clientConfig: { url: `${url}/hook`, caBundle }, sideEffects: 'None' };
  const webhooks = [{ ...hook, timeoutSeconds: 30, admissionReviewVersions: ['v1'] }];
  await client.resource(hooks).create({ metadata: { name: 'h' }, webhooks } as never);
}

/** Asks, waits until somebody else is asked at a path of `pattern`, goes away, and waits until they have seen the end of it. */
async function expectCalledOff(pattern: RegExp, ask: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  held.length = 0;
  const gone = new AbortController();
  let answer: unknown = 'not yet';
  const asked = ask(gone.signal).then(
    (value) => (answer = value),
    (error: unknown) => (answer = error),
  );
  await expect.poll(() => [held.some(({ path }) => pattern.test(path)), answer], { timeout: 10_000 }).toEqual([true, 'not yet']);
  expect(held.map(({ over }) => over)).not.toContain(true);
  gone.abort();
  await expect.poll(() => held.filter(({ over }) => !over), { timeout: 10_000 }).toEqual([]);
  await asked;
}

const send = (method: string, path: string, signal: AbortSignal, more: { token?: string; body?: object } = {}) =>
  wire
    .request({
      ...{ method, path, signal, headers: { ...json, authorization: `Bearer ${more.token ?? 'admin'}` } },
      ...(more.body && { body: JSON.stringify(more.body) }),
    })
    .then((answer) => answer.text());

const upgradeTo = (protocol: 'websocket' | 'SPDY/3.1', path: string, subprotocol: string) => (signal: AbortSignal) =>
  wire.upgrade({
    method: protocol === 'websocket' ? 'GET' : 'POST',
    path,
    headers: {
      authorization: 'Bearer admin',
      connection: 'Upgrade',
      upgrade: protocol,
      ...(protocol === 'websocket'
        ? {
            'sec-websocket-version': '13',
            'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
            'sec-websocket-protocol': subprotocol,
          }
        : { 'x-stream-protocol-version': subprotocol }),
    },
    signal,
  });

const pod = '/api/v1/namespaces/default/pods/page';
const theirs = `/apis/${group}/v1/namespaces/default/gauges`;
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' } };

describe('over a connection', () => {
  const cases: [string, RegExp, (signal: AbortSignal) => Promise<unknown>][] = [
    ['an admission webhook', /^\/hook/, (signal) => send('POST', '/api/v1/namespaces/default/configmaps', signal, { body: map })],
    ['an authorizer', /^\/access/, (signal) => send('GET', '/api/v1/namespaces/default/secrets', signal, { token: 'joe' })],
    ['a pod by proxy', /^\/slow/, (signal) => send('GET', '/api/v1/namespaces/default/pods/https:page:443/proxy/slow', signal)],
    ['a kubelet by proxy', /^\/stats/, (signal) => send('GET', '/api/v1/nodes/page/proxy/stats', signal)],
    ['a kubelet for a log', /^\/containerLogs\//, (signal) => send('GET', `${pod}/log?follow=true`, signal)],
    ['another API server', /\/gauges\/a$/, (signal) => send('GET', `${theirs}/a`, signal)],
    ['another API server for a watch', /\/gauges\?watch/, (signal) => send('GET', `${theirs}?watch=true`, signal)],
    ['another API server for an upgrade', /\/gauges\/a\/exec/, upgradeTo('websocket', `${theirs}/a/exec`, 'v4.channel.k8s.io')],
    ['exec, translated', /^\/exec\//, upgradeTo('websocket', `${pod}/exec?command=sh&stdout=1`, 'v5.channel.k8s.io')],
    ['exec, handed on', /^\/exec\//, upgradeTo('SPDY/3.1', `${pod}/exec?command=sh&stdout=1`, 'v4.channel.k8s.io')],
    ['attach', /^\/attach\//, upgradeTo('websocket', `${pod}/attach?stdout=1`, 'v5.channel.k8s.io')],
    ['port-forward', /^\/portForward\//, upgradeTo('SPDY/3.1', `${pod}/portforward`, 'portforward.k8s.io')],
    [
      'port-forward, in a tunnel',
      /^\/portForward\//,
      upgradeTo('websocket', `${pod}/portforward`, 'SPDY/3.1+portforward.k8s.io'),
    ],
  ];
  it.each(cases)('%s', (_name, pattern, ask) => expectCalledOff(pattern, ask));
});

describe('in memory', () => {
  const maps = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' };
  const remote = { group, version: 'v1', resource: 'gauges', namespace: 'default' };
  const call = (asked: ApiCall, user = 'admin') => {
    const groups = user === 'admin' ? ['system:masters'] : [];
    return (signal: AbortSignal) => server.transport({ name: user, groups }).call(asked, signal);
  };
  it('an admission webhook', () => expectCalledOff(/^\/hook/, call({ ...maps, verb: 'create', object: map as never })));
  it('an authorizer', () => expectCalledOff(/^\/access/, call({ ...maps, verb: 'list' }, 'joe')));
  it('another API server', () => expectCalledOff(/\/gauges\/a$/, call({ ...remote, verb: 'get', name: 'a' })));
  it('another API server for a watch', () =>
    expectCalledOff(/\/gauges\?watch/, (signal) =>
      server.transport({ name: 'admin', groups: ['system:masters'] }).watch(remote, signal),
    ));
});
