// Flags of the audit log with upstream's names and defaults (k8s.io/apiserver/pkg/server/options, audit.go).
import { type FlagValues, flag } from '#component-base';
import {
  batchBurst,
  batchesPerSecond,
  batchWaitMs,
  bufferEventsMax,
  logBackupsMax,
  logDaysMax,
  logMegabytesMax,
  truncateBatchBytes,
  truncateEventBytes,
  webhookBackoffMs,
  webhookBatchEventsMax,
} from './limits.ts';
import type { AuditOptions } from './options.ts';

const section = 'Auditing';

interface Defaults {
  mode: string;
  batchEventsMax: number;
  batchWaitMs: number;
  throttle: boolean;
  perSecond: number;
  burst: number;
}

type Backend = 'log' | 'webhook';
const namedFor =
  (backend: Backend) =>
  (rest: string): string =>
    `audit-${backend}-${rest}`;

/** How a backend gathers events; in effect only in the mode `batch`. */
const batchFlags = (backend: Backend, defaults: Defaults) => {
  const name = namedFor(backend);
  return {
    bufferEventsMax: flag.int({
      name: name('batch-buffer-size'),
      default: bufferEventsMax,
      help: 'Events that may wait for a batch; more are dropped.',
      section,
    }),
    batchEventsMax: flag.int({
      name: name('batch-max-size'),
      default: defaults.batchEventsMax,
      help: 'Events of a batch at most.',
      section,
    }),
    batchWaitMs: flag.duration({
      name: name('batch-max-wait'),
      default: defaults.batchWaitMs,
      help: 'How long a batch that is not full waits.',
      section,
    }),
    throttle: flag.bool({
      name: name('batch-throttle-enable'),
      default: defaults.throttle,
      help: 'Whether batches are throttled.',
      section,
    }),
    perSecond: flag.float({
      name: name('batch-throttle-qps'),
      default: defaults.perSecond,
      help: 'Batches per second on average.',
      section,
    }),
    burst: flag.int({
      name: name('batch-throttle-burst'),
      default: defaults.burst,
      help: 'Batches at once after a quiet time.',
      section,
    }),
  };
};

/** Flags of both backends. */
const backendFlags = (backend: Backend, defaults: Defaults) => {
  const name = namedFor(backend);
  return {
    mode: flag.string({
      name: name('mode'),
      default: defaults.mode,
      help: 'How events are handed over: batch, blocking or blocking-strict.',
      section,
    }),
    ...batchFlags(backend, defaults),
    truncate: flag.bool({
      name: name('truncate-enabled'),
      default: false,
      help: 'Whether large events lose their objects and large batches are split.',
      section,
    }),
    truncateBatchBytes: flag.int({
      name: name('truncate-max-batch-size'),
      default: truncateBatchBytes,
      help: 'Bytes of a batch at most.',
      section,
    }),
    truncateEventBytes: flag.int({
      name: name('truncate-max-event-size'),
      default: truncateEventBytes,
      help: 'Bytes of an event at most; one that is larger without its objects is dropped.',
      section,
    }),
    version: flag.string({
      name: name('version'),
      default: 'audit.k8s.io/v1',
      help: 'API group and version of the events.',
      section,
    }),
  };
};

const log = backendFlags('log', {
  mode: 'blocking',
  batchEventsMax: 1,
  batchWaitMs: 0,
  throttle: false,
  perSecond: 0,
  burst: 0,
});
const webhook = backendFlags('webhook', {
  mode: 'batch',
  batchEventsMax: webhookBatchEventsMax,
  batchWaitMs,
  throttle: true,
  perSecond: batchesPerSecond,
  burst: batchBurst,
});

type Prefixed<P extends string, T> = { [K in keyof T & string as `${P}${Capitalize<K>}`]: T[K] };

const prefixed = <P extends string, T extends Record<string, unknown>>(prefix: P, table: T): Prefixed<P, T> =>
  Object.fromEntries(
    Object.entries(table).map(([key, value]) => [`${prefix}${key.charAt(0).toUpperCase()}${key.slice(1)}`, value]),
  ) as Prefixed<P, T>;

export const auditFlags = {
  auditPolicyFile: flag.string({
    name: 'audit-policy-file',
    default: '',
    help: 'File with the policy of what is recorded.',
    section,
  }),
  auditLogPath: flag.string({
    name: 'audit-log-path',
    default: '',
    help: "File that events are written to; '-' is standard output.",
    section,
  }),
  auditLogFormat: flag.string({ name: 'audit-log-format', default: 'json', help: 'Format of events: legacy or json.', section }),
  auditLogMaxAge: flag.int({
    name: 'audit-log-maxage',
    default: logDaysMax,
    help: 'Days that old log files are kept; 0: for ever.',
    section,
  }),
  auditLogMaxBackup: flag.int({
    name: 'audit-log-maxbackup',
    default: logBackupsMax,
    help: 'Old log files that are kept; 0: all.',
    section,
  }),
  auditLogMaxSize: flag.int({
    name: 'audit-log-maxsize',
    default: logMegabytesMax,
    help: 'Megabytes of the log file before a new one is begun; 0: never.',
    section,
  }),
  auditLogCompress: flag.bool({ name: 'audit-log-compress', default: false, help: 'Compress old log files.', section }),
  auditWebhookConfigFile: flag.string({
    name: 'audit-webhook-config-file',
    default: '',
    help: 'Kubeconfig of the server that events are posted to.',
    section,
  }),
  auditWebhookInitialBackoffMs: flag.duration({
    name: 'audit-webhook-initial-backoff',
    default: webhookBackoffMs,
    help: 'Wait before a post that failed is tried again.',
    section,
  }),
  ...prefixed('auditLog', log),
  ...prefixed('auditWebhook', webhook),
};

type Values = FlagValues<typeof auditFlags>;

/** The common options of one backend out of the flags' values. */
const backendOf = (values: Values, backend: 'auditLog' | 'auditWebhook') => ({
  mode: values[`${backend}Mode`],
  bufferEventsMax: values[`${backend}BufferEventsMax`],
  batchEventsMax: values[`${backend}BatchEventsMax`],
  batchWaitMs: values[`${backend}BatchWaitMs`],
  throttle: values[`${backend}Throttle`],
  perSecond: values[`${backend}PerSecond`],
  burst: values[`${backend}Burst`],
  truncate: values[`${backend}Truncate`],
  truncateBatchBytes: values[`${backend}TruncateBatchBytes`],
  truncateEventBytes: values[`${backend}TruncateEventBytes`],
  version: values[`${backend}Version`],
});

export const auditOptionsOf = (values: Values): AuditOptions => ({
  policyFile: values.auditPolicyFile,
  log: {
    ...backendOf(values, 'auditLog'),
    path: values.auditLogPath,
    format: values.auditLogFormat,
    daysMax: values.auditLogMaxAge,
    backupsMax: values.auditLogMaxBackup,
    megabytesMax: values.auditLogMaxSize,
    compress: values.auditLogCompress,
  },
  webhook: {
    ...backendOf(values, 'auditWebhook'),
    configFile: values.auditWebhookConfigFile,
    backoffMs: values.auditWebhookInitialBackoffMs,
  },
});
