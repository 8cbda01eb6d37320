import { expect, it } from 'vitest';
import type { KubeClient } from '#client';
import type { Clock } from '#utils';
import { DelegatedAuth } from './delegated-auth.ts';

let nowMs = 0;
const clock: Clock = {
  now: () => nowMs,
  monotonic: () => nowMs,
  setTimer: () => ({ cancel() {} }),
  sleep: () => Promise.resolve(),
};

/** Knows the token `good` of a user who may read /metrics; counts what it is asked. */
function apiserver() {
  const asked: string[] = [];
  const create = (review: { kind: string; spec: Record<string, unknown> }) => {
    asked.push(review.kind);
    if (review.kind === 'TokenReview')
      return Promise.resolve({
        status: review.spec['token'] === 'good' ? { authenticated: true, user: { username: 'prometheus' } } : {},
      });
    const { path } = review.spec['nonResourceAttributes'] as { path: string };
    return Promise.resolve({ status: { allowed: review.spec['user'] === 'prometheus' && path === '/metrics' } });
  };
  return { asked, auth: new DelegatedAuth({ resource: () => ({ create }) } as unknown as KubeClient, clock) };
}

it.each<[string, string | undefined, number]>([
  ['/healthz', undefined, 200],
  ['/livez/ping', undefined, 200],
  ['/healthzz', undefined, 403],
  ['/metrics', undefined, 403],
  ['/metrics', 'Bearer wrong', 401],
  ['/metrics', 'Basic abc', 401],
  ['/metrics', 'Bearer good', 200],
  ['/configz', 'Bearer good', 403],
])('%s with %s: %i', async (path, authorization, status) => {
  expect((await apiserver().auth.check({ method: 'GET', path, authorization })).status).toBe(status);
});

it('lets system:masters in by certificate without asking', async () => {
  const { asked, auth } = apiserver();
  const certificate = { commonName: 'admin', organizations: ['system:masters'] };
  expect((await auth.check({ method: 'GET', path: '/configz', authorization: undefined, certificate })).status).toBe(200);
  expect(asked).toEqual([]);
});

it('keeps answers for ten seconds', async () => {
  const { asked, auth } = apiserver();
  const check = () => auth.check({ method: 'GET', path: '/metrics', authorization: 'Bearer good' });
  await check();
  await check();
  expect(asked).toHaveLength(2);
  nowMs += 10_001;
  await check();
  expect(asked).toHaveLength(4);
});
