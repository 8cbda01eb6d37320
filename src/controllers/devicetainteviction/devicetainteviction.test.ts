import { describe, expect, it } from 'vitest';
import type { Pod } from '#api/core/v1';
import type { DeviceTaint, DeviceToleration } from '#api/resource/v1';
import { reconcileDeviceEviction } from './index.ts';

const start = Date.parse('2026-01-01T00:00:00Z');
const sick: DeviceTaint = { key: 'example.com/sick', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' };
const pod: Pod = { metadata: { name: 'p', namespace: 'ns', uid: 'u' }, spec: { containers: [], nodeName: 'n' } };
const tolerate = (tolerationSeconds?: number): DeviceToleration => ({
  key: sick.key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});

function decide(taints: DeviceTaint[], tolerations: DeviceToleration[], { afterMs = 0, isWaiting = false, of = pod } = {}) {
  const result = { request: 'r', driver: 'd', pool: 'pool', device: 'x', tolerations };
  const { effects, requeueAfterMs } = reconcileDeviceEviction(
    { pod: of, devices: [{ result, taints }], isWaiting },
    start + afterMs,
  );
  return { did: effects.map((effect) => (effect.op === 'event' ? effect.message : effect.op)), requeueAfterMs };
}
const goes = { did: ['Marking for deletion', 'patch', 'delete'], requeueAfterMs: undefined };
const stays = { did: [], requeueAfterMs: undefined };

describe('a pod with a device that gets a taint', () => {
  it('goes at once, or when the shortest of its tolerations is over', () => {
    expect(decide([sick], [])).toEqual(goes);
    expect(decide([sick], [tolerate(300), tolerate(20)])).toEqual({ did: [], requeueAfterMs: 20_000 });
    expect(decide([sick], [tolerate(300), tolerate(20)], { afterMs: 20_000 })).toEqual(goes);
    expect(decide([sick], [tolerate(-1)])).toEqual(goes);
  });
  it('stays where it tolerates the taint for ever, or the taint sends nobody away', () => {
    expect(decide([sick], [tolerate()])).toEqual(stays);
    expect(decide([{ ...sick, effect: 'NoSchedule' }], [])).toEqual(stays);
    expect(decide([], [])).toEqual(stays);
  });
  it('is told that it may stay when the taint goes', () => {
    expect(decide([], [], { isWaiting: true }).did).toEqual(['Cancelling deletion']);
  });
  it('is left alone without a node, and while it is being deleted', () => {
    expect(decide([sick], [], { of: { ...pod, spec: { containers: [] } } })).toEqual(stays);
    expect(
      decide([sick], [], { of: { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } } }),
    ).toEqual(stays);
  });
});
