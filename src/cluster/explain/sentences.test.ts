import { describe, expect, it } from 'vitest';
import type { Deployment } from '#api/apps/v1';
import type { Node, PersistentVolumeClaim, Pod, Service } from '#api/core/v1';
import type { Ingress } from '#api/networking/v1';
import type { StorageClass } from '#api/storage/v1';
import type { Refusal } from '#apiserver';
import { deletionSentences } from './deletion.ts';
import { nodeSentences } from './nodes.ts';
import { podSentences } from './pods.ts';
import { accountUser, refusedSentences, rightsSentences } from './refused.ts';
import { ingressSentences, serviceSentences } from './services.ts';
import { claimSentences } from './storage.ts';
import { explanationText } from './text.ts';
import { deploymentSentences } from './workloads.ts';

const nowMs = Date.parse('2026-01-01T00:10:00Z');
const pod = (name: string, labels: Record<string, string>, status: Pod['status'], spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: { name, namespace: 'default', labels },
  spec: { nodeName: 'node-1', containers: [{ name: 'a', image: 'x', ports: [{ name: 'web', containerPort: 8080 }] }], ...spec },
  status,
});
const running = (ready: boolean): Pod['status'] => ({
  phase: 'Running',
  conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
  containerStatuses: [{ name: 'a', image: 'x', imageID: '', ready, restartCount: 0, state: { running: {} } }],
});
const waiting = (reason: string, message: string): Pod['status'] => ({
  phase: 'Pending',
  containerStatuses: [
    {
      ...{ name: 'a', image: 'x', imageID: '', ready: false, restartCount: 4 },
      state: { waiting: { reason, message } },
      lastState: { terminated: { exitCode: 127, reason: 'Error' } },
    },
  ],
});
const service = (spec: Service['spec']): Service => ({ metadata: { name: 'web', namespace: 'default' }, spec });

describe('what is said of pods', () => {
  it.each<[string, Pod, string]>([
    [
      'a command that is not there',
      pod('p', {}, waiting('CrashLoopBackOff', 'back-off')),
      'container a ends again and again (4 restarts), last with exit code 127 (the command was not found); what it said: kubectl logs --previous -c a',
    ],
    [
      'an image that is not there',
      pod('p', {}, waiting('ImagePullBackOff', 'not found')),
      'container a has no image: ImagePullBackOff: not found',
    ],
    [
      'a missing Secret',
      pod('p', {}, waiting('CreateContainerConfigError', 'secret "s" not found')),
      'container a cannot be started: CreateContainerConfigError: secret "s" not found',
    ],
    ['no readiness', pod('p', {}, running(false)), 'container a runs, and its kubelet does not call it ready yet'],
    [
      'gates',
      pod('p', {}, { phase: 'Pending' }, { nodeName: undefined, schedulingGates: [{ name: 'example.com/hold' }] } as Partial<
        Pod['spec']
      >),
      'is held back by scheduling gates: example.com/hold; whoever put them there takes them away',
    ],
    [
      'a scheduler that does not run',
      pod('p', {}, { phase: 'Pending' }, { nodeName: undefined, schedulerName: 'mine' } as Partial<Pod['spec']>),
      'has no node: no scheduler has looked at it yet (it asks for "mine")',
    ],
    [
      'eviction',
      pod('p', {}, { phase: 'Failed', reason: 'Evicted', message: 'low on memory' }),
      'has failed: Evicted: low on memory',
    ],
  ])('%s', (_, given, sentence) => {
    expect(podSentences(given)).toContain(sentence);
  });
  it('is nothing for one that is well, or has ended well', () => {
    expect(podSentences(pod('p', {}, running(true)))).toEqual([]);
    expect(podSentences(pod('p', {}, { phase: 'Succeeded' }))).toEqual([]);
  });
});

