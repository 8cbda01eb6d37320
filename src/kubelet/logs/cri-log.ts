// The CRI log format: `<RFC 3339 with nanoseconds> stdout|stderr F|P <text>`; P is a line that goes on (upstream pkg/kubelet/kuberuntime/logs).

export interface LogLine {
  /** The time as it is written: RFC 3339 with nanoseconds. */
  time: string;
  stream: 'stdout' | 'stderr';
  partial: boolean;
  text: Buffer;
}

const space = 0x20;

/** Reads a line of a container's log, which is without its newline; undefined for any other text. */
export function parseLogLine(line: Buffer): LogLine | undefined {
  const first = line.indexOf(space);
  const second = line.indexOf(space, first + 1);
  const third = line.indexOf(space, second + 1);
  if (first < 0 || second < 0) return undefined;
  const stream = line.toString('latin1', first + 1, second);
  if (stream !== 'stdout' && stream !== 'stderr') return undefined;
  const tag = line.toString('latin1', second + 1, third < 0 ? line.length : third);
  return {
    time: line.toString('latin1', 0, first),
    stream,
    partial: tag.split(':')[0] === 'P',
    text: third < 0 ? Buffer.alloc(0) : line.subarray(third + 1),
  };
}

/** Milliseconds since the epoch; the fraction beyond them is lost. */
export const logTimeMs = (time: string): number => Date.parse(time.replace(/(\.\d{3})\d*/, '$1'));
