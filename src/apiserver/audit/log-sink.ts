// Events as lines of a file or of standard output (k8s.io/apiserver/plugin/pkg/audit/log).
import { legacyLine } from './core/legacy-line.ts';
import type { RecordedEvent } from './core/record.ts';
import type { LineWriter } from '../platform/rotating-file.ts';
import type { AuditSink, LossReport } from './sink.ts';

export const logFormats = ['legacy', 'json'] as const;
export type LogFormat = (typeof logFormats)[number];

const lineOf: Record<LogFormat, (event: RecordedEvent) => string> = {
  json: ({ json }) => `${json}\n`,
  legacy: ({ event }) => `${legacyLine(event)}\n`,
};

export function logSink(writer: LineWriter, format: LogFormat, lost: LossReport): AuditSink {
  const line = lineOf[format];
  return {
    process: (events) =>
      writer.write(events.map(line).join('')).then(
        () => true,
        (error: Error) => {
          lost('log', error.message, events);
          return false;
        },
      ),
    close: () => writer.close(),
  };
}
