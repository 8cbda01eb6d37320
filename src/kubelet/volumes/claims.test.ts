import { describe, expect, it } from 'vitest';
import type { PersistentVolume, PersistentVolumeClaim } from '#api/core/v1';
import { createClient } from '#client';
import { FakeApi } from '../test-support/fake-api.ts';
import { ManualClock } from '../test-support/manual-clock.ts';
import { claimedVolume } from './claims.ts';

const claim = (phase: string, more: Partial<PersistentVolumeClaim> = {}): PersistentVolumeClaim => ({
  metadata: { name: 'data', namespace: 'shop', uid: 'c-1' },
  spec: { volumeName: 'pv-1' },
  status: { phase },
  ...more,
});
const volume = (claimRef: object | undefined = { uid: 'c-1' }): PersistentVolume => ({
  metadata: { name: 'pv-1' },
  spec: { claimRef },
});

function world(first?: PersistentVolumeClaim, pv?: PersistentVolume) {
  const api = new FakeApi();
  const clock = new ManualClock();
  if (first) api.put('persistentvolumeclaims', first);
  if (pv) api.put('persistentvolumes', pv);
  const outcome = { name: '', error: '' };
  claimedVolume({ client: createClient(api), clock }, 'shop', 'data').then(
    ({ volume: { metadata } }) => void (outcome.name = metadata.name ?? ''),
    (error: Error) => void (outcome.error = error.message),
  );
  return { api, clock, outcome };
}

describe('the volume of a claim', () => {
  it('is waited for in silence while the claim is being bound', async () => {
    const { api, clock, outcome } = world(claim('Pending'), volume());
    await clock.advance(150);
    expect(outcome).toEqual({ name: '', error: '' });
    api.put('persistentvolumeclaims', claim('Bound'));
    await clock.advance(60);
    expect(outcome).toEqual({ name: 'pv-1', error: '' });
  });
  const deleted = { name: 'data', namespace: 'shop', uid: 'c-1', deletionTimestamp: '2026-01-01T00:00:00Z' };
  it.each<[string, PersistentVolumeClaim | undefined, PersistentVolume | undefined, string]>([
    ['unbound', claim('Pending'), volume(), 'PVC is not bound'],
    ['without a volume', claim('Bound', { spec: {} }), volume(), 'PVC has empty pvc.Spec.VolumeName'],
    ['deleted', claim('Bound', { metadata: deleted }), volume(), 'PVC is being deleted'],
    ['absent', undefined, volume(), 'failed to fetch PVC from API server: '],
    ['of a lost volume', claim('Bound'), undefined, 'failed to fetch PV pv-1 from API server: '],
    [
      "with somebody else's volume",
      claim('Bound'),
      volume({ uid: 'c-2' }),
      'pv.Spec.ClaimRef.UID c-2 does not point to claim.UID c-1',
    ],
  ])('is an error after a moment: %s', async (_, given, pv, message) => {
    const { clock, outcome } = world(given, pv);
    await clock.advance(299);
    expect(outcome.error).toBe('');
    await clock.advance(1);
    expect(outcome.error).toContain('error processing PVC shop/data: ');
    expect(outcome.error).toContain(message);
  });
  it('serves while a protected claim is on its way out', async () => {
    const protectedClaim = claim('Bound', { metadata: { ...deleted, finalizers: ['kubernetes.io/pvc-protection'] } });
    const { clock, outcome } = world(protectedClaim, volume());
    await clock.advance(0);
    expect(outcome.name).toBe('pv-1');
  });
});
