import { describe, expect, it } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import { refusalOf } from './admission.ts';
import { comparable, initialNode, type NodeFacts, withStatus } from './status.ts';

const facts: NodeFacts = {
  name: 'n',
  hostname: 'n',
  machine: {
    machineId: 'm',
    systemUuid: 's',
    bootId: 'b',
    kernelVersion: 'k',
    osImage: 'o',
    operatingSystem: 'linux',
    architecture: 'amd64',
    cpuMillis: 2000,
    memoryBytes: 2 ** 30,
  },
  nodeIPs: ['10.0.0.1'],
  externalCloudProvider: false,
  podsMax: 3,
  kubeletPort: 10250,
  kubeletVersion: 'v1.36.2',
  runtimeVersion: 'containerd://1.6.20',
  images: [],
  reserved: { memory: '100Mi' },
  errors: [],
  pressure: { memory: false, disk: false, pid: false },
};
const registration = { labels: { zone: 'a' }, taints: [] };

describe('the node', () => {
  it('registers with labels, capacity and what is left for pods', () => {
    const node = initialNode(facts, registration, 0);
    expect(node.metadata.labels).toMatchObject({ zone: 'a', 'kubernetes.io/hostname': 'n', 'kubernetes.io/os': 'linux' });
    expect(node.status).toMatchObject({ capacity: { cpu: '2', memory: '1Gi', pods: '3' }, allocatable: { memory: '924Mi' } });
  });
  it('waits for its cloud with a taint and a hint of its address', () => {
    const node = initialNode({ ...facts, externalCloudProvider: true }, registration, 0);
    expect(node.spec?.taints).toEqual([
      { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
    ]);
    expect(node.metadata.annotations?.['alpha.kubernetes.io/provided-node-ip']).toBe('10.0.0.1');
  });
  it('reports only heartbeats while nothing changes, and tells when it becomes unready', () => {
    const node = initialNode(facts, registration, 0);
    const later = withStatus(node, facts, 60_000);
    expect(later.events).toEqual([]);
    expect(comparable(later.node.status)).toEqual(comparable(node.status));
    const broken = withStatus(node, { ...facts, errors: ['PLEG is not healthy'] }, 60_000);
    expect(broken.events).toEqual([{ reason: 'NodeNotReady' }]);
    expect(broken.node.status?.conditions?.at(-1)).toMatchObject({
      reason: 'KubeletNotReady',
      message: 'PLEG is not healthy',
      lastTransitionTime: '1970-01-01T00:01:00Z',
    });
  });
});

describe('admission', () => {
  const node: Node = { ...initialNode(facts, registration, 0), spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } };
  const podOf = (spec: Partial<Pod['spec']>): Pod => ({
    metadata: { name: 'p' },
    spec: { tolerations: [{ key: 'k', operator: 'Exists' }], containers: [{ name: 'c' }], ...spec },
  });
  const withPort = podOf({ containers: [{ name: 'c', ports: [{ containerPort: 1, hostPort: 80 }] }] });
  it.each([
    ['fits', podOf({}), [], undefined],
    ['too many pods', podOf({}), [podOf({}), podOf({}), podOf({})], 'OutOfpods'],
    ['memory', podOf({ containers: [{ name: 'c', resources: { requests: { memory: '1Gi' } } }] }), [], 'OutOfmemory'],
    [
      'an extended resource the node does not have is not its business',
      podOf({ containers: [{ name: 'c', resources: { requests: { 'x.y/gpu': '1' } } }] }),
      [],
      undefined,
    ],
    ['selector', podOf({ nodeSelector: { zone: 'b' } }), [], 'NodeAffinity'],
    ['name', podOf({ nodeName: 'other' }), [], 'NodeName'],
    ['port', withPort, [withPort], 'NodePorts'],
    ['taint', podOf({ tolerations: [] }), [], 'TaintToleration'],
    ['os', podOf({ os: { name: 'windows' } }), [], 'PodOSNotSupported'],
  ] as const)('%s', (_, pod, others, reason) => {
    expect(refusalOf(pod, node, others)?.reason).toBe(reason);
  });
});
