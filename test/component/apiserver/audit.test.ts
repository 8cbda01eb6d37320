// The audit log over the real apiserver: over the wire and over the direct transport, to a file and to a webhook.
import { createServer } from 'node:http';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { createClient } from '#client';
import { systemClock, systemRng } from '#host';
import { silentLogger } from '#utils';
import { createWireClient } from '#wire';

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: RequestResponse
  omitManagedFields: true
  resources: [{group: "", resources: ["configmaps", "pods"]}]
- level: None
  users: ["system:apiserver"]
- level: Metadata
`;
const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

interface Event {
  stage: string;
  verb: string;
  auditID: string;
  requestURI: string;
  user: { username?: string };
  impersonatedUser?: { username?: string };
  objectRef?: Record<string, string>;
  responseStatus?: { code?: number; reason?: string };
  requestObject?: { data?: unknown };
  responseObject?: { metadata?: { name?: string; managedFields?: unknown } };
  annotations?: Record<string, string>;
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'audit-'));
  await writeFile(join(folder, 'policy.yaml'), policy);
});
afterEach(() => rm(folder, { recursive: true }));

type Audit = ReturnType<typeof defaultOptions>['audit'];

async function serverWith(change: (audit: Audit) => Partial<Audit>): Promise<KubeApiServer> {
  const options = defaultOptions();
  const audit = { ...options.audit, policyFile: join(folder, 'policy.yaml') };
  const server = await runKubeApiServer(
    { ...options, audit: { ...audit, ...change(audit) } },
    { clock: systemClock(), rng: systemRng(), logger: silentLogger },
  );
  await server.started;
  return server;
}

function wireTo(server: KubeApiServer) {
  const client = createWireClient({ baseUrl: server.url, tls: { ca: server.ca ?? '' } });
  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const answer = await client.request({
      method,
      path,
      headers: { authorization: `Bearer ${server.loopbackToken}`, 'content-type': 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  return { send, close: () => client.close() };
}

const logged = async (mode: string) => {
  const path = join(folder, 'audit.log');
  const server = await serverWith(({ log }) => ({ log: { ...log, path, mode } }));
  const read = async (): Promise<Event[]> =>
    (await readFile(path, 'utf8'))
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Event);
  return { server, read };
};

it('tells of every request what was asked and what came of it', async () => {
  const { server, read } = await logged('blocking');
  const { send, close } = wireTo(server);
  const direct = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }, 'tester/1'));
  await direct.resource({ group: '', version: 'v1', resource: 'namespaces' }).create({
    metadata: { name: 'n', labels: { 'pod-security.kubernetes.io/audit': 'restricted' } },
  } as never);
  await direct.resource(configMaps, 'n').create({ metadata: { name: 'a' }, data: { k: 'v' } } as never);
  await expect(direct.resource(configMaps, 'n').get('none')).rejects.toThrow('not found');
  const bad = await send('GET', '/api/v1/namespaces/n/pods', undefined, { authorization: 'Bearer wrong', 'audit-id': 'mine' });
  expect([bad.status, bad.headers['audit-id']]).toEqual([401, 'mine']);
  const nobody = await send('GET', '/version', undefined, { authorization: '' });
  expect(nobody.status).toBe(200);
  close();
  direct.close();
  await server.close();
  const events = await read();
  const shown = (event: Event): string => `${event.stage} ${event.verb} ${event.requestURI} ${event.responseStatus?.code ?? '-'}`;
  const created = events.find(
    (event) => event.verb === 'create' && event.stage === 'ResponseComplete' && event.objectRef?.['name'] === 'a',
  );
  expect(created).toMatchObject({
    requestURI: '/api/v1/namespaces/n/configmaps',
    user: { username: 'admin' },
    objectRef: { resource: 'configmaps', namespace: 'n', name: 'a', apiVersion: 'v1' },
    responseStatus: { code: 201 },
    requestObject: { data: { k: 'v' } },
    responseObject: { metadata: { name: 'a' } },
    annotations: { 'authorization.k8s.io/decision': 'allow', 'authorization.k8s.io/reason': '' },
  });
  expect(created?.responseObject?.metadata?.managedFields).toBeUndefined();
  expect(
    events.find(({ auditID, stage }) => auditID === created?.auditID && stage === 'RequestReceived')?.annotations,
  ).toBeUndefined();
  expect(events.filter(({ auditID }) => auditID === 'mine').map(shown)).toEqual([
    'ResponseStarted list /api/v1/namespaces/n/pods 401',
  ]);
  expect(events.map(shown)).toContain('ResponseComplete get /version 200');
  expect(events.find(({ requestURI, stage }) => requestURI.endsWith('/none') && stage === 'ResponseComplete')).toMatchObject({
    responseStatus: { code: 404, reason: 'NotFound' },
  });
});

it('loses nothing at a clean stop in batch mode, a running watch ends in it, and admission adds what it found', async () => {
  const { server, read } = await logged('batch');
  const direct = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
  await direct.resource({ group: '', version: 'v1', resource: 'namespaces' }).create({
    metadata: { name: 'n', labels: { 'pod-security.kubernetes.io/audit': 'restricted' } },
  } as never);
  await direct
    .resource({ group: '', version: 'v1', resource: 'serviceaccounts' }, 'n')
    .create({ metadata: { name: 'default' } } as never);
  await direct
    .resource({ group: '', version: 'v1', resource: 'pods' }, 'n')
    .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } } as never);
  for (let i = 0; i < 100; i++) await direct.resource(configMaps, 'n').create({ metadata: { name: `c${i}` } } as never);
  const wire = createWireClient({ baseUrl: server.url, tls: { ca: server.ca ?? '' } });
  const watch = await wire.request({
    path: '/api/v1/namespaces/n/configmaps?watch=1',
    headers: {
      authorization: `Bearer ${server.loopbackToken}`,
      'impersonate-user': 'eve',
      'impersonate-group': 'system:masters',
    },
  });
  expect(watch.status).toBe(200);
  watch.body.resume();
  direct.close();
  await server.close();
  wire.close();
  const events = await read();
  const made = events.filter(
    ({ verb, stage, requestURI }) => verb === 'create' && stage === 'ResponseComplete' && requestURI.endsWith('configmaps'),
  );
  expect(made).toHaveLength(100);
  const annotations = events.find(
    ({ objectRef, stage }) => objectRef?.['name'] === 'p' && stage === 'ResponseComplete',
  )?.annotations;
  expect(annotations).toMatchObject({
    'pod-security.kubernetes.io/enforce-policy': 'privileged:latest',
    'pod-security.kubernetes.io/audit-violations': expect.stringMatching(
      /^would violate PodSecurity "restricted:latest": /,
    ) as string,
  });
});

it('refuses requests whose event cannot be stored where the mode is strict', async () => {
  const { server } = await logged('blocking-strict');
  const { log } = defaultOptions().audit;
  await server.close();
  const full = await serverWith(({ log: usual }) => ({
    log: { ...usual, ...log, path: '/dev/full', megabytesMax: 0, mode: 'blocking-strict' },
  }));
  const { send, close } = wireTo(full);
  const answer = await send('GET', '/version', undefined, { authorization: '' });
  expect([answer.status, answer.text]).toEqual([500, 'Internal Server Error: "/version": failed to store audit event\n']);
  close();
  await full.close();
});

it('posts batches to a webhook, again where it fails', async () => {
  const lists: { kind: string; items: Event[] }[] = [];
  let posts = 0;
  const hook = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += String(chunk)));
    request.on('end', () => {
      posts++;
      if (posts > 1) lists.push(JSON.parse(text) as never);
      response.writeHead(posts > 1 ? 200 : 500).end();
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/events`;
  const configFile = join(folder, 'webhook.yaml');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'k', user: 'u' } }],
    clusters: [{ name: 'k', cluster: { server: url } }],
    users: [{ name: 'u', user: { token: 't' } }],
  };
  await writeFile(configFile, JSON.stringify(config));
  const server = await serverWith(({ webhook }) => ({ webhook: { ...webhook, configFile, backoffMs: 10, batchWaitMs: 20 } }));
  const direct = createClient(server.transport({ name: 'admin', groups: ['system:masters'] }));
  await direct.resource(configMaps, 'default').list();
  await expect.poll(() => lists.length).toBeGreaterThan(0);
  direct.close();
  await server.close();
  hook.close();
  expect(lists[0]?.kind).toBe('EventList');
  expect(lists.flatMap(({ items }) => items).some(({ user }) => user.username === 'admin')).toBe(true);
});
