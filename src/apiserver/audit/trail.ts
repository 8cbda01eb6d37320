// The audit log of one server: asks the policy, keeps a record of each request, and hands its events to the backends
// (k8s.io/apiserver/pkg/endpoints/filters, audit.go).
import type { Metrics } from '#component-base';
import type { Decision } from '../authorization/types.ts';
import type { Attributes } from '../request/request.ts';
import type { RequestRecord } from '../request/notes.ts';
import type { RequestData } from '../request/request.ts';
import { createEvaluator, type Policy, type Stage } from './core/policy.ts';
import { AuditRecord } from './core/record.ts';
import { sourceIps } from './core/source-ips.ts';
import type { AuditSink } from './sink.ts';

/** `user` undefined: nobody was recognised. */
type Asked = Omit<Attributes, 'user'> & { user: Attributes['user'] | undefined };

export interface AuditTrail {
  /** Begins the record of a request; undefined for one that is not recorded. */
  begin(request: RequestData, asked: Asked): AuditRecord | undefined;
  /** Writes the event of a stage. False: it is not stored, and the request must not go on. A promise: wait for it. */
  reach(record: AuditRecord, stage: Stage, nowMs: number): boolean | Promise<boolean>;
  /** A request was refused because its event could not be stored. */
  rejected(): void;
  /** Resolves when every event is written. */
  close(): Promise<void>;
}

export function createAuditTrail(policy: Policy, sink: AuditSink, metrics: Metrics): AuditTrail {
  const evaluate = createEvaluator(policy);
  const counted = auditMetrics(metrics);
  return {
    begin(request, asked) {
      const verdict = evaluate(asked);
      counted.levels.inc(1, verdict.level);
      if (verdict.level === 'None') return undefined;
      const { auditId, uri, userAgent, now, headers, remoteAddress } = request;
      const { user, verb, target } = asked;
      const ips = sourceIps(headers, remoteAddress);
      return new AuditRecord(verdict, { auditId, uri, userAgent, receivedMs: now, user, verb, target, sourceIps: ips });
    },
    reach(record, stage, nowMs) {
      if (record.omits(stage)) return true;
      counted.events.inc();
      return sink.process([record.event(stage, nowMs)]);
    },
    rejected: () => counted.rejected.inc(),
    close: () => sink.close(),
  };
}

/** Whether the request was allowed, and why. */
export function recordDecision(record: RequestRecord, { allowed, reason }: Decision): void {
  record.annotate('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid');
  record.annotate('authorization.k8s.io/reason', reason);
}

function auditMetrics(metrics: Metrics) {
  return {
    events: metrics.counter({
      name: 'apiserver_audit_event_total',
      help: 'Counter of audit events generated and sent to the audit backend.',
    }),
    levels: metrics.counter({
      name: 'apiserver_audit_level_total',
      help: 'Counter of policy levels for audit events (1 per request).',
      labels: ['level'],
    }),
    rejected: metrics.counter({
      name: 'apiserver_audit_requests_rejected_total',
      help: 'Counter of apiserver requests rejected due to an error in audit logging backend.',
    }),
  };
}

export const lossCounter = (metrics: Metrics): ((plugin: string, events: number) => void) => {
  const errors = metrics.counter({
    name: 'apiserver_audit_error_total',
    help: 'Counter of audit events that failed to be audited properly. Plugin identifies the plugin affected by the error.',
    labels: ['plugin'],
  });
  return (plugin, events) => errors.inc(events, plugin);
};
