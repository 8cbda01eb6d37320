import { parseCIDR } from '#apimachinery/validation';
import { describe, expect, it } from 'vitest';
import { vpcCidr } from '../cloud/network.ts';
import { clusterNetworks, podCidrFor, widePodCidr } from './networks.ts';

const within = (cidr: string, other: string): boolean => {
  const [inner, outer] = [parseCIDR(cidr), parseCIDR(other)];
  if (!inner || !outer) throw new Error('no CIDR');
  const shift = BigInt(32 - outer.length);
  return inner.length >= outer.length && inner.network.value >> shift === outer.network.value >> shift;
};

describe('addresses of pods', () => {
  it.each<[number, string | undefined, string]>([
    [1, undefined, '10.244.0.0/16'],
    [250, undefined, '10.244.0.0/16'],
    [251, undefined, widePodCidr],
    [300, '10.244.0.0/16', widePodCidr],
    [1, widePodCidr, widePodCidr],
  ])('of %d nodes in a cluster of %s are %s', (nodes, before, expected) => {
    expect(podCidrFor(nodes, before)).toBe(expected);
  });
  it('stay right when a cluster grows, and meet nothing else', () => {
    expect(within(clusterNetworks.podCidr, widePodCidr)).toBe(true);
    for (const other of [vpcCidr, clusterNetworks.serviceCidr, '10.177.0.0/16', '198.18.0.0/15'])
      expect(within(other, widePodCidr) || within(widePodCidr, other)).toBe(false);
  });
});
