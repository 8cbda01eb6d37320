import { expect, test } from 'vitest';
import type { TokenRequest } from '#api/authentication/v1';
import type { Pod } from '#api/core/v1';
import type { PodDisruptionBudget } from '#api/policy/v1';
import type { UnknownObject } from '#apimachinery/meta';
import { decodeJwt, generateKeyPair, jwtSigner } from '#pki';
import { MemoryCluster } from '../test-support/memory-cluster.ts';
import type { SpecialContext, SpecialRest } from '../special.ts';
import { ownRequest } from '../../request/own.ts';
import { kubeletAddress } from './node/kubelet-clients.ts';
import { isElsewhere } from '../../platform/network.ts';
import { parseProxyName } from './node/proxy-target.ts';
import { bindingEndpoints } from './pod/binding.ts';
import { containerOf } from './pod/container.ts';
import { evictionEndpoint } from './pod/eviction.ts';
import { tokenEndpoint } from './serviceaccount/token.ts';

const now = () => Date.UTC(2026, 0, 1);

function setUp() {
  const cluster = new MemoryCluster();
  const post = async (endpoint: SpecialRest | undefined, name: string, object: object, more: Partial<SpecialContext> = {}) => {
    const target = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'ns', name };
    const context: SpecialContext = {
      request: { ...ownRequest({ name: 'u', groups: [] }, 'create', target, now()), method: 'POST' },
      target,
      subpath: '',
      query: new URLSearchParams(),
      object: { metadata: { name }, ...object } as UnknownObject,
      dryRun: false,
      cluster,
      writer: cluster,
      validate: async () => {},
      ...more,
    };
    return endpoint?.handle(context);
  };
  return { cluster, post };
}

const pod = (more: Partial<Pod> = {}): Pod => ({
  metadata: { name: 'p', namespace: 'ns', labels: { app: 'x' } },
  spec: { containers: [] },
  ...more,
});
const target = { target: { kind: 'Node', name: 'n1' } };