describe('why a Service has no endpoints', () => {
  const selecting = (labels: Record<string, string>, targetPort: number | string = 8080): Service =>
    service({ selector: labels, ports: [{ port: 80, targetPort }] });
  const other = {
    ...pod('far', { app: 'web' }, running(true)),
    metadata: { name: 'far', namespace: 'other', labels: { app: 'web' } },
  };

  it('says which labels no pod has, and which come near', () => {
    const said = serviceSentences(selecting({ app: 'web' }), {
      pods: [pod('p', { app: 'wep', tier: 'x' }, running(true)), other],
      slices: [],
    });
    expect(said).toEqual([
      'has no endpoints: no pod of namespace default has the labels app=web',
      'pods there with other values: p (app=wep)',
      'pods of other namespaces have them, and do not count: other/far',
    ]);
  });
  it('says which pods are not ready, and why', () => {
    expect(serviceSentences(selecting({ app: 'web' }), { pods: [pod('p', { app: 'web' }, running(false))], slices: [] })).toEqual(
      [
        'selects 1 pod, of which 0 are ready',
        'pods that are not ready get no traffic:',
        '  pod p: container a runs, and its kubelet does not call it ready yet',
      ],
    );
  });
  it('says which ports lead nowhere', () => {
    const pods = [pod('p', { app: 'web' }, running(true))];
    expect(serviceSentences(selecting({ app: 'web' }, 'http'), { pods, slices: [] })[1]).toBe(
      'port 80 leads to the port named "http", which no container has of p',
    );
    expect(serviceSentences(selecting({ app: 'web' }, 80), { pods, slices: [] })[1]).toBe(
      'port 80 leads to 80, and its pods name other ports: 8080; does something listen on 80?',
    );
    expect(serviceSentences(selecting({ app: 'web' }, 'web'), { pods, slices: [] })).toHaveLength(1);
  });
  it('knows those without pods', () => {
    expect(
      serviceSentences(service({ type: 'ExternalName', externalName: 'example.org' }), { pods: [], slices: [] })[0],
    ).toContain('example.org');
    expect(serviceSentences(service({ ports: [{ port: 80 }] }), { pods: [], slices: [] })[0]).toContain('has no selector');
    expect(
      serviceSentences({ ...service({ type: 'LoadBalancer', ports: [{ port: 80 }] }) }, { pods: [], slices: [] })[1],
    ).toContain('cloud-controller-manager');
  });
});

it('says what a claim waits for', () => {
  const claim = (spec: PersistentVolumeClaim['spec']): PersistentVolumeClaim => ({
    metadata: { name: 'data' },
    spec,
    status: { phase: 'Pending' },
  });
  const standard: StorageClass = { metadata: { name: 'standard' }, provisioner: 'x', volumeBindingMode: 'WaitForFirstConsumer' };
  const world = { classes: [standard], pods: [], volume: undefined };
  expect(claimSentences(claim({ storageClassName: 'fast' }), world)).toEqual([
    'its StorageClass "fast" does not exist; there are: standard',
  ]);
  expect(claimSentences(claim({}), world)).toEqual(['names no StorageClass, and none is the default; there are: standard']);
  expect(claimSentences(claim({ storageClassName: 'standard' }), world)[0]).toMatch(/^no pod uses it/);
  const user = pod('p', {}, { phase: 'Pending' }, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] });
  expect(claimSentences(claim({ storageClassName: 'standard' }), { ...world, pods: [user] })[0]).toContain('pod p');
});

it('says what keeps a deleted object', () => {
  const metadata = {
    name: 'x',
    deletionTimestamp: '2026-01-01T00:05:00Z',
    finalizers: ['kubernetes.io/pvc-protection', 'example.com/hold'],
  };
  expect(deletionSentences({ kind: 'PersistentVolumeClaim', metadata }, ['pod p'], nowMs)).toEqual([
    'is being deleted: asked for 5m ago',
    'waits for finalizer kubernetes.io/pvc-protection: no pod may use the claim any more',
    'waits for finalizer example.com/hold: whoever put it there takes it out of metadata.finalizers when their work is done',
    'kept by pod p',
  ]);
  expect(deletionSentences({ kind: 'ConfigMap', metadata: { name: 'x' } }, [], nowMs)).toEqual([]);
});

