import { expect, it } from 'vitest';
import { createMetrics } from '#component-base';
import { systemClock } from '#host';
import { defaultFlowSchemas, defaultPriorityLevels } from '../../bootstrap/flow-control.ts';
import { FairSeats } from '../../flowcontrol/index.ts';
import type { Request } from '../../request/request.ts';
import { pace } from './pace.ts';

const asked = (user: { name: string; groups?: string[] }, more: object = {}): Request =>
  ({
    via: 'wire',
    verb: 'create',
    target: undefined,
    notes: { awayMs: 0, sentBytes: 5 },
    user: { groups: [], ...user },
    ...more,
  }) as never;

const facts = { stats: () => undefined, watchers: () => 0 };
const mandatory = { schemas: defaultFlowSchemas(), levels: defaultPriorityLevels() };

/** The flows whose requests entered and left, in that order. */
async function flowsOf(request: Request, isDelayed = false): Promise<string[]> {
  const flows: string[] = [];
  const paces = {
    isDelayed: () => isDelayed,
    enter: (flow: string) => void flows.push(`+${flow}`),
    leave: (flow: string, sentBytes: number) => void flows.push(`-${flow} ${sentBytes}`),
  };
  const seats = new FairSeats({
    ...{ clock: systemClock(), metrics: createMetrics(), total: 600, waitMs: 1_000 },
    facts,
    mandatory,
  });
  const link = pace({ paces, seats, clock: systemClock() });
  await link(request as never, () => Promise.reject(new Error('served'))).catch(() => flows.push('served'));
  return flows;
}
const target = (subresource: string) => ({
  target: { group: '', version: 'v1', resource: 'pods', subresource, namespace: 'a', name: 'b' },
});

it.each([
  ['a user', asked({ name: 'alice' }), 'alice'],
  ['an account of a namespace', asked({ name: 'system:serviceaccount:shop:one' }), 'namespace shop'],
  ['a watch', asked({ name: 'alice' }, { verb: 'watch', ...target('') }), 'alice'],
])('%s is paced', async (_what, request, flow) => expect(await flowsOf(request)).toEqual([`+${flow}`, `-${flow} 5`, 'served']));

it.each([
  ['an administrator', asked({ name: 'root', groups: ['system:masters'] })],
  ['a node', asked({ name: 'system:node:n', groups: ['system:nodes'] })],
  ['the scheduler', asked({ name: 'system:kube-scheduler' })],
  ['a component of this process', asked({ name: 'alice' }, { via: 'memory' })],
  ['an exec', asked({ name: 'alice' }, target('exec'))],
])('%s is not', async (_what, request) => expect(await flowsOf(request)).toEqual(['served']));

it('tells the connection whose request it was, and nothing of strangers', async () => {
  const served: string[] = [];
  const servedFor = (flow: string): void => void served.push(flow);
  await flowsOf(asked({ name: 'alice' }, { servedFor }));
  await flowsOf(asked({ name: 'system:anonymous', groups: ['system:unauthenticated'] }, { servedFor }));
  expect(served).toEqual(['alice']);
});

it('lets probes pass a flow that waits, as all without a name are one', async () => {
  const nobody = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
  expect(await flowsOf(asked(nobody, { verb: 'get', path: '/readyz' }), true)).toEqual(['served']);
  expect(await flowsOf(asked(nobody, { verb: 'get', path: '/version' }), true)).toContain('+system:anonymous');
});
