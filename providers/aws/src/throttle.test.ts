import { describe, expect, it } from 'vitest';
import { isInstanceNotFound, retryAfterOf } from 'sagong/cloud-provider';
import { during } from 'sagong/cloud-provider/kit';
import { absentFor, forController, hasCode } from './errors.ts';
import { createThrottle } from './throttle.ts';

const sdkError = (name: string, Code?: string): Error => Object.assign(new Error('refused'), { name, ...(Code && { Code }) });

describe('what AWS answers', () => {
  it('is known by code or name, through causes', () => {
    const error = sdkError('AccessPointNotFoundException', 'LoadBalancerNotFound');
    expect(hasCode(error, 'LoadBalancerNotFound')).toBe(true);
    expect(hasCode(error, 'AccessPointNotFoundException')).toBe(true);
    expect(hasCode(new Error('outer', { cause: error }), 'LoadBalancerNotFound')).toBe(true);
    expect(hasCode(error, 'PolicyNotFound')).toBe(false);
    expect(hasCode(undefined, 'undefined')).toBe(false);
  });
  it('may mean: not there', async () => {
    await expect(Promise.reject(sdkError('X')).catch(absentFor('X', 'Y'))).resolves.toBeUndefined();
    await expect(Promise.reject(sdkError('Z')).catch(absentFor('X', 'Y'))).rejects.toThrow('refused');
  });
  it('keeps its meaning under an explanation', async () => {
    const failed = Promise.reject(sdkError('Throttling')).catch((error: unknown) => Promise.reject(forController('X', error, 0)));
    const explained = await failed.catch(during('error doing')).catch((error: unknown) => error);
    expect((explained as Error).message).toMatch(/^error doing: X: AWS is asked too often/);
    expect(retryAfterOf(explained)).toBe(5_000);
    expect(isInstanceNotFound(explained)).toBe(false);
  });
  it('asks controllers to wait as long as requests have to', () => {
    expect(retryAfterOf(forController('X', sdkError('RequestLimitExceeded'), 20_000))).toBe(20_000);
    expect(retryAfterOf(forController('X', { $retryable: { throttling: true } }, 0))).toBe(5_000);
    expect(retryAfterOf(forController('X', sdkError('AccessDenied'), 20_000))).toBeUndefined();
  });
});

describe('throttling', () => {
  it('delays by the share of refusals, and forgets', () => {
    let now = 0;
    const throttle = createThrottle({ monotonic: () => now });
    expect(throttle.next()).toBe(0);
    for (let round = 0; round < 5; round++) {
      throttle.next();
      throttle.refused();
    }
    expect(throttle.delayMs()).toBe(30_000);
    for (let round = 0; round < 40; round++) throttle.next();
    expect(throttle.delayMs()).toBe(6_000);
    expect(throttle.next()).toBe(0);
    now += 600_000;
    expect(throttle.next()).toBe(0);
  });
});
