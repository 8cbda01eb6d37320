import { describe, expect, it } from 'vitest';
import { selectControllers } from './select.ts';

const all = [
  { name: 'replicaset-controller', aliases: ['replicaset'] },
  { name: 'job-controller', aliases: ['job'] },
  { name: 'node-ipam-controller' },
];
const chosen = (...wanted: string[]): string[] => selectControllers(all, wanted).map(({ name }) => name);

describe('--controllers', () => {
  it.each<[string[], string[]]>([
    [['*'], ['replicaset-controller', 'job-controller', 'node-ipam-controller']],
    [
      ['*', '-job'],
      ['replicaset-controller', 'node-ipam-controller'],
    ],
    [['job-controller'], ['job-controller']],
    [
      ['*', '-job', 'job'],
      ['replicaset-controller', 'node-ipam-controller'],
    ],
    [[], []],
  ])('%j', (wanted, expected) => {
    expect(chosen(...wanted)).toEqual(expected);
  });

  it('refuses unknown names', () => {
    expect(() => chosen('*', '-nonsense')).toThrow('"nonsense" is not in the list of known controllers');
  });
});
