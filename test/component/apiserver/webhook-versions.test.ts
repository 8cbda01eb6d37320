// Which version of an object an admission webhook sees and patches, where the version that is stored is another one, and which name of one that a webhook renames.
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AdmissionReview } from '#api/admission/v1';
import type { UnknownObject } from '#apimachinery/meta';
import type { Transport } from '#apimachinery/transport';
import { defaultOptions, type KubeApiServer, runKubeApiServer } from '#apiserver/app';
import { systemClock, systemRng } from '#host';
import { createCertificateAuthority, issueCertificate } from '#pki';
import { type EmbeddedStore, openMemoryStore } from '#store';
import { silentLogger } from '#utils';

const ca = createCertificateAuthority({ commonName: 'webhooks' });
const serving = issueCertificate({ ca, commonName: 'hook', ips: ['127.0.0.1'], usages: ['server auth'] });
const patches: Record<string, object[] | undefined> = {
  '/': [{ op: 'add', path: '/spec/targetCPUUtilizationPercentage', value: 37 }],
  '/rename': [{ op: 'replace', path: '/metadata/name', value: 'other' }],
};
const asked: AdmissionReview['request'][] = [];
let webhook: Server;
let store: EmbeddedStore;
let server: KubeApiServer;
let client: Transport;

beforeAll(async () => {
  webhook = createServer({ cert: serving.cert, key: serving.key }, async (message, answer) => {
    const review = JSON.parse(await text(message)) as AdmissionReview;
    asked.push(review.request);
    const operations = patches[message.url?.split('?')[0] ?? ''];
    const patch = operations && { patchType: 'JSONPatch', patch: btoa(JSON.stringify(operations)) };
    const response = { uid: review.request?.uid, allowed: true, ...patch };
    answer.end(JSON.stringify({ ...review, request: undefined, response }));
  });
  webhook.listen(0, '127.0.0.1');
  await once(webhook, 'listening');
  const clock = systemClock();
  store = openMemoryStore({ clock });
  const options = { ...defaultOptions(), bindAddress: '127.0.0.1', securePort: 0 };
  server = await runKubeApiServer(options, { clock, rng: systemRng(), logger: silentLogger, store });
  await server.started;
  client = server.transport({ name: 'admin', groups: ['system:masters'] });
});
afterAll(async () => {
  await server.close();
  await store.close();
  webhook.close();
});

const create = (group: string, version: string, resource: string, object: object, namespace = '') =>
  client.call<UnknownObject>({ group, version, resource, namespace, verb: 'create', object: object as UnknownObject });

/** A webhook that is asked about new objects at this path. */
const hookAt = (path: string, apiGroup: string, resource: string): object => ({
  name: 'hook.example.com',
  clientConfig: {
    url: `https://127.0.0.1:${(webhook.address() as AddressInfo).port}${path}`,
    caBundle: Buffer.from(ca.cert).toString('base64'),
  },
  rules: [{ operations: ['CREATE'], apiGroups: [apiGroup], apiVersions: ['v1'], resources: [resource] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
});

it('a webhook sees and patches the version that the request names', async () => {
  const configuration = { metadata: { name: 'w' }, webhooks: [hookAt('/', 'autoscaling', '*')] };
  await create('admissionregistration.k8s.io', 'v1', 'mutatingwebhookconfigurations', configuration);
  await create('', 'v1', 'namespaces', { metadata: { name: 'n' } });
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const scaler = { metadata: { name: 'h' }, spec: { maxReplicas: 3, scaleTargetRef } };
  const made = await create('autoscaling', 'v1', 'horizontalpodautoscalers', scaler, 'n');
  const autoscaling = { group: 'autoscaling', version: 'v1' };
  expect(asked).toMatchObject([
    {
      kind: { ...autoscaling, kind: 'HorizontalPodAutoscaler' },
      requestResource: { ...autoscaling, resource: 'horizontalpodautoscalers' },
      object: { apiVersion: 'autoscaling/v1', spec: { targetCPUUtilizationPercentage: 80 } },
    },
  ]);
  expect(made['spec']).toMatchObject({ targetCPUUtilizationPercentage: 37 });
  const place = { group: 'autoscaling', resource: 'horizontalpodautoscalers', namespace: 'n', name: 'h' };
  const newest = await client.call<UnknownObject>({ ...place, version: 'v2', verb: 'get' });
  expect(newest['spec']).toMatchObject({ metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 37 } } }] });
});

it('who comes after a webhook that renames an object is asked about it by the name that it came with', async () => {
  asked.length = 0;
  for (const [resource, path] of [
    ['mutatingwebhookconfigurations', '/rename'],
    ['validatingwebhookconfigurations', '/look'],
  ] as const) {
    const configuration = { metadata: { name: 'names' }, webhooks: [hookAt(path, '', 'configmaps')] };
    await create('admissionregistration.k8s.io', 'v1', resource, configuration);
  }
  const made = await create('', 'v1', 'configmaps', { metadata: { name: 'first' } }, 'default');
  expect(made.metadata.name).toBe('other');
  expect(asked.map((request) => [request?.name, (request?.object as UnknownObject | undefined)?.metadata.name])).toEqual([
    ['first', 'first'],
    ['first', 'other'],
  ]);
});