test('binding assigns once', async () => {
  const { cluster, post } = setUp();
  const [binding] = bindingEndpoints(now);
  cluster.put('', 'pods', pod());
  await post(binding, 'p', { ...target, metadata: { name: 'p', annotations: { by: 'me' } } });
  expect(cluster.get<Pod>('', 'pods', 'ns', 'p')).toMatchObject({
    metadata: { annotations: { by: 'me' } },
    spec: { nodeName: 'n1' },
    status: { conditions: [{ type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  });
  await expect(post(binding, 'p', target)).rejects.toThrow(
    'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n1"',
  );
});

test.each([
  [{}, { target: { name: '' } }, 'target.name: Required value'],
  [{}, { target: { kind: 'Pod', name: 'x' } }, 'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"'],
  [{ spec: { containers: [], schedulingGates: [{ name: 'g' }] } }, target, 'pod p has non-empty .spec.schedulingGates'],
  [
    { metadata: { name: 'p', namespace: 'ns', deletionTimestamp: 'x' } },
    target,
    'pod p is being deleted, cannot be assigned to a host',
  ],
])('binding of %j is refused', async (more, wanted, message) => {
  const { cluster, post } = setUp();
  cluster.put('', 'pods', pod(more));
  await expect(post(bindingEndpoints(now)[0], 'p', wanted)).rejects.toThrow(message);
});

const budget = (status: object, more: object = {}): PodDisruptionBudget =>
  ({
    metadata: { name: 'b', namespace: 'ns', generation: 1 },
    spec: { selector: { matchLabels: { app: 'x' } }, ...more },
    status: { observedGeneration: 1, ...status },
  }) as PodDisruptionBudget;
const running = pod({ status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } });

test('an eviction spends from the budget', async () => {
  const { cluster, post } = setUp();
  cluster.put('', 'pods', running);
  cluster.put('policy', 'poddisruptionbudgets', budget({ disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 }));
  await post(evictionEndpoint(now), 'p', {}, { dryRun: true });
  expect(cluster.get('', 'pods', 'ns', 'p')).toBeDefined();
  expect(await post(evictionEndpoint(now), 'p', {})).toMatchObject({ status: 201, object: { status: 'Success' } });
  expect(cluster.get('', 'pods', 'ns', 'p')).toBeUndefined();
  expect(cluster.get<PodDisruptionBudget>('policy', 'poddisruptionbudgets', 'ns', 'b')?.status).toMatchObject({
    disruptionsAllowed: 0,
    disruptedPods: { p: '2026-01-01T00:00:00Z' },
  });
});

test.each([
  [
    { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 },
    'The disruption budget b needs 1 healthy pods and has 1 currently',
  ],
  [{ disruptionsAllowed: 1, observedGeneration: 0 }, 'The disruption budget b is still being processed by the server.'],
])('a budget of %j keeps the pod', async (status, message) => {
  const { cluster, post } = setUp();
  cluster.put('', 'pods', running);
  cluster.put('policy', 'poddisruptionbudgets', budget(status));
  await expect(post(evictionEndpoint(now), 'p', {})).rejects.toMatchObject({
    status: {
      code: 429,
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      details: { causes: [{ reason: 'DisruptionBudget', message }] },
    },
  });
});

test('pods that do not run, or are unhealthy beyond the budget, may go', async () => {
  const { cluster, post } = setUp();
  cluster.put('policy', 'poddisruptionbudgets', budget({ disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1 }));
  cluster.put('', 'pods', pod({ status: { phase: 'Pending' } }));
  await post(evictionEndpoint(now), 'p', {});
  cluster.put('', 'pods', pod({ status: { phase: 'Running' } }));
  await post(evictionEndpoint(now), 'p', {});
  expect(cluster.list('', 'pods')).toEqual([]);
});

function tokens() {
  const { privateKey, publicKey } = generateKeyPair();
  return tokenEndpoint({
    issuer: 'iss',
    signer: jwtSigner(privateKey, publicKey),
    apiAudiences: ['api'],
    now,
    uuid: () => 'jti',
  });
}

test('a token carries its account and what it is bound to', async () => {
  const { cluster, post } = setUp();
  cluster.put('', 'serviceaccounts', { metadata: { name: 'sa', namespace: 'ns', uid: 'sa-uid' } });
  cluster.put(
    '',
    'pods',
    pod({
      metadata: { name: 'p', namespace: 'ns', uid: 'pod-uid' },
      spec: { containers: [], serviceAccountName: 'sa', nodeName: 'n1' },
    }),
  );
  const answer = await post(tokens(), 'sa', {
    spec: { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'p' } },
  });
  const { spec, status } = (answer as { object: unknown }).object as TokenRequest;
  expect(spec).toMatchObject({ audiences: ['api'], expirationSeconds: 3607 });
  expect(status?.expirationTimestamp).toBe('2026-01-01T01:00:07Z');
  const { claims } = decodeJwt(status?.token ?? '');
  expect(claims).toMatchObject({
    iss: 'iss',
    sub: 'system:serviceaccount:ns:sa',
    aud: ['api'],
    jti: 'jti',
    'kubernetes.io': {
      namespace: 'ns',
      serviceaccount: { name: 'sa', uid: 'sa-uid' },
      pod: { name: 'p', uid: 'pod-uid' },
      node: { name: 'n1' },
    },
  });
  expect((claims.exp as number) - (claims.iat as number)).toBe(365 * 24 * 3600);
});

test.each([
  [
    { expirationSeconds: 60 },
    'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
  ],
  [
    { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } },
    'cannot bind token to object of type /v1, Kind=ConfigMap',
  ],
  [{ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'x' } }, 'secrets "x" not found'],
])('a token request with %j is refused', async (spec, message) => {
  const { cluster, post } = setUp();
  cluster.put('', 'serviceaccounts', { metadata: { name: 'sa', namespace: 'ns' } });
  await expect(post(tokens(), 'sa', { spec })).rejects.toThrow(message);
});

test('the container is the only one, or must be named', () => {
  const two = pod({ spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] } });
  expect(containerOf(pod({ spec: { containers: [{ name: 'a' }] } }), '')).toBe('a');
  expect(containerOf(two, 'i')).toBe('i');
  expect(() => containerOf(two, '')).toThrow('a container name must be specified for pod p, choose one of: [i a b]');
  expect(() => containerOf(two, 'z')).toThrow('container z is not valid for pod p');
});

test('kubelet addresses by preference, proxy names and reachable addresses', () => {
  const node = {
    metadata: { name: 'n' },
    status: {
      addresses: [
        { type: 'InternalIP', address: '192.0.2.1' },
        { type: 'Hostname', address: 'n' },
      ],
    },
  };
  expect(kubeletAddress(node, ['InternalIP', 'Hostname'])).toEqual({ host: '192.0.2.1', port: 10250 });
  expect(() => kubeletAddress(node, ['ExternalIP'])).toThrow(
    'no preferred addresses found; known addresses: [{InternalIP 192.0.2.1} {Hostname n}]',
  );
  expect(parseProxyName('https:web:443')).toEqual({ scheme: 'https', name: 'web', port: '443' });
  expect(parseProxyName('ftp:web:1')).toBeUndefined();
  expect(['10.0.0.1', '127.0.0.1', '169.254.169.254', '::1', 'x'].map(isElsewhere)).toEqual([true, false, false, false, false]);
});
