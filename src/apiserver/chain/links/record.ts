// What is kept of a request: counts and times for metrics, and the audit log's record of it. The record begins when it is known who asks and ends with
// the answer, or with the stream that the answer was (k8s.io/apiserver/pkg/endpoints/filters, audit.go and authn_audit.go).
import { StatusError } from '#apimachinery/errors';
import { StoreError } from '#store';
import type { AuditRecord, AuditTrail, Stage } from '../../audit/index.ts';
import { isLongRunning } from '../../request/request.ts';
import { aboutOneObject } from '../../request/uri.ts';
import type { Link, Next } from '../link.ts';
import type { Incoming } from '../incoming.ts';
import { sendInternal } from '../internal.ts';
import type { Outcome } from '../outcome.ts';
import type { ChainServices } from '../services.ts';

/** Counts and times the request, and ends what listens to it. */
export const observe =
  ({ clock, observer }: ChainServices): Link =>
  async (request, next) => {
    const started = clock.monotonic();
    const ended = observer.began(request);
    try {
      return await next(request);
    } finally {
      const { reply, notes } = request;
      if (reply.streaming) reply.onEnd(ended);
      else ended();
      request.cancellation.release();
      const seconds = (clock.monotonic() - started) / 1000;
      const { sentBytes, receivedBytes, awayMs } = notes;
      observer.over({ request, status: reply.status, seconds, sentBytes, receivedBytes, awaySeconds: awayMs / 1000 });
    }
  };

type Audited = Pick<ChainServices, 'audit' | 'clock'>;

export const audit =
  (services: ChainServices): Link =>
  (request, next) => {
    const trail = services.audit;
    const record = trail && begin(trail, request);
    return record ? recorded(services, trail, record, request, next) : next(request);
  };

async function recorded(
  services: Audited,
  trail: AuditTrail,
  record: AuditRecord,
  request: Incoming,
  next: Next,
): Promise<Outcome> {
  const reach = stagesOf(trail, services, record);
  if (!(await reach('RequestReceived'))) return refuseUnrecorded(trail, request);
  let started = false;
  if (isLongRunning(request)) {
    request.reply.onStart((status) => {
      record.responseCode(status);
      started = true;
      void reach('ResponseStarted');
    });
  }
  let last: Stage = 'ResponseComplete';
  try {
    const outcome = await next(request);
    last = conclude(record, request, outcome);
    return outcome;
  } finally {
    const complete = (): boolean | Promise<boolean> => {
      if (last === 'ResponseComplete') closeRecord(record, request, () => started || void reach('ResponseStarted'));
      return reach(last);
    };
    if (isLongRunning(request) && request.reply.streaming) request.reply.onEnd(() => void complete());
    else await complete();
  }
}

function begin(trail: AuditTrail, request: Incoming): AuditRecord | undefined {
  const asked = aboutOneObject(request);
  const user = request.progress === 'received' ? undefined : request.user;
  const record = trail.begin(request, { ...asked, user, path: asked.target ? '' : request.path });
  request.notes.audit = record;
  return record;
}

/** Writes a stage's event. False: it could not be stored. */
function stagesOf(trail: AuditTrail, { clock }: Audited, record: AuditRecord): (stage: Stage) => boolean | Promise<boolean> {
  const started = clock.monotonic();
  return (stage) => trail.reach(record, stage, record.receivedMs + clock.monotonic() - started);
}

/** What failed by the server's own fault is no ordinary end. */
function conclude(record: AuditRecord, request: Incoming, outcome: Outcome): Stage {
  if (outcome.is !== 'failed' || outcome.cause instanceof StatusError || outcome.cause instanceof StoreError)
    return 'ResponseComplete';
  if (request.cancellation.cancelled) return 'ResponseComplete';
  const message = `APIServer panic'd: ${String(outcome.cause)}`;
  record.responseStatus({ status: 'Failure', message, reason: 'InternalError', code: 500 });
  return 'Panic';
}

function closeRecord(record: AuditRecord, request: Incoming, start: () => void): void {
  const { status } = request.reply;
  if (status > 0) return record.responseCode(status);
  record.responseStatus({ status: 'Success', message: 'Connection closed early', code: 200 });
  if (isLongRunning(request)) start();
}

function refuseUnrecorded(trail: AuditTrail, request: Incoming): Promise<Outcome> {
  trail.rejected();
  return sendInternal(request, 'failed to store audit event');
}

/** The one event of a request that failed before it was known who asks; `answer` answers it. */
export async function recordRefusal(services: Audited, request: Incoming, answer: () => void): Promise<void> {
  const trail = services.audit;
  const record = trail && begin(trail, request);
  answer();
  if (!record) return;
  record.responseCode(request.reply.status);
  await stagesOf(trail, services, record)('ResponseStarted');
}
