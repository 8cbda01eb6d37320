// How a request over a connection gets into the audit log: its record begins when it is known who asks, and ends with the answer, or with the
// stream that the answer was (k8s.io/apiserver/pkg/endpoints/filters, audit.go and authn_audit.go).
import type { WireResponse, WireUpgrade } from '#wire';
import type { AuditRecord, AuditTrail, Stage } from '../audit/index.ts';
import type { Attributes } from '../contracts.ts';
import type { Exchange } from './exchange.ts';

export interface RequestAudit {
  readonly record: AuditRecord;
  /** The first event. False: it could not be stored. */
  received(): boolean | Promise<boolean>;
  /** What failed was the server's own fault. */
  panicked(message: string): void;
  /** The handler is done: the last event now, or when the stream is over. */
  finish(): Promise<void>;
}

export interface AuditedRequest {
  exchange: Exchange;
  asked: Omit<Attributes, 'user'> & { user: Attributes['user'] | undefined };
  long: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Tells the first status of a response. */
function announcing(response: WireResponse, onHead: (status: number) => void): WireResponse {
  return {
    head(status, headers) {
      response.head(status, headers);
      onHead(status);
    },
    send(status, headers, body) {
      onHead(status);
      response.send(status, headers, body);
    },
    flushHead: () => response.flushHead(),
    write: (chunk) => response.write(chunk),
    drain: () => response.drain(),
    end: (chunk) => response.end(chunk),
    destroy: () => response.destroy(),
    get headSent() {
      return response.headSent;
    },
    get status() {
      return response.status;
    },
    get destroyed() {
      return response.destroyed;
    },
  };
}

function announcingUpgrade(upgrade: WireUpgrade, onSwitch: () => void): WireUpgrade {
  return Object.create(upgrade, {
    accept: {
      value: (headers: Parameters<WireUpgrade['accept']>[0]) => {
        onSwitch();
        return upgrade.accept(headers);
      },
    },
    takeOver: {
      value: () => {
        onSwitch();
        return upgrade.takeOver();
      },
    },
    reject: { value: upgrade.reject.bind(upgrade) },
    signal: { get: () => upgrade.signal },
  }) as WireUpgrade;
}

function begin(trail: AuditTrail, { exchange, asked, now }: AuditedRequest): AuditRecord | undefined {
  const { request } = exchange;
  return trail.begin(
    {
      auditId: String(exchange.headers()['audit-id'] ?? ''),
      requestUri: request.path,
      userAgent: exchange.userAgent,
      receivedMs: now(),
      remoteAddress: request.remoteAddress,
      headers: request.headers,
    },
    asked,
  );
}

/** Undefined: the policy says not to record it. Takes the place of the exchange's response and upgrade where their start is an event. */
export function beginAudit(trail: AuditTrail, audited: AuditedRequest): RequestAudit | undefined {
  const record = begin(trail, audited);
  if (!record) return undefined;
  const { exchange, long, now } = audited;
  const { response, request } = exchange;
  let last: Stage = 'ResponseComplete';
  let switched = false;
  let started = false;
  const reach = (stage: Stage): boolean | Promise<boolean> => trail.reach(record, stage, now());
  const onHead = (status: number): void => {
    record.responseCode(status);
    if (started) return;
    started = true;
    void reach('ResponseStarted');
  };
  if (long) {
    exchange.response = announcing(response, onHead);
    if (exchange.upgrade) {
      exchange.upgrade = announcingUpgrade(exchange.upgrade, () => {
        switched = true;
        onHead(101);
      });
    }
  }
  exchange.audit = record;
  const complete = (): boolean | Promise<boolean> => {
    if (last === 'ResponseComplete' && !switched) {
      if (response.status > 0) record.responseCode(response.status);
      else {
        record.responseStatus({ status: 'Success', message: 'Connection closed early', code: 200 });
        if (long && !started) void reach('ResponseStarted');
      }
    }
    return reach(last);
  };
  return {
    record,
    received: () => reach('RequestReceived'),
    panicked(message) {
      last = 'Panic';
      record.responseStatus({
        status: 'Failure',
        message: `APIServer panic'd: ${message}`,
        reason: 'InternalError',
        code: 500,
      });
    },
    async finish() {
      const streaming = long && (switched ? !request.signal.aborted : response.headSent && !response.destroyed);
      if (streaming) request.onClose(() => void complete());
      else await complete();
    },
  };
}

/** The one event of a request that was turned away before it was known who asks; call it before the answer is sent. */
export function auditTurnedAway(trail: AuditTrail, audited: AuditedRequest): (() => Promise<void>) | undefined {
  const record = begin(trail, audited);
  if (!record) return undefined;
  const { exchange, now } = audited;
  exchange.audit = record;
  return async () => {
    record.responseCode(exchange.response.status);
    await trail.reach(record, 'ResponseStarted', now());
  };
}
