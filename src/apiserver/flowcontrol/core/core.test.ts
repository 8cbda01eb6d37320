import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FlowSchema, PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import { defaultFlowSchemas, defaultPriorityLevels } from '../../bootstrap/flow-control.ts';
import type { Attributes, RequestData } from '../../request/request.ts';
import { borrow, nominalBounds } from './allocation.ts';
import { estimate } from './estimate.ts';
import { Levels } from './levels.ts';
import { distinguisherOf, FlowMatcher } from './matching.ts';
import { starvedMs } from './limits.ts';
import { QueueSet, type Refusal, Ticket } from './queue-set.ts';
import { RetryAfter } from './retry-after.ts';
import { deal, hashOf } from './shuffle.ts';

const target = (resource: string, more: object = {}) => ({
  group: '',
  version: 'v1',
  resource,
  subresource: '',
  namespace: '',
  name: '',
  ...more,
});
const ask = (name: string, groups: string[], verb: string, at?: object): Attributes => ({
  user: { name, groups: [...groups, 'system:authenticated'] },
  verb,
  ...(at ? { target: at as Attributes['target'] } : { path: '/healthz' }),
});

describe('requests belong to the schemas that upstream finds', () => {
  const matcher = new FlowMatcher(defaultFlowSchemas());
  const lease = target('leases', { group: 'coordination.k8s.io', namespace: 'kube-node-lease', name: 'n' });
  it.each([
    ['exempt', ask('admin', ['system:masters'], 'list', target('pods'))],
    ['probes', ask('someone', [], 'get')],
    ['system-node-high', ask('system:node:n', ['system:nodes'], 'update', lease)],
    ['system-node-high', ask('system:node:n', ['system:nodes'], 'patch', target('nodes', { name: 'n', subresource: 'status' }))],
    ['system-nodes', ask('system:node:n', ['system:nodes'], 'list', target('pods', { namespace: '' }))],
    ['system-leader-election', ask('system:kube-scheduler', [], 'update', { ...lease, namespace: 'kube-system' })],
    [
      'kube-scheduler',
      ask('system:kube-scheduler', [], 'create', target('pods', { namespace: 'a', name: 'p', subresource: 'binding' })),
    ],
    [
      'kube-system-service-accounts',
      ask('system:serviceaccount:kube-system:x', ['system:serviceaccounts'], 'list', target('pods', { namespace: 'a' })),
    ],
    [
      'service-accounts',
      ask('system:serviceaccount:a:x', ['system:serviceaccounts'], 'list', target('pods', { namespace: 'a' })),
    ],
    ['global-default', ask('jane', [], 'list', target('pods', { namespace: 'a' }))],
  ])('%s', (name, request) => expect(matcher.find(request)?.metadata.name).toBe(name));

  it('who is of no group that a schema names goes the way of the others', () => {
    const request = {
      ...ask('system:anonymous', [], 'get', target('pods', { namespace: 'a' })),
      user: { name: 'x', groups: [] },
    };
    expect(matcher.find(request)?.metadata.name).toBe('catch-all');
    expect(new FlowMatcher([]).find(request)).toBeUndefined();
  });

  it('and flows are users or namespaces, as the schema says', () => {
    const named = (name: string): FlowSchema => defaultFlowSchemas().find(({ metadata }) => metadata.name === name) as FlowSchema;
    const request = ask('jane', [], 'list', target('pods', { namespace: 'a' }));
    expect(['global-default', 'kube-scheduler', 'exempt'].map((name) => distinguisherOf(named(name), request))).toEqual([
      'jane',
      'a',
      '',
    ]);
  });
});

