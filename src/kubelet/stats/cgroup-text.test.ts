import { expect, it } from 'vitest';
import { deviceLines, flatKeyed, interfaceCounts, pressureTotals } from './cgroup-text.ts';

it('reads keyed numbers and leaves out what is none', () => {
  expect({ ...flatKeyed('user 12\nsystem 3\nmax max\n__proto__ 5\n\n') }).toEqual({ user: 12, system: 3, ['__proto__']: 5 });
});

it('reads what devices were asked in both versions of cgroups', () => {
  const counts = { device: '8:0', readBytes: 1, writtenBytes: 2, reads: 3, writes: 4 };
  expect(deviceLines('8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n')).toEqual([counts]);
  expect(deviceLines('8:0 Read 1\n8:0 Write 2\n8:0 Total 3\nTotal 3\n', '8:0 Read 3\n8:0 Write 4\nTotal 7\n')).toEqual([counts]);
  expect(deviceLines('', '')).toEqual([]);
});

it('reads pressure in seconds, and nothing where the kernel tells nothing', () => {
  const text = 'some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n';
  expect(pressureTotals(text)).toEqual({ some: 2.5, full: 1 });
  expect(pressureTotals('')).toBeUndefined();
});

it('reads the counts of each interface but loopback', () => {
  const head =
    'Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop\n';
  const lines = '    lo: 9 9 9 9 0 0 0 0 9 9 9 9 0 0 0 0\n  eth0:100 2 3 4 0 0 0 0 500 6 7 8 0 0 0 0\n';
  expect(interfaceCounts(head + lines)).toEqual([
    {
      name: 'eth0',
      ...{ receivedBytes: 100, receivedPackets: 2, receiveErrors: 3, receiveDropped: 4 },
      ...{ sentBytes: 500, sentPackets: 6, sendErrors: 7, sendDropped: 8 },
    },
  ]);
});
