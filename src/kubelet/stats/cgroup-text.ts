// The texts in which the kernel reports numbers: cgroup files and /proc/net/dev. Pure.

/** Reads a file of lines `name number`. */
export function flatKeyed(text: string): Record<string, number> {
  const found: Record<string, number> = Object.create(null) as Record<string, number>;
  for (const line of text.split('\n')) {
    const [name = '', value = ''] = line.trim().split(/\s+/);
    if (name !== '' && /^\d+$/.test(value)) found[name] = Number(value);
  }
  return found;
}

export interface IoCounts {
  /** `major:minor`. */
  device: string;
  readBytes: number;
  writtenBytes: number;
  reads: number;
  writes: number;
}

/** Version 2 has one file (`8:0 rbytes=1 wbytes=2 rios=3 wios=4 ...`), version 1 one for bytes and one for operations (`8:0 Read 1`). */
export function deviceLines(bytes: string, operations?: string): IoCounts[] {
  const found = new Map<string, IoCounts>();
  const of = (device: string): IoCounts => {
    const known = found.get(device) ?? { device, readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 };
    found.set(device, known);
    return known;
  };
  if (operations === undefined) {
    for (const line of bytes.split('\n')) {
      const [device = '', ...pairs] = line.trim().split(/\s+/);
      if (!/^\d+:\d+$/.test(device)) continue;
      const values = new Map(pairs.map((pair) => pair.split('=') as [string, string]));
      const value = (name: string): number => Number(values.get(name) ?? 0);
      Object.assign(of(device), {
        readBytes: value('rbytes'),
        writtenBytes: value('wbytes'),
        reads: value('rios'),
        writes: value('wios'),
      });
    }
    return [...found.values()];
  }
  const take = (text: string, read: 'readBytes' | 'reads', write: 'writtenBytes' | 'writes'): void => {
    for (const line of text.split('\n')) {
      const [device = '', operation, value] = line.trim().split(/\s+/);
      if (!/^\d+:\d+$/.test(device)) continue;
      if (operation === 'Read') of(device)[read] = Number(value);
      if (operation === 'Write') of(device)[write] = Number(value);
    }
  };
  take(bytes, 'readBytes', 'writtenBytes');
  take(operations, 'reads', 'writes');
  return [...found.values()];
}

/** Seconds of `some` and `full` in a pressure file; undefined where the kernel does not report pressure. */
export function pressureTotals(text: string): { some: number; full: number } | undefined {
  const total = (kind: string): number | undefined => {
    const found = new RegExp(`^${kind} .*\\btotal=(\\d+)`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found) / 1e6;
  };
  const some = total('some');
  return some === undefined ? undefined : { some, full: total('full') ?? 0 };
}

export interface InterfaceCounts {
  name: string;
  receivedBytes: number;
  receivedPackets: number;
  receiveErrors: number;
  receiveDropped: number;
  sentBytes: number;
  sentPackets: number;
  sendErrors: number;
  sendDropped: number;
}

/** Reads the counters of /proc/net/dev, without those of loopback. */
export function interfaceCounts(text: string): InterfaceCounts[] {
  return text.split('\n').flatMap((line) => {
    const match = /^\s*([^:\s]+):\s*(.*)$/.exec(line);
    const [, name = '', rest = ''] = match ?? [];
    if (name === '' || name === 'lo') return [];
    const values = rest.trim().split(/\s+/).map(Number);
    const at = (index: number): number => values[index] ?? 0;
    return [
      {
        name,
        receivedBytes: at(0),
        receivedPackets: at(1),
        receiveErrors: at(2),
        receiveDropped: at(3),
        sentBytes: at(8),
        sentPackets: at(9),
        sendErrors: at(10),
        sendDropped: at(11),
      },
    ];
  });
}
