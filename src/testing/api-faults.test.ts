import { describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/errors';
import { type ApiFaultRule, type AskedOfApi, FaultRules, meets } from './api-faults.ts';
import { virtualClock } from './virtual-clock.ts';

const asked = (verb: string, plural = 'pods', user = 'me', more: object = {}): AskedOfApi => ({
  user: { name: user },
  verb,
  target: { group: '', resource: plural, subresource: '', namespace: 'default', name: 'one', ...more },
});
const fate = (rules: FaultRules, one: AskedOfApi): Promise<unknown> =>
  rules.judge(one).then(
    ({ outage, loseAnswer, dropAfterMs }) => (outage ? 'outage' : loseAnswer ? 'lost' : (dropAfterMs ?? 'ok')),
    (error: unknown) => (error as StatusError).status.code,
  );

describe('a rule', () => {
  it.each<[string, Partial<ApiFaultRule>, AskedOfApi, boolean]>([
    ['anybody', {}, asked('get'), true],
    ['not the cluster itself', {}, asked('get', 'pods', 'system:kube-scheduler'), false],
    ['not its loops', {}, asked('get', 'pods', 'system:serviceaccount:kube-system:job-controller'), false],
    ['whom it names', { users: ['system:kube-*'] }, asked('get', 'pods', 'system:kube-scheduler'), true],
    ['nobody else', { users: ['system:kube-*'] }, asked('get'), false],
    ['its resource', { resources: ['pods'] }, asked('get'), true],
    ['no subresource unasked', { resources: ['pods'] }, asked('get', 'pods', 'me', { subresource: 'status' }), false],
    ['a subresource', { resources: ['pods/status'] }, asked('get', 'pods', 'me', { subresource: 'status' }), true],
    ['its namespace', { namespaces: ['other'] }, asked('get'), false],
    ['paths only without resources', { resources: ['pods'] }, { user: { name: 'me' }, verb: 'get' }, false],
  ])('meets %s', (_what, filter, one, met) => {
    expect(meets({ ...filter }, one)).toBe(met);
  });

  it.each<[ApiFaultRule['fault'], unknown[]]>([
    [{ kind: 'conflict' }, ['ok', 'ok', 'ok', 409, 409, 'ok']],
    [{ kind: 'throttle' }, [429, 429, 429, 429, 429, 429]],
    [{ kind: 'error', code: 503 }, [503, 503, 503, 503, 503, 503]],
    [{ kind: 'expired' }, ['ok', 410, 410, 'ok', 'ok', 'ok']],
    [{ kind: 'outage' }, ['outage', 'outage', 'outage', 'outage', 'outage', 'outage']],
    [{ kind: 'lost-answer' }, ['ok', 'ok', 'ok', 'lost', 'lost', 'lost']],
    [{ kind: 'drop-watch', afterMs: 5 }, ['ok', 'ok', 5, 'ok', 'ok', 'ok']],
  ])('%j happens to what it can happen to', async (fault, fates) => {
    const rules = new FaultRules(virtualClock());
    rules.add({ fault });
    const got: unknown[] = [];
    for (const verb of ['get', 'list', 'watch', 'update', 'patch', 'delete']) got.push(await fate(rules, asked(verb)));
    expect(got).toEqual(fates);
  });

  it('fails a share of its requests, the same ones for the same seed, whatever else is asked', async () => {
    const story = async (seed: number, others: boolean): Promise<string> => {
      const rules = new FaultRules(virtualClock());
      const injected = rules.add({ fault: { kind: 'throttle' }, resources: ['pods'], probability: 0.3, seed });
      let told = '';
      for (let count = 0; count < 500; count++) {
        if (others) await fate(rules, asked('get', 'nodes'));
        told += (await fate(rules, asked('get'))) === 'ok' ? '.' : 'x';
      }
      expect(injected.happened).toBe(told.replaceAll('.', '').length);
      return told;
    };
    const first = await story(1, false);
    expect(await story(1, true)).toBe(first);
    expect(await story(2, false)).not.toBe(first);
    expect(first.replaceAll('.', '').length / 500).toBeCloseTo(0.3, 1);
  });

  it('ends after its times, and when stopped; the first one decides', async () => {
    const rules = new FaultRules(virtualClock());
    const first = rules.add({ fault: { kind: 'error', code: 503 }, times: 2 });
    rules.add({ fault: { kind: 'throttle', retryAfterSeconds: 7 }, verbs: ['get'], names: ['one'] });
    const fates = [];
    for (let count = 0; count < 3; count++) fates.push(await fate(rules, asked('get')));
    expect(fates).toEqual([503, 503, 429]);
    const error = await rules.judge(asked('get')).catch((caught: unknown) => caught);
    expect((error as StatusError).status.details?.retryAfterSeconds).toBe(7);
    expect(await fate(rules, asked('get', 'pods', 'me', { name: 'two' }))).toBe('ok');
    first.stop();
    rules.clear();
    expect(await fate(rules, asked('get'))).toBe('ok');
  });

  it('makes answers late, also those that fail', async () => {
    const clock = virtualClock();
    const rules = new FaultRules(clock);
    rules.add({ fault: { kind: 'throttle' } });
    rules.add({ fault: { kind: 'latency', ms: 100 } });
    let answer: unknown;
    void fate(rules, asked('get')).then((one) => (answer = one));
    await clock.advance(99);
    expect(answer).toBeUndefined();
    await clock.advance(1);
    expect(answer).toBe(429);
  });

  it.each<[Partial<ApiFaultRule>, string]>([
    [{ probability: 1.5 }, 'a probability is between 0 and 1, not 1.5'],
    [{ verbs: ['read' as 'get'] }, 'there is no verb "read"'],
  ])('refuses %j', (rule, why) => {
    expect(() => new FaultRules(virtualClock()).add({ fault: { kind: 'throttle' }, ...rule })).toThrow(why);
  });
});
