import { expect, test } from 'vitest';
import { endpoints } from './index.ts';

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const shown = (addresses: number, ports: number): unknown =>
  endpoints.printer?.cells(
    {
      metadata: { name: 'a' },
      subsets: [{ addresses: many(addresses, (at) => ({ ip: `10.0.0.${at}` })), ports: many(ports, (at) => ({ port: at + 1 })) }],
    },
    0,
  )[1];

test('a table names the first three endpoints, and counts the others', () => {
  expect(shown(2, 1)).toBe('10.0.0.0:1,10.0.0.1:1');
  expect(shown(2, 0)).toBe('10.0.0.0,10.0.0.1');
  expect(shown(2, 2)).toBe('10.0.0.0:1,10.0.0.1:1,10.0.0.0:2 + 1 more...');
  expect(shown(20_000, 20_000)).toBe('10.0.0.0:1,10.0.0.1:1,10.0.0.2:1 + 399999997 more...');
});