it('says why nobody answers for an Ingress', () => {
  const ingress: Ingress = {
    metadata: { name: 'i', namespace: 'default' },
    spec: {
      rules: [
        { http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'gone', port: { number: 80 } } } }] } },
      ],
    },
  };
  expect(ingressSentences(ingress, { classes: [], services: [] })).toEqual([
    'names no class, and none is the default: no ingress controller is installed, and this cluster brings none',
    'leads to the Service gone, which does not exist',
    'has no address yet: an ingress controller writes it into its status',
  ]);
});

it('says how far a Deployment is, and what a quota refused', () => {
  const message = 'pods "web-1" is forbidden: exceeded quota: q';
  const deployment: Deployment = {
    metadata: { name: 'web' },
    spec: { replicas: 3, selector: {}, template: {} },
    status: {
      availableReplicas: 1,
      updatedReplicas: 1,
      conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }],
    },
  };
  expect(deploymentSentences(deployment, [], [], nowMs)).toEqual([
    '1 of 3 pods available, 1 of the newest template',
    `ReplicaFailure is True: FailedCreate: ${message}`,
  ]);
});

it('says why a node takes no pods', () => {
  const node: Node = {
    metadata: { name: 'n' },
    spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
    status: {
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure' },
      ],
    },
  };
  expect(nodeSentences(node, nowMs)).toEqual([
    'DiskPressure is True: KubeletHasDiskPressure',
    'is cordoned: it takes no new pods',
    'taint node.kubernetes.io/unschedulable:NoSchedule (it is cordoned: kubectl uncordon)',
  ]);
});

describe('why a request was refused', () => {
  const refusal: Refusal = {
    ...{ user: 'alice', groups: [], verb: 'list', path: '', code: 403, unauthorized: true, times: 2, atMs: nowMs - 5_000 },
    target: { group: 'apps', version: 'v1', resource: 'deployments', subresource: '', namespace: 'shop', name: '' },
    message: 'deployments.apps is forbidden: User "alice" cannot list resource "deployments"',
  };
  const said = (given: Partial<Refusal>): string[] => refusedSentences([{ ...refusal, ...given }], { nowMs, withUser: true });

  it('says what would allow it', () => {
    expect(said({})).toEqual([
      `alice was refused 5s ago, 2 times (403): ${refusal.message}`,
      '  would be allowed by: kubectl create role NAME -n shop --verb=list --resource=deployments.apps && kubectl create rolebinding NAME -n shop --role=NAME --user=alice',
    ]);
  });
  it('quotes what somebody has put into names', () => {
    expect(said({ user: "eve';$(rm)" })[1]).toContain(`--user='eve'\\'';$(rm)'`);
  });
  it('has no remedy for what admission refuses', () => {
    expect(said({ unauthorized: false, message: 'exceeded quota' })).toHaveLength(1);
  });
  it('knows the roles of service accounts, by their groups, too', () => {
    const binding = { metadata: { name: 'b', namespace: 'shop' }, roleRef: { apiGroup: '', kind: 'Role', name: 'reader' } };
    const group = { ...binding, subjects: [{ kind: 'Group', name: 'system:serviceaccounts:shop' }] };
    const own = { ...binding, subjects: [{ kind: 'ServiceAccount', name: 'bot' }] };
    for (const bindings of [[group], [own]])
      expect(rightsSentences(accountUser('shop', 'bot'), { bindings, clusterBindings: [] })[0]).toContain(
        'Role reader in shop (b)',
      );
    expect(rightsSentences(accountUser('other', 'bot'), { bindings: [group, own], clusterBindings: [] })[0]).toMatch(
      /^no RoleBinding/,
    );
  });
});

it('keeps what others wrote from moving the terminal, or beginning a line', () => {
  const text = explanationText(
    [{ object: 'Pod a', state: ['is \u001b[2Jbad\nPod b'], decisions: [], warnings: [], refused: [] }],
    nowMs,
  );
  expect(text).toBe('Pod a\n  is  [2Jbad Pod b');
});
