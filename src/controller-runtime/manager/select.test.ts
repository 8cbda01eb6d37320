import { describe, expect, it } from 'vitest';
import { selectControllers } from './select.ts';

const all = [
  { name: 'replicaset-controller', aliases: ['replicaset'] },
  { name: 'job-controller', aliases: ['job'] },
  { name: 'node-ipam-controller' },
  { name: 'token-cleaner-controller', aliases: ['tokencleaner'], disabledByDefault: true },
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
    [
      ['*', 'tokencleaner', '-job'],
      ['replicaset-controller', 'node-ipam-controller', 'token-cleaner-controller'],
    ],
    [[], []],
  ])('%j', (wanted, expected) => {
    expect(chosen(...wanted)).toEqual(expected);
  });

  it('refuses unknown names', () => {
    expect(() => chosen('*', '-nonsense')).toThrow('"nonsense" is not in the list of known controllers');
  });
});
