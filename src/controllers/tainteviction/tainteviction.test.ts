import { describe, expect, it } from 'vitest';
import type { Node, Pod, Taint, Toleration } from '#api/core/v1';
import { reconcileEviction, toleratedMs } from './index.ts';

const unreachable: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const other: Taint = { key: 'other', effect: 'NoExecute' };
const tolerate = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

describe('toleration', () => {
  it.each<[string, Taint[], Toleration[], number | undefined]>([
    ['nothing tolerated', [unreachable], [], 0],
    ['for a while', [unreachable], [tolerate(unreachable.key, 300)], 300_000],
    ['forever', [unreachable], [tolerate(unreachable.key)], undefined],
    ['the shortest counts', [unreachable, other], [tolerate(unreachable.key, 300), tolerate('other', 20)], 20_000],
    ['one of two is enough to go', [unreachable, other], [tolerate(unreachable.key)], 0],
    ['less than nothing', [unreachable], [tolerate(unreachable.key, -1)], 0],
  ])('%s', (_name, taints, tolerations, expected) => {
    expect(toleratedMs(taints, tolerations)).toBe(expected);
  });
});

describe('eviction', () => {
  const pod: Pod = {
    metadata: { name: 'p', namespace: 'ns', uid: 'u' },
    spec: { containers: [], nodeName: 'n', tolerations: [tolerate(unreachable.key, 300)] },
  };
  const down: Node = { metadata: { name: 'n' }, spec: { taints: [unreachable] } };
  const well: Node = { metadata: { name: 'n' } };
  const ops = (since: number | undefined, node: Node, now: number) => {
    const { effects, remember, requeueAfterMs } = reconcileEviction({ pod, node, since }, now);
    return { did: effects.map((effect) => (effect.op === 'event' ? effect.message : effect.op)), remember, requeueAfterMs };
  };

  it('waits, goes when the time is over, and is called off when the node is well', () => {
    expect(ops(undefined, down, 1_000)).toEqual({ did: [], remember: 1_000, requeueAfterMs: 300_000 });
    expect(ops(1_000, down, 201_000)).toEqual({ did: [], remember: 1_000, requeueAfterMs: 100_000 });
    expect(ops(1_000, down, 301_000).did).toEqual(['Marking for deletion Pod ns/p', 'patch', 'delete']);
    expect(ops(1_000, well, 201_000)).toEqual({ did: ['Cancelling deletion of Pod ns/p'] });
    expect(ops(undefined, well, 201_000)).toEqual({ did: [] });
  });
});
