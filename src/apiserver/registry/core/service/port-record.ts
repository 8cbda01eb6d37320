// The record of claimed node ports in the store, as upstream's apiservers read and write it (pkg/registry/core/service/allocator): a RangeAllocation
// with one bit for each port of the range, the lowest port in the lowest bit of the last byte.
import type { RangeAllocation } from '#api/core/v1';
import { builtinSchema } from '#api';
import { asKind } from '#apimachinery/meta';
import { decodeStoredValue } from '../../../storage/stored-value.ts';
import type { PortRange } from './port-allocator.ts';

export const portRecordKey = '/registry/ranges/servicenodeports';

export const rangeText = ({ first, last }: PortRange): string => (first === last ? String(first) : `${first}-${last}`);

/** Writes the record of ports in use, without those outside of the range. */
export function encodePortRecord(range: PortRange, ports: ReadonlySet<number>): Uint8Array {
  const offsets = [...ports].filter((port) => port >= range.first && port <= range.last).map((port) => port - range.first);
  const size = offsets.length === 0 ? 0 : (Math.max(...offsets) >> 3) + 1;
  const bits = Buffer.alloc(size);
  for (const offset of offsets) {
    const at = size - 1 - (offset >> 3);
    bits[at] = (bits[at] ?? 0) | (1 << (offset & 7));
  }
  const record = {
    kind: 'RangeAllocation',
    apiVersion: 'v1',
    metadata: {},
    range: rangeText(range),
    data: bits.toString('base64'),
  };
  return Buffer.from(JSON.stringify(record));
}

/** Ports that a record claims. A record of another range is read by that range, for the flag of the range may have changed. */
export function decodePortRecord(bytes: Uint8Array): Set<number> {
  const { range, data } = asKind<RangeAllocation>(decodeStoredValue(builtinSchema(), bytes));
  const first = Number(/^\d+/.exec(range)?.[0] ?? Number.NaN);
  const bits = Buffer.from(data ?? '', 'base64');
  const ports = new Set<number>();
  if (Number.isNaN(first)) return ports;
  for (const [at, byte] of bits.entries())
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) ports.add(first + (bits.length - 1 - at) * 8 + bit);
  return ports;
}
