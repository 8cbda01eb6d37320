import { expect, test } from 'vitest';
import type { Node, Pod } from '#api/core/v1';
import { readSummary } from './reading.ts';
import { nodeMetrics, podMetrics } from './usage.ts';

const pod = { metadata: { name: 'p', namespace: 'n', uid: 'u' } } as Pod;
const node = { metadata: { name: 'node-1' } } as Node;
const podRef = { name: 'p', namespace: 'n', uid: 'u' };
const container = {
  name: 'c',
  cpu: { time: '2026-01-01T00:00:01Z', usageNanoCores: 5_000_000 },
  memory: { workingSetBytes: 1024 },
};
const now = Date.parse('2026-01-01T00:00:02Z');

test('what a kubelet measured', () => {
  const reading = readSummary({
    node: container,
    pods: [
      { podRef: { ...podRef, uid: 'other' }, containers: [] },
      { podRef, containers: [container] },
    ],
  });
  expect(podMetrics(pod, reading, now)).toMatchObject({
    timestamp: '2026-01-01T00:00:01Z',
    containers: [{ name: 'c', usage: { cpu: '5m', memory: '1Ki' } }],
  });
  expect(nodeMetrics(node, reading, now)).toMatchObject({ usage: { cpu: '5m', memory: '1Ki' } });
});

test.each([
  ['no pods', { pods: null, node: null }],
  ['nothing', {}],
  ['no containers', { pods: [{ podRef, containers: null }] }],
  ['not yet measured twice', { pods: [{ podRef, containers: [{ ...container, cpu: { time: '' } }] }] }],
])('%s: nothing is known', (_, summary) => {
  expect(podMetrics(pod, readSummary(summary), now)).toBeUndefined();
  expect(nodeMetrics(node, readSummary(summary), now)).toBeUndefined();
});

test.each([
  ['no object', null],
  ['a text', 'x'],
  ['a pod that is none', { pods: [null] }],
  ['a pod without a name', { pods: [{}] }],
  ['a text where a number is', { pods: [{ podRef, containers: [{ name: 'c', cpu: { usageNanoCores: 'x' } }] }] }],
  ['a negative amount', { node: { memory: { workingSetBytes: -1 } } }],
  ['more than there is', { node: { memory: { workingSetBytes: 1e300 } } }],
])('%s is no summary', (_, summary) => {
  expect(() => readSummary(summary)).toThrow('the summary cannot be read');
});

test('a time of another age is the present', () => {
  const reading = readSummary({ node: { ...container, cpu: { ...container.cpu, time: '+275760-09-13T00:00:00Z' } } });
  expect(nodeMetrics(node, reading, now)?.timestamp).toBe('2026-01-01T00:00:02Z');
});
