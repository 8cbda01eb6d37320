// Where events go. Backends are stacked: truncating over buffering over writing (k8s.io/apiserver/plugin/pkg/audit).
import type { Logger } from '#utils';
import { legacyLine } from './core/legacy-line.ts';
import type { RecordedEvent } from './core/record.ts';

export interface AuditSink {
  /** False: some event could not be recorded, which has been said. A promise where the request has to wait; never rejects. */
  process(events: readonly RecordedEvent[]): boolean | Promise<boolean>;
  /** Resolves when all that was taken has been written, or given up. */
  close(): Promise<void>;
}

/** Counts events that were lost, and writes them to the server's log. */
export type LossReport = (plugin: string, why: string, events: readonly RecordedEvent[]) => void;

export const lossReporter =
  (logger: Logger, count: (plugin: string, events: number) => void): LossReport =>
  (plugin, why, events) => {
    count(plugin, events.length);
    const impacted = events.map(({ event }) => legacyLine(event)).join('\n');
    logger.error(
      `Error in audit plugin '${plugin}' affecting ${events.length} audit events: ${why}\nImpacted events:\n${impacted}`,
    );
  };

/** Whether every answer is true; waits only where one does. */
export function allStored(answers: readonly (boolean | Promise<boolean>)[]): boolean | Promise<boolean> {
  const waiting = answers.filter((answer) => answer instanceof Promise);
  const now = answers.every((answer) => answer !== false);
  return waiting.length === 0 ? now : Promise.all(waiting).then((all) => now && all.every(Boolean));
}

/** Makes one sink of several, each of which gets all events. */
export function unionSink(sinks: readonly AuditSink[]): AuditSink {
  const [only] = sinks;
  if (only && sinks.length === 1) return only;
  return {
    process(events) {
      return allStored(sinks.map((sink) => sink.process(events)));
    },
    close: async () => void (await Promise.all(sinks.map((sink) => sink.close()))),
  };
}

/** Makes the sink of `--audit-*-mode=blocking`: requests wait for it, but do not fail with it. */
export const ignoringErrors = (inner: AuditSink): AuditSink => ({
  process(events) {
    const answer = inner.process(events);
    return answer instanceof Promise ? answer.then(() => true) : true;
  },
  close: () => inner.close(),
});
