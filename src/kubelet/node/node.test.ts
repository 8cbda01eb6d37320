import { describe, expect, it } from 'vitest';
import type { Node, NodeAddress, Pod } from '#api/core/v1';
import { refusalOf } from './admission.ts';
import { parseCloudProvider, parseNodeIPs } from './node-ip.ts';
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
  ownIPs: ['10.0.0.9'],
  cloudProvider: '',
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

describe('flags', () => {
  it.each<[string, string[] | string]>([
    ['', []],
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.1, fd00::1', ['10.0.0.1', 'fd00::1']],
    ['junk,10.0.0.1', ['10.0.0.1']],
    ['::', ['::']],
    ['10.0.0.1,10.0.0.2', 'must contain either a single IP or a dual-stack pair of IPs'],
    ['0.0.0.0,fd00::1', "dual-stack node IP cannot include '0.0.0.0' or '::'"],
  ])('--node-ip=%s', (text, expected) => {
    if (typeof expected === 'string') expect(() => parseNodeIPs(text)).toThrow(`bad --node-ip "${text}": ${expected}`);
    else expect(parseNodeIPs(text)).toEqual(expected);
  });
  it('knows no provider but external', () => {
    expect(['', 'external'].map(parseCloudProvider)).toEqual(['', 'external']);
    expect(() => parseCloudProvider('aws')).toThrow(
      'cloud provider "aws" was specified, but built-in cloud providers are disabled. Please set --cloud-provider=external',
    );
  });
});

describe('the node', () => {
  it('registers with labels, capacity and what is left for pods', () => {
    const { node } = initialNode(facts, registration, 0);
    expect(node.metadata.labels).toMatchObject({ zone: 'a', 'kubernetes.io/hostname': 'n', 'kubernetes.io/os': 'linux' });
    expect(node.status).toMatchObject({ capacity: { cpu: '2', memory: '1Gi', pods: '3' }, allocatable: { memory: '924Mi' } });
  });
  it('tells its first conditions by events, but not yet whether it is ready', () => {
    const tight = { ...facts, pressure: { memory: false, disk: true, pid: false } };
    const reasons = (given: NodeFacts) => initialNode(given, registration, 0).events.map(({ reason }) => reason);
    expect(reasons(facts)).toEqual(['NodeHasSufficientMemory', 'NodeHasNoDiskPressure', 'NodeHasSufficientPID']);
    expect(reasons(tight)).toEqual(['NodeHasSufficientMemory', 'NodeHasDiskPressure', 'NodeHasSufficientPID']);
  });
  it('waits for its cloud with a taint and a hint of its address', () => {
    const external = { ...facts, cloudProvider: 'external' } as const;
    const { node } = initialNode(external, { ...registration, providerID: 'fake://i-1', routesFromCloud: true }, 0);
    expect(node.spec?.providerID).toBe('fake://i-1');
    expect(node.status?.conditions?.[0]).toEqual({
      type: 'NetworkUnavailable',
      status: 'True',
      reason: 'NoRouteCreated',
      message: 'Node created without a route',
      lastTransitionTime: '1970-01-01T00:00:00Z',
    });
    expect(node.spec?.taints).toEqual([
      { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
    ]);
    expect(node.metadata.annotations?.['alpha.kubernetes.io/provided-node-ip']).toBe('10.0.0.1');
  });
  const hostname = { type: 'Hostname', address: 'n' };
  const internal = (address: string) => ({ type: 'InternalIP', address });
  it.each<[NodeFacts['cloudProvider'], string[], string[] | undefined, NodeAddress[]]>([
    ['', [], undefined, [internal('10.0.0.9'), hostname]],
    ['', ['0.0.0.0'], undefined, [internal('10.0.0.9'), hostname]],
    ['', ['10.0.0.1'], undefined, [internal('10.0.0.1'), hostname]],
    ['external', [], undefined, [hostname]],
    ['external', ['::'], undefined, [internal('10.0.0.9'), hostname]],
    ['external', ['10.0.0.1', 'fd00::1'], ['10.0.0.1,fd00::1'], [internal('10.0.0.1'), internal('fd00::1'), hostname]],
  ])('with cloud provider "%s" and --node-ip %j', (cloudProvider, nodeIPs, hint, addresses) => {
    const { metadata, status } = initialNode({ ...facts, cloudProvider, nodeIPs }, registration, 0).node;
    expect(metadata.annotations?.['alpha.kubernetes.io/provided-node-ip']).toBe(hint?.[0]);
    expect(status?.addresses).toEqual(addresses);
  });
  it('keeps the addresses that its cloud wrote', () => {
    const addresses = [internal('172.16.0.1'), hostname];
    const node: Node = { metadata: { name: 'n' }, status: { addresses } };
    expect(withStatus(node, { ...facts, cloudProvider: 'external' }, 0).node.status?.addresses).toEqual(addresses);
    expect(withStatus(node, facts, 0).node.status?.addresses).toEqual([internal('10.0.0.1'), hostname]);
  });
  it('reports only heartbeats while nothing changes, and tells when it becomes unready', () => {
    const { node } = initialNode(facts, registration, 0);
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
  const node: Node = { ...initialNode(facts, registration, 0).node, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } };
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
