import { describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import type { Endpoint } from '#api/discovery/v1';
import { cpuRatios, zoneHints } from './topology.ts';

const node = (zone: string | undefined, cpu = '2', more: { labels?: Record<string, string>; ready?: string } = {}): Node => ({
  metadata: { name: `n-${zone}`, labels: { ...(zone && { 'topology.kubernetes.io/zone': zone }), ...more.labels } },
  status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: more.ready ?? 'True' }] },
});
const endpoints = (...zones: (string | undefined)[]): Endpoint[] =>
  zones.map((zone, index) => ({ addresses: [`10.0.0.${index}`], conditions: { ready: true }, ...(zone && { zone }) }));
const hintsOf = (all: Endpoint[], nodes: Node[]): string[] | string => {
  const given = zoneHints(all, cpuRatios(nodes));
  return 'disabled' in given ? given.disabled : all.map((endpoint) => given.zones.get(endpoint) ?? '');
};

describe('hints of topology mode Auto', () => {
  it('name the own zone where endpoints are spread as the CPU is', () => {
    expect(hintsOf(endpoints('a', 'b', 'c'), [node('a'), node('b'), node('c')])).toEqual(['a', 'b', 'c']);
  });
  it('move endpoints to zones that have too few, and always the same ones', () => {
    const all = endpoints('a', 'a', 'a', 'b');
    expect(hintsOf(all, [node('a'), node('b')])).toEqual(['b', 'a', 'a', 'b']);
    expect(hintsOf([...all].reverse(), [node('b'), node('a')])).toEqual(['b', 'a', 'a', 'b']);
  });
  it('are given for all or for none', () => {
    const two = [node('a'), node('b')];
    expect(hintsOf(endpoints('a'), two)).toBe('Insufficient number of endpoints (1 endpoints, 2 zones)');
    expect(hintsOf(endpoints('a', undefined), two)).toBe('One or more endpoints do not have a zone specified');
    expect(hintsOf(endpoints('a', 'b'), [node('a'), node(undefined)])).toMatch(/^Insufficient Node information/);
    expect(hintsOf(endpoints('a', 'b'), [node('a'), node('b', '0')])).toMatch(/^Insufficient Node information/);
    expect(hintsOf(endpoints('a', 'b'), [node('a')])).toMatch(/^Insufficient Node information/);
    expect(hintsOf(endpoints('a', 'b', 'c'), [node('a', '10'), node('b', '1'), node('c', '1')])).toMatch(/^Unable to allocate/);
  });
  it('count no node that is not ready, and no control plane', () => {
    const more = [
      node(undefined, '0', { ready: 'False' }),
      node('c', '9', { labels: { 'node-role.kubernetes.io/control-plane': '' } }),
    ];
    expect(hintsOf(endpoints('a', 'b'), [node('a'), node('b'), ...more])).toEqual(['a', 'b']);
  });
  it('leave out endpoints that are not ready', () => {
    const all = [...endpoints('a', 'b'), { addresses: ['10.0.0.9'], conditions: { ready: false }, zone: 'a' }];
    expect(hintsOf(all, [node('a'), node('b')])).toEqual(['a', 'b', '']);
  });
});
