import { describe, expect, it } from 'vitest';
import type { Node } from '#api/core/v1';
import { hostsChanged, hostsKey } from './select.ts';

const node = (addresses: [string, string][], providerID = 'paper://1'): Node => ({
  metadata: { name: 'node-1' },
  spec: { providerID },
  status: { addresses: addresses.map(([type, address]) => ({ type, address })) },
});
const young = node([['Hostname', 'node-1']]);
const whole = node([
  ['Hostname', 'node-1'],
  ['InternalIP', '10.0.0.1'],
]);

const outside = node([
  ['InternalIP', '10.0.0.1'],
  ['ExternalIP', '192.0.2.1'],
]);

describe('a Node behind load balancers', () => {
  it.each([
    ['has got its addresses', young, whole],
    ['has another address', whole, node([['InternalIP', '10.0.0.2']])],
    ['has an address outside, too', whole, outside],
    ['is another machine', whole, node([['InternalIP', '10.0.0.1']], 'paper://2')],
  ])('is told of when it %s', (_what, old, now) => {
    expect(hostsChanged(now, old)).toBe(true);
    expect(hostsKey([now])).not.toBe(hostsKey([old]));
  });
  it('is not told of when only its names or the order of its addresses differ', () => {
    const both: [string, string][] = [
      ['InternalIP', '10.0.0.1'],
      ['ExternalIP', '192.0.2.1'],
    ];
    expect(hostsChanged(node(both), node([...both].reverse()))).toBe(false);
    expect(hostsChanged(node([...both, ['ExternalDNS', 'a.example']]), node(both))).toBe(false);
  });
});
