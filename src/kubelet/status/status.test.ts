import { describe, expect, it } from 'vitest';
import type { ContainerStatus, Pod, PodStatus } from '#api/core/v1';
import { podPhase } from './phase.ts';
import { statusPatch } from './patch.ts';
import { finalStatus, mergeStatus, settleStatus } from './settle.ts';

const podOf = (restartPolicy: string, init: string[] = []): Pod => ({
  metadata: { name: 'p', namespace: 'ns', uid: 'u' },
  spec: { restartPolicy, containers: [{ name: 'a' }, { name: 'b' }], initContainers: init.map((name) => ({ name })) },
});
const status = (name: string, state: ContainerStatus['state'], lastState: ContainerStatus['state'] = {}): ContainerStatus => ({
  name,
  state,
  lastState,
  ready: false,
  restartCount: 0,
  image: '',
  imageID: '',
});
const ended = (exitCode: number) => ({ terminated: { exitCode } });
const running = { running: {} };
const waiting = { waiting: {} };

describe('podPhase', () => {
  const both = (a: ContainerStatus['state'], b: ContainerStatus['state']): ContainerStatus[] => [status('a', a), status('b', b)];
  it.each([
    ['Always', both(running, running), false, 'Running'],
    ['Always', both(running, waiting), false, 'Pending'],
    ['Always', both(ended(0), ended(0)), false, 'Running'],
    ['Always', both(ended(0), ended(0)), true, 'Succeeded'],
    ['Always', both(ended(0), ended(1)), true, 'Failed'],
    ['Never', both(ended(0), running), false, 'Running'],
    ['Never', both(ended(0), ended(0)), false, 'Succeeded'],
    ['Never', both(ended(0), ended(2)), false, 'Failed'],
    ['OnFailure', both(ended(0), ended(2)), false, 'Running'],
    ['Always', [status('a', running)], false, 'Pending'],
    ['Always', [status('a', waiting, ended(1)), status('b', running)], false, 'Running'],
  ] as const)('%s %#', (policy, statuses, terminal, expected) => {
    expect(podPhase(podOf(policy), [...statuses], terminal, true)).toBe(expected);
  });
  it('waits for init containers and fails with them', () => {
    const rest = both(waiting, waiting);
    expect(podPhase(podOf('Always', ['i']), [status('i', running), ...rest], false, false)).toBe('Pending');
    expect(podPhase(podOf('Always', ['i']), [status('i', ended(1)), ...rest], false, false)).toBe('Pending');
    expect(podPhase(podOf('Never', ['i']), [status('i', ended(1)), ...rest], false, false)).toBe('Failed');
  });
});

describe('statusPatch', () => {
  it('is nothing for equal statuses, and only what changed otherwise', () => {
    const before: PodStatus = {
      phase: 'Pending',
      reason: 'x',
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'True' },
      ],
    };
    expect(statusPatch(before, structuredClone(before))).toBeUndefined();
    const after: PodStatus = {
      phase: 'Running',
      conditions: [
        { type: 'A', status: 'True' },
        { type: 'B', status: 'False' },
      ],
    };
    expect(statusPatch(before, after)).toEqual({ phase: 'Running', reason: null, conditions: [{ type: 'B', status: 'False' }] });
  });
  it('takes an old address away', () => {
    expect(statusPatch({ podIPs: [{ ip: '1' }] }, { podIPs: [{ ip: '2' }] })?.['podIPs']).toEqual([
      { ip: '2' },
      { $patch: 'delete', ip: '1' },
    ]);
  });
});

describe('what is reported', () => {
  const pod = podOf('Always');
  it('keeps the time of a condition that stays, and the start time', () => {
    const old: PodStatus = { startTime: 'then', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: 'then' }] };
    const again = settleStatus(pod, old, { conditions: [{ type: 'Ready', status: 'True' }] }, 0);
    expect(again).toMatchObject({ startTime: 'then', conditions: [{ lastTransitionTime: 'then' }] });
    const turned = settleStatus(pod, old, { conditions: [{ type: 'Ready', status: 'False' }] }, 0);
    expect(turned.conditions?.[0]?.lastTransitionTime).toBe('1970-01-01T00:00:00Z');
  });
  it('shares out the space for termination messages', () => {
    const long = 'é'.repeat(10_000);
    const cut = settleStatus(pod, {}, { containerStatuses: [status('a', { terminated: { exitCode: 1, message: long } })] }, 0);
    const message = cut.containerStatuses?.[0]?.state?.terminated?.message ?? '';
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(6 * 1024);
    expect(message.endsWith('é')).toBe(true);
  });
  it('holds a terminal phase back while containers may run, and leaves conditions of others alone', () => {
    const api: Pod = { ...pod, status: { phase: 'Running', conditions: [{ type: 'example.com/x', status: 'True' }] } };
    const own: PodStatus = {
      phase: 'Failed',
      reason: 'Evicted',
      conditions: [
        { type: 'Ready', status: 'False' },
        { type: 'example.com/x', status: 'False' },
      ],
    };
    expect(mergeStatus(api, own, true)).toMatchObject({
      phase: 'Running',
      conditions: [{ type: 'example.com/x', status: 'True' }, { type: 'Ready' }],
    });
    expect(mergeStatus(api, own, false)).toMatchObject({ phase: 'Failed', reason: 'Evicted' });
  });
  it('leaves no container without an end', () => {
    const final = finalStatus(pod, { phase: 'Running', containerStatuses: [status('a', running), status('b', ended(0))] });
    expect(final).toMatchObject({
      phase: 'Failed',
      containerStatuses: [
        { state: { terminated: { exitCode: 137, reason: 'ContainerStatusUnknown' } } },
        { state: { terminated: { exitCode: 0 } } },
      ],
    });
  });
});

it('has nothing to write where only the order of conditions differs; addresses have an order', () => {
  const [a, b] = [
    { type: 'A', status: 'True' },
    { type: 'B', status: 'False' },
  ];
  expect(statusPatch({ conditions: [a, b] } as never, { conditions: [b, a] } as never)).toBeUndefined();
  expect(statusPatch({ podIPs: [{ ip: '1' }, { ip: '2' }] }, { podIPs: [{ ip: '2' }, { ip: '1' }] })).toEqual({
    podIPs: [],
    '$setElementOrder/podIPs': [{ ip: '2' }, { ip: '1' }],
  });
});