describe('seats of the server', () => {
  it('are shared by shares', () => {
    const levels = new Levels({ schemas: defaultFlowSchemas(), levels: defaultPriorityLevels() }, 600, 0);
    const nominal = Object.fromEntries([...levels.all].map(([name, { bounds }]) => [name, bounds.nominal]));
    expect(nominal).toEqual({
      exempt: 0,
      'catch-all': 13,
      system: 74,
      'node-high': 98,
      'leader-election': 25,
      'workload-high': 98,
      'workload-low': 245,
      'global-default': 49,
    });
    expect(levels.all.get('workload-low')?.bounds).toEqual({ nominal: 245, min: 24, max: 845 });
    expect(levels.all.get('global-default')?.seatsMax).toBe(8);
  });

  it('are borrowed within bounds, never more than there are', () => {
    const level = fc.record({
      shares: fc.integer({ min: 0, max: 100 }),
      lendablePercent: fc.integer({ min: 0, max: 100 }),
      borrowingLimitPercent: fc.option(fc.integer({ min: 0, max: 400 }), { nil: undefined }),
      demand: fc.integer({ min: 0, max: 900 }),
    });
    fc.assert(
      fc.property(fc.array(level, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 1000 }), (list, total) => {
        const named = list.map((one, at) => ({ ...one, name: String(at), exempt: false }));
        const bounds = nominalBounds(named, total);
        const asking = new Map(
          named.map(({ name, demand }) => [
            name,
            {
              ...(bounds.get(name) as { nominal: number; min: number; max: number }),
              exempt: false,
              highWatermark: demand,
              smoothed: demand,
            },
          ]),
        );
        const { limits } = borrow(asking);
        const sum = [...bounds.values()].reduce((all, { nominal }) => all + nominal, 0);
        for (const [name, limit] of limits) {
          expect(limit).toBeGreaterThanOrEqual(bounds.get(name)?.min ?? 0);
          expect(limit).toBeLessThanOrEqual(bounds.get(name)?.max ?? 0);
        }
        expect([...limits.values()].reduce((all, one) => all + one, 0)).toBeLessThanOrEqual(sum + list.length);
      }),
    );
  });

  it('go to a level that asks, and come back', () => {
    const levels = new Levels({ schemas: defaultFlowSchemas(), levels: defaultPriorityLevels() }, 600, 0);
    const busy = levels.all.get('global-default')?.queues as QueueSet;
    const tickets = Array.from(
      { length: 200 },
      (_, at) => new Ticket(work(1), { schema: 's', flow: `s/${at}`, nowMs: 0, about: undefined }),
    );
    for (const ticket of tickets) busy.enter(ticket, 0);
    expect(busy.executing).toBe(49);
    levels.adjust(10_000);
    expect(busy.executing).toBeGreaterThan(150);
    for (const ticket of tickets) busy.leave(ticket, 10_001);
    for (let second = 20_000; second < 3_000_000; second += 10_000) levels.adjust(second);
    expect(levels.all.get('global-default')?.current).toBeLessThan(100);
  });

  it('of a level that is taken away are there until its last request is over', () => {
    const extra: PriorityLevelConfiguration = {
      metadata: { name: 'extra', uid: 'u' },
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    };
    const levels = new Levels({ schemas: [], levels: [] }, 100, 0);
    levels.configure({ schemas: [], levels: [extra] }, 0);
    const ticket = new Ticket(work(1), { schema: 's', flow: 's/', nowMs: 0, about: undefined });
    levels.all.get('extra')?.queues.enter(ticket, 0);
    levels.configure({ schemas: [], levels: [] }, 1);
    expect(levels.all.get('extra')?.quiescing).toBe(true);
    levels.all.get('extra')?.queues.leave(ticket, 2);
    levels.adjust(10_000);
    expect(levels.all.has('extra')).toBe(false);
  });
});

const work = (seats: number) => ({ seats, finalSeats: 0, finalMs: 0 });

