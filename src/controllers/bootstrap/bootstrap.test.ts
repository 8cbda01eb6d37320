import { describe, expect, it } from 'vitest';
import type { ConfigMap, Secret } from '#api/core/v1';
import { encodeBase64 } from '#apimachinery/schema';
import { secrets as secretsResource } from '#controller-runtime/platform';
import { cleanToken } from './cleaner.ts';
import { signClusterInfo } from './signer.ts';

const now = Date.parse('2026-05-01T00:00:00Z');
const encoded = (text: string): string => encodeBase64(new TextEncoder().encode(text));
const token = (data: Record<string, string> = {}, name = 'bootstrap-token-joshua'): Secret => ({
  metadata: { name, namespace: 'kube-system', uid: 'u-1' },
  type: 'bootstrap.kubernetes.io/token',
  data: Object.fromEntries(
    Object.entries({
      'token-id': 'joshua',
      'token-secret': 'my voice is my passcode',
      'usage-bootstrap-signing': 'true',
      ...data,
    }).map(([key, value]) => [key, encoded(value)]),
  ),
});
const content = 'Hello from the other side. I must have called a thousand times.';
const signature = 'eyJhbGciOiJIUzI1NiIsImtpZCI6Impvc2h1YSJ9..VShe2taLd-YTrmWuRkcL_8QTNDHYxQIEBsAYYiIj1_8';
const info = (more: Record<string, string> = {}): ConfigMap => ({
  metadata: { name: 'cluster-info', namespace: 'kube-public', resourceVersion: '5' },
  data: { kubeconfig: content, ...more },
});
const dataAfter = (configMap: ConfigMap | undefined, secrets: Secret[]): unknown =>
  signClusterInfo({ configMap, secrets }, now).effects.map(
    (effect) => effect.op === 'update' && (effect.object as ConfigMap).data,
  );

describe('the signer', () => {
  it.each<[string, ConfigMap | undefined, Secret[], unknown]>([
    ['signs', info(), [token()], [{ kubeconfig: content, 'jws-kubeconfig-joshua': signature }]],
    ['leaves alone what is signed', info({ 'jws-kubeconfig-joshua': signature }), [token()], []],
    ['mends', info({ 'jws-kubeconfig-joshua': 'x' }), [token()], [{ kubeconfig: content, 'jws-kubeconfig-joshua': signature }]],
    ['removes what no token signs', info({ 'jws-kubeconfig-gone00': 'x' }), [], [{ kubeconfig: content }]],
    ['does nothing without a ConfigMap', undefined, [token()], []],
    ['does nothing without a kubeconfig', { ...info(), data: { other: '' } }, [token()], []],
    ['skips an expired token', info(), [token({ expiration: '2026-04-30T23:59:59Z' })], []],
    ['skips one that may not sign', info(), [token({ 'usage-bootstrap-signing': 'false' })], []],
    ['skips one of another name', info(), [token({}, 'bootstrap-token-000000')], []],
    ['skips one without a secret', info(), [token({ 'token-secret': '' })], []],
  ])('%s', (_what, configMap, secrets, expected) => {
    expect(dataAfter(configMap, secrets)).toEqual(expected);
  });
  it('looks again when a token expires', () => {
    const plan = signClusterInfo({ configMap: info(), secrets: [token({ expiration: '2026-05-01T00:01:00Z' })] }, now);
    expect(plan.requeueAfterMs).toBe(60_000);
  });
});

describe('the cleaner', () => {
  const ref = { resource: secretsResource, namespace: 'kube-system', name: 'bootstrap-token-joshua' };
  it.each<[string, Secret | undefined, number, number | undefined]>([
    ['deletes an expired token', token({ expiration: '2026-05-01T00:00:00Z' }), 1, undefined],
    ['deletes one with a date that is none', token({ expiration: 'tomorrow' }), 1, undefined],
    ['waits for one that has not', token({ expiration: '2026-05-01T00:00:30Z' }), 0, 30_000],
    ['keeps one without end', token(), 0, undefined],
    ['leaves other secrets alone', { ...token({ expiration: '2020-01-01T00:00:00Z' }), type: 'Opaque' }, 0, undefined],
    ['has nothing to do for one that is gone', undefined, 0, undefined],
  ])('%s', (_what, secret, deletions, requeueAfterMs) => {
    const plan = cleanToken({ ref, secret }, now);
    expect(plan.effects).toHaveLength(deletions);
    expect(plan.requeueAfterMs).toBe(requeueAfterMs);
    for (const effect of plan.effects) expect(effect).toEqual({ op: 'delete', ref, options: { preconditions: { uid: 'u-1' } } });
  });
});
