import { describe, expect, it } from 'vitest';
import type { Node, NodeAddress } from '#api/core/v1';
import { parseCIDR } from '#apimachinery/validation';
import { FakeCloud, fakeProvider } from '#cloud-provider/fake';
import type { PolicyRule } from '#controller-runtime';
import { createMetrics } from '#component-base';
import { selectControllers } from '#controller-runtime/manager';
import { type Clock, seededRng } from '#utils';
import { beyondDocumented, cloudControllers, cloudMetrics, defaultCloudControllersConfig, documentedRole } from './index.ts';
import { labelsFrom, labelsToReconcile } from './node/labels.ts';
import { addressesOf } from './node/addresses.ts';
import { parseClusterCidrs } from './route/index.ts';
import { isResponsible } from './route/plan.ts';

const clock: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
const entries = () =>
  cloudControllers(
    fakeProvider(new FakeCloud({ clock })),
    'fake',
    defaultCloudControllersConfig(),
    cloudMetrics(createMetrics()),
    {
      clock,
      rng: seededRng(1),
    },
  );

describe('rights', () => {
  const expand = (rules: readonly PolicyRule[]): string[] =>
    rules.flatMap(({ verbs, apiGroups = [], resources = [] }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}.${group}`))),
    );
  const documented = new Set(expand(documentedRole));
  const covered = (right: string): boolean => documented.has(right) || documented.has(right.replace(/^\S+/, '*'));

  it('are the documented ones, but for those listed with a reason', () => {
    const used = entries().flatMap((entry) => {
      const made = entry.make();
      return 'rights' in made ? expand(made.rights) : [];
    });
    const beyond = beyondDocumented.map(({ verb, resource, group }) => `${verb} ${resource}.${group}`);
    expect([...new Set(used)].filter((right) => !covered(right)).sort()).toEqual([...beyond].sort());
    expect(beyondDocumented.every(({ reason }) => reason.length > 20)).toBe(true);
  });
});

describe('--controllers', () => {
  const chosen = (...wanted: string[]) => selectControllers(entries(), wanted).map(({ metric }) => metric);
  it.each<[string[], string[]]>([
    [['*'], ['cloud-node', 'cloud-node-lifecycle', 'service', 'route']],
    [
      ['*', '-route'],
      ['cloud-node', 'cloud-node-lifecycle', 'service'],
    ],
    [
      ['service-lb-controller', 'cloud-node'],
      ['cloud-node', 'service'],
    ],
    [
      ['-service', 'service', '*'],
      ['cloud-node', 'cloud-node-lifecycle', 'route'],
    ],
  ])('%j', (wanted, expected) => expect(chosen(...wanted)).toEqual(expected));
  it('refuses unknown names', () => expect(() => chosen('-nonsense')).toThrow('"nonsense" is not in the list'));
});

describe('addresses of a node (KEP-3705)', () => {
  const internal = (address: string): NodeAddress => ({ type: 'InternalIP', address });
  const all = ['1.2.3.4', '5.6.7.8', 'abcd::1234', 'abcd::5678'].map(internal);
  const node = (ip: string | undefined): Node => ({
    metadata: { name: 'a', annotations: ip === undefined ? {} : { 'alpha.kubernetes.io/provided-node-ip': ip } },
  });
  it.each<[string | undefined, string[]]>([
    [undefined, all.map(({ address }) => address)],
    ['1.2.3.4', ['1.2.3.4']],
    ['abcd::5678', ['abcd::5678']],
    ['1.2.3.4,abcd::1234', ['1.2.3.4', 'abcd::1234']],
  ])('%s', (ip, expected) => expect(addressesOf(node(ip), all).map(({ address }) => address)).toEqual(expected));
  it('refuses one that the machine does not have', () => {
    expect(() => addressesOf(node('9.10.11.12'), all)).toThrow('matches ip: 9.10.11.12');
  });
  it('drops only addresses of the same type, and keeps the host name', () => {
    const external = { type: 'ExternalIP', address: '192.168.0.1' };
    const named: Node = { ...node('fd00::1'), status: { addresses: [{ type: 'Hostname', address: 'a' }] } };
    expect(addressesOf(named, [internal('fd00::1'), internal('10.0.0.1'), external])).toEqual([
      internal('fd00::1'),
      external,
      { type: 'Hostname', address: 'a' },
    ]);
  });
});

describe('labels of a node', () => {
  it('drops reserved ones and keeps existing ones', () => {
    const additionalLabels = {
      'foo.k8s.io/x': '1',
      'kubernetes.io/y': '1',
      'example.com/x': '1',
      kept: 'new',
      'notk8s.io/z': '1',
    };
    expect(labelsFrom({ nodeAddresses: [], zone: 'z', additionalLabels }, { kept: 'old' })).toEqual({
      kept: 'old',
      'failure-domain.beta.kubernetes.io/zone': 'z',
      'topology.kubernetes.io/zone': 'z',
      'example.com/x': '1',
      'notk8s.io/z': '1',
    });
  });
  it.each<[Record<string, string>, Record<string, string>]>([
    [{ 'topology.kubernetes.io/zone': 'a' }, {}],
    [
      { 'failure-domain.beta.kubernetes.io/zone': 'b', 'topology.kubernetes.io/zone': 'a' },
      { 'topology.kubernetes.io/zone': 'b' },
    ],
    [{ 'beta.kubernetes.io/instance-type': 't' }, { 'node.kubernetes.io/instance-type': 't' }],
  ])('%j', (labels, expected) => expect(labelsToReconcile(labels)).toEqual(expected));
});

describe('routes', () => {
  const clusters = parseClusterCidrs(['10.244.0.0/16', 'fd00:10::/32']);
  it.each<[string, boolean]>([
    ['10.244.3.0/24', true],
    ['10.0.0.0/8', false],
    ['10.244.0.0/8', false],
    ['192.168.0.0/16', false],
    ['fd00:10:1::/64', true],
    ['junk', false],
  ])('%s is ours: %s', (cidr, ours) => expect(isResponsible(clusters, cidr)).toBe(ours));
  it.each<[string[], string]>([
    [['10.0.0.0/8', '11.0.0.0/8'], 'not configured as dual stack'],
    [['10.0.0.0/8', 'fd00::/8', '12.0.0.0/8'], 'more than max allowed of 2'],
    [['junk'], 'failed to parse cidr value:"junk"'],
  ])('%j: %s', (cidrs, problem) => expect(() => parseClusterCidrs(cidrs)).toThrow(problem));
  it('reads prefixes', () => expect(parseCIDR('10.0.0.0/8')?.length).toBe(8));
});
