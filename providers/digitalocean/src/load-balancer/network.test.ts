import type { Node } from 'sagong/cloud-provider';
import { describe, expect, it } from 'vitest';
import { nodeWith, serviceWith } from '../../test-server/world.ts';
import type { LoadBalancerNetwork, LoadBalancerType } from '../api/types.ts';
import { annotations } from '../annotations.ts';
import { backendsOf, checkBackends, ConfigurationError, networkStackOf, shownNames } from './network.ts';

const four = nodeWith('four', { '10.0.0.1': 'InternalIP', '192.0.2.1': 'ExternalIP' });
const dual = nodeWith('dual', { '10.0.0.2': 'InternalIP', '192.0.2.2': 'ExternalIP', '2001:db8::2': 'ExternalIP' });
const six = nodeWith('six', { '10.0.0.3': 'InternalIP', '2001:db8::3': 'ExternalIP' });
const hidden = nodeWith('hidden', { '10.0.0.4': 'InternalIP' });

const names = (nodes: readonly Node[]): string[] => nodes.map(({ metadata }) => metadata.name ?? '');

describe('backends', () => {
  it.each<[LoadBalancerType, LoadBalancerNetwork, string[], string[], string[]]>([
    ['REGIONAL_NETWORK', 'EXTERNAL', ['four', 'dual'], ['four'], ['dual']],
    ['REGIONAL', 'EXTERNAL', ['four', 'dual', 'hidden'], ['four', 'hidden'], ['dual']],
    ['REGIONAL_NETWORK', 'INTERNAL', ['four', 'dual', 'six', 'hidden'], [], []],
  ])('of %s %s', (type, network, eligible, single, both) => {
    const backends = backendsOf([four, dual, six, hidden], type, network);
    expect(names(backends.eligible)).toEqual(eligible);
    expect(names(backends.singleStack)).toEqual(single);
    expect(names(backends.dualStack)).toEqual(both);
  });
  it('are refused when none of those given can be used, and only then', () => {
    const check =
      (nodes: Node[], type: LoadBalancerType = 'REGIONAL_NETWORK') =>
      () =>
        checkBackends(nodes, backendsOf(nodes, type, 'EXTERNAL'), type, 'EXTERNAL');
    expect(check([hidden])).toThrow(ConfigurationError);
    expect(check([hidden])).toThrow('require at least one node with a public IPv4 address');
    expect(check([six])).toThrow(new Error('no ready nodes available for load balancer'));
    expect(check([hidden, four])).not.toThrow();
    expect(check([hidden], 'REGIONAL')).not.toThrow();
    expect(check([])).not.toThrow();
  });
});

describe('the network stack', () => {
  const stack = (nodes: Node[], type: LoadBalancerType, network: LoadBalancerNetwork, annotated?: string, current?: string) =>
    networkStackOf(
      serviceWith(annotated ? { [annotations.networkStack]: annotated } : {}),
      type,
      network,
      backendsOf(nodes, type, network),
      current,
    );
  it.each<[string, Node[], LoadBalancerType, LoadBalancerNetwork, string | undefined, string]>([
    ['all nodes have both', [dual], 'REGIONAL_NETWORK', 'EXTERNAL', undefined, 'DUALSTACK'],
    ['one has IPv4 only', [dual, four], 'REGIONAL_NETWORK', 'EXTERNAL', undefined, 'IPV4'],
    ['one of IPv6 only is left out', [dual, six], 'REGIONAL_NETWORK', 'EXTERNAL', undefined, 'DUALSTACK'],
    ['no node', [], 'REGIONAL_NETWORK', 'EXTERNAL', undefined, 'IPV4'],
    ['it terminates connections', [four], 'REGIONAL', 'EXTERNAL', undefined, 'DUALSTACK'],
    ['it is internal', [dual], 'REGIONAL', 'INTERNAL', undefined, 'IPV4'],
    ['the annotation says so', [dual], 'REGIONAL', 'EXTERNAL', 'IPV4', 'IPV4'],
  ])('when %s', (_name, nodes, type, network, annotated, expected) => {
    expect(stack(nodes, type, network, annotated)).toBe(expected);
  });
  it('of one that has lost all its nodes stays', () => {
    expect(stack([], 'REGIONAL_NETWORK', 'EXTERNAL', undefined, 'DUALSTACK')).toBe('DUALSTACK');
    expect(stack([four], 'REGIONAL_NETWORK', 'EXTERNAL', undefined, 'DUALSTACK')).toBe('IPV4');
  });
  it('refuses both where it cannot be, as something a person must put right', () => {
    expect(() => stack([dual], 'REGIONAL', 'INTERNAL', 'DUALSTACK')).toThrow(ConfigurationError);
    expect(() => stack([dual, four], 'REGIONAL_NETWORK', 'EXTERNAL', 'DUALSTACK')).toThrow(
      'network stack configuration error: dual-stack networking requested but 1 nodes lack IPv6 addresses: four.',
    );
  });
  it('names three nodes and counts the others', () => {
    expect(shownNames(['e', 'b', 'd', 'a', 'c'])).toBe('a, b, c [+2 more]');
    expect(shownNames(['b', 'a'])).toBe('a, b');
  });
});
