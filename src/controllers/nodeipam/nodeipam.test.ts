import { describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import { defaultControllersConfig } from '../config.ts';
import { CidrSet } from './cidr-set.ts';
import { allocate } from './index.ts';

describe('CIDR set', () => {
  it.each<[string, number, string[]]>([
    ['10.0.0.0/22', 24, ['10.0.0.0/24', '10.0.1.0/24', '10.0.2.0/24', '10.0.3.0/24']],
    ['2001:db8::/62', 64, ['2001:db8::/64', '2001:db8:0:1::/64', '2001:db8:0:2::/64', '2001:db8:0:3::/64']],
    ['10.1.2.0/24', 24, ['10.1.2.0/24']],
  ])('%s in pieces of /%i', (cluster, mask, pieces) => {
    const set = new CidrSet(cluster, mask);
    expect(Array.from({ length: pieces.length }, () => set.allocate())).toEqual(pieces);
    expect(set.allocate()).toBeUndefined();
  });

  it('takes every piece that a CIDR touches', () => {
    const set = new CidrSet('10.0.0.0/22', 24);
    expect(set.occupy('10.0.1.64/26')).toBe(true);
    expect(set.occupy('192.168.0.0/16')).toBe(false);
    expect([set.allocate(), set.allocate(), set.allocate(), set.allocate()]).toEqual([
      '10.0.0.0/24',
      '10.0.2.0/24',
      '10.0.3.0/24',
      undefined,
    ]);
    const all = new CidrSet('10.0.0.0/22', 24);
    all.occupy('10.0.0.0/8');
    expect(all.allocate()).toBeUndefined();
  });

  it('comes back to freed pieces last', () => {
    const set = new CidrSet('10.0.0.0/22', 24, 2);
    expect([set.allocate(), set.allocate(), set.allocate()]).toEqual(['10.0.2.0/24', '10.0.3.0/24', '10.0.0.0/24']);
  });

  it('refuses what cannot be cut', () => {
    expect(() => new CidrSet('10.0.0.0/25', 24)).toThrow('mask size of cluster CIDR');
    expect(() => new CidrSet('2001:db8::/32', 64)).toThrow('the node CIDR size is too big');
  });
});

describe('allocation', () => {
  const config = { ...defaultControllersConfig, clusterCidrs: ['10.0.0.0/23', 'fd00::/63'], allocateNodeCidrs: true };
  const node = (name: string, podCIDRs?: string[]): Node => ({
    metadata: { name, uid: name },
    spec: podCIDRs ? { podCIDRs } : {},
  });

  it('gives every node a piece of each family, and says when none is left', () => {
    const nodes = [node('a', ['10.0.0.0/24', 'fd00::/64']), node('b'), node('c')];
    const { effects, remember } = allocate(config, { nodes, next: [] });
    expect(effects).toMatchObject([
      { op: 'parallel', effects: [{ body: { spec: { podCIDR: '10.0.1.0/24', podCIDRs: ['10.0.1.0/24', 'fd00:0:0:1::/64'] } } }] },
      { op: 'event', reason: 'CIDRNotAvailable', message: 'Node c status is now: CIDRNotAvailable' },
    ]);
    expect(remember).toEqual([0, 0]);
  });

  it.each(['0.0.0.0/0', '10.0.0.0/22', '10.0.0.0/8', '10.0.0.0/23', '10.0.0.0/24'])(
    'does not give %s to a node while an elder one has a part of it',
    (cidr) => {
      const one = { ...config, clusterCidrs: ['10.0.0.0/22'] };
      const at = (name: string, createdAt: string, podCIDR?: string): Node => ({
        metadata: { name, uid: name, creationTimestamp: createdAt },
        spec: podCIDR ? { podCIDR } : {},
      });
      const greedy = at('0-greedy', '2026-01-02T00:00:00Z', cidr);
      const waiting = at('new', '2026-01-03T00:00:00Z');
      const elder = at('elder', '2026-01-01T00:00:00Z', '10.0.0.0/24');
      expect(allocate(one, { nodes: [greedy, elder, waiting], next: [] }).effects).toMatchObject([
        { op: 'parallel', effects: [{ body: { spec: { podCIDR: '10.0.1.0/24' } } }] },
      ]);
    },
  );
  it('leaves to a node what no elder one has', () => {
    const one = { ...config, clusterCidrs: ['10.0.0.0/22'] };
    const nodes: Node[] = [
      { metadata: { name: 'own', uid: 'own' }, spec: { podCIDR: '10.0.0.0/23' } },
      { metadata: { name: 'new', uid: 'new' } },
    ];
    expect(allocate(one, { nodes, next: [] }).effects).toMatchObject([
      { op: 'parallel', effects: [{ body: { spec: { podCIDR: '10.0.2.0/24' } } }] },
    ]);
  });
});