describe('queues', () => {
  it('hands have different queues, the same for the same flow', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 128 }), fc.integer({ min: 1, max: 8 }), (flow, deck, size) => {
        const hand = deal(hashOf(flow), deck, size);
        expect(new Set(hand).size).toBe(Math.min(deck, size));
        expect(hand.every((card) => card >= 0 && card < deck)).toBe(true);
        expect(deal(hashOf(flow), deck, size)).toEqual(hand);
      }),
    );
  });

  it('a flow that floods does not keep another waiting', () => {
    const set = new QueueSet({ queues: 64, handSize: 6, queueLengthLimit: 50 }, 10, 0);
    const served: string[] = [];
    const enter = (flow: string, nowMs: number): { ticket: Ticket; refusal: Refusal | undefined } => {
      const ticket = new Ticket(work(1), { schema: 's', flow, nowMs, about: undefined });
      ticket.onDispatch = () => served.push(flow);
      const refusal = set.enter(ticket, nowMs);
      return { ticket, refusal };
    };
    const flood = Array.from({ length: 2_000 }, () => enter('attacker', 0));
    expect(flood.filter(({ refusal }) => refusal === 'queue-full').length).toBe(2_000 - 10 - 300);
    enter('innocent', 1);
    // Ten requests take 100 ms each: the innocent one is in the first round that follows.
    for (const { ticket } of flood.slice(0, 10)) set.leave(ticket, 100);
    expect(served.indexOf('innocent')).toBeGreaterThanOrEqual(0);
    expect(served.indexOf('innocent')).toBeLessThan(10);
  });

  it('a flow that keeps all seats and does nothing does not keep others waiting, as far as there is relief', () => {
    const set = new QueueSet({ queues: 128, handSize: 6, queueLengthLimit: 50 }, 10, 0);
    const enter = (flow: string, nowMs: number): Ticket => {
      const ticket = new Ticket(work(1), { schema: 's', flow, nowMs, about: undefined });
      set.enter(ticket, nowMs);
      return ticket;
    };
    const stuck = Array.from({ length: 30 }, () => enter('attacker', 0));
    expect(set.executing).toBe(10);
    const innocent = enter('innocent', 1);
    set.relieve(starvedMs);
    expect(innocent.state).toBe('waiting');
    set.relieve(1 + starvedMs);
    expect(innocent.state).toBe('executing');
    // Of the attacker's own, nothing more; and of one that is served, one at a time.
    set.relieve(10 * starvedMs);
    expect(stuck.filter(({ state }) => state === 'executing')).toHaveLength(10);
    // Many others at once have a quarter of the level's seats between them.
    const others = Array.from({ length: 20 }, (_, at) => enter(`other ${at}`, 1_000));
    set.relieve(1_000 + starvedMs);
    expect(set.seatsInUse).toBe(13);
    set.leave(innocent, 1_200);
    expect(set.seatsInUse).toBe(13);
    expect(others.filter(({ state }) => state === 'executing')).toHaveLength(3);
  });

  it('seats are shared by flows, not by numbers of requests', () => {
    const set = new QueueSet({ queues: 128, handSize: 6, queueLengthLimit: 500 }, 10, 0);
    const running: Ticket[] = [];
    const served = { many: 0, few: 0 };
    const enter = (flow: 'many' | 'few'): void => {
      const ticket = new Ticket(work(1), { schema: 's', flow, nowMs: 0, about: undefined });
      ticket.onDispatch = () => running.push(ticket);
      if (set.enter(ticket, 0) === undefined && ticket.state === 'executing') running.push(ticket);
    };
    for (let i = 0; i < 2_000; i++) enter('many');
    for (let i = 0; i < 200; i++) enter('few');
    for (let nowMs = 10; nowMs < 300; nowMs += 10) {
      for (const ticket of running.splice(0)) {
        served[ticket.flow as 'many' | 'few']++;
        set.leave(ticket, nowMs);
      }
    }
    expect(served.few).toBeGreaterThan(served.many * 0.5);
  });

  it('keeps its books: whatever happens, nothing is left over', () => {
    const action = fc.tuple(fc.constantFrom('enter', 'leave', 'give up', 'limit'), fc.nat(40), fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(fc.boolean(), fc.array(action, { maxLength: 200 }), (queued, actions) => {
        const set = new QueueSet(queued ? { queues: 8, handSize: 2, queueLengthLimit: 5 } : undefined, 10, 0);
        const tickets: Ticket[] = [];
        actions.forEach(([what, at, seats], nowMs) => {
          const ticket = tickets[at % Math.max(1, tickets.length)];
          if (what === 'enter') {
            const made = new Ticket(work(seats), { schema: 's', flow: String(at % 5), nowMs, about: undefined });
            if (set.enter(made, nowMs) === undefined) tickets.push(made);
          } else if (what === 'limit') set.setLimit(seats, nowMs);
          else if (ticket && what === 'leave') set.leave(ticket, nowMs);
          else if (ticket) set.giveUp(ticket, 'time-out', nowMs);
          const held = tickets.filter(({ state }) => state === 'executing').reduce((sum, { width }) => sum + width, 0);
          expect(set.seatsInUse).toBe(held);
          expect(set.demand.value).toBe(
            tickets.filter(({ state }) => state !== 'over').reduce((sum, { width }) => sum + width, 0),
          );
        });
        for (let round = 0; round < 500 && !set.idle; round++)
          for (const ticket of tickets) {
            set.leave(ticket, 1_000);
          }
        expect(set.idle).toBe(true);
        expect(
          set.dump().queues.every(({ seats, waiting, executing }) => seats === 0 && waiting.length + executing.length === 0),
        ).toBe(true);
      }),
    );
  });
});

describe('what a request costs', () => {
  const facts = { stats: () => ({ objects: 10_000, bytes: 1_000 }), watchers: () => 57 };
  const request = (verb: string, options: object = {}, name = ''): RequestData =>
    ({ verb, target: target('pods', { name }), options }) as RequestData;
  it.each([
    ['get', {}, 1],
    ['list', {}, 10],
    ['list', { limit: 500 }, 5],
    ['list', { resourceVersion: '7', resourceVersionMatch: 'Exact' }, 100],
    ['watch', { resourceVersion: '7' }, 1],
    ['watch', {}, 10],
    ['watch', { resourceVersion: '7', sendInitialEvents: true }, 10],
  ])('%s %j: %i seats', (verb, options, seats) => expect(estimate(request(verb, options), facts, 0).seats).toBe(seats));
  it('a write with many watchers keeps seats for a moment', () =>
    expect(estimate(request('update', {}, 'a'), facts, 3)).toEqual({ seats: 1, finalSeats: 3, finalMs: 10 }));
  it('no request takes more than its level gives to one', () => expect(estimate(request('list'), facts, 4).seats).toBe(4));
});

it('those who are refused wait longer while many are, and shorter again', () => {
  const retry = new RetryAfter();
  for (let second = 0; second < 60; second++) for (let i = 0; i < 100; i++) retry.refused(second * 1000);
  expect(retry.seconds).toBe(32);
  for (let second = 100; second < 2_000; second += 40) retry.refused(second * 1000);
  expect(retry.seconds).toBe(1);
});
