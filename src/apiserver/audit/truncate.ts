// Large events lose their objects, larger ones are dropped, large batches are split (k8s.io/apiserver/plugin/pkg/audit/truncate).
import { records } from './core/policy.ts';
import { type RecordedEvent, recordedEvent } from './core/record.ts';
import { allStored, type AuditSink, type LossReport } from './sink.ts';

export interface TruncateOptions {
  eventBytesMax: number;
  batchBytesMax: number;
}

/** The length of the event with the end of its line. */
const sizeOf = ({ json }: RecordedEvent): number => Buffer.byteLength(json) + 1;

const truncated = ({ event }: RecordedEvent): RecordedEvent =>
  recordedEvent({ ...event, annotations: { ...event.annotations, 'audit.k8s.io/truncated': 'true' } }, undefined, undefined);

export function truncatingSink(inner: AuditSink, { eventBytesMax, batchBytesMax }: TruncateOptions, lost: LossReport): AuditSink {
  return {
    process(events) {
      const batches: RecordedEvent[][] = [[]];
      const tooLarge: RecordedEvent[] = [];
      let bytes = 0;
      for (const given of events) {
        const shorten = sizeOf(given) > eventBytesMax && records(given.event.level, 'Request');
        const event = shorten ? truncated(given) : given;
        const size = sizeOf(event);
        if (size > eventBytesMax) {
          tooLarge.push(event);
          continue;
        }
        if (bytes > 0 && bytes + size > batchBytesMax) {
          batches.push([]);
          bytes = 0;
        }
        bytes += size;
        batches.at(-1)?.push(event);
      }
      if (tooLarge.length > 0) lost('truncate', 'event is too large even after truncating', tooLarge);
      return allStored(batches.filter((batch) => batch.length > 0).map((batch) => inner.process(batch)));
    },
    close: () => inner.close(),
  };
}
