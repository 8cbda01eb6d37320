// The audit log as flags say it, checked in upstream's words and made (k8s.io/apiserver/pkg/server/options, audit.go).
import { readText } from '../platform/files.ts';
import type { Metrics } from '#component-base';
import { aggregateTexts } from '#apimachinery/field';
import type { Clock, Logger, Rng } from '#utils';
import { type BatchOptions, bufferedSink } from './buffered.ts';
import type { Policy } from './core/policy.ts';
import { readPolicy } from './core/read-policy.ts';
import { readWebhookServer, type WebhookServer } from '../outbound/kubeconfig.ts';
import { type LogFormat, logFormats, logSink } from './log-sink.ts';
import { RotatingFile, type RotationOptions, standardOutput } from '../platform/rotating-file.ts';
import { type AuditSink, ignoringErrors, type LossReport, lossReporter, unionSink } from './sink.ts';
import { type AuditTrail, createAuditTrail, lossCounter } from './trail.ts';
import { truncatingSink } from './truncate.ts';
import { webhookSink } from './webhook-sink.ts';

export const auditModes = ['batch', 'blocking', 'blocking-strict'] as const;

/** The options that both audit backends, log and webhook, have. */
export interface BackendOptions {
  /** One of `auditModes`. */
  mode: string;
  bufferEventsMax: number;
  batchEventsMax: number;
  batchWaitMs: number;
  throttle: boolean;
  perSecond: number;
  burst: number;
  truncate: boolean;
  truncateBatchBytes: number;
  truncateEventBytes: number;
  /** `audit.k8s.io/v1`. */
  version: string;
}

export interface AuditOptions {
  policyFile: string;
  /** '' path: no log. */
  log: BackendOptions & RotationOptions & { path: string; format: string };
  /** '' configFile: no webhook. */
  webhook: BackendOptions & { configFile: string; backoffMs: number };
}

export interface AuditDeps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
  metrics: Metrics;
}

function batchProblem(plugin: string, options: BackendOptions): string | undefined {
  const { mode, bufferEventsMax, batchEventsMax, throttle, perSecond, burst } = options;
  if (!(auditModes as readonly string[]).includes(mode))
    return `invalid audit ${plugin} mode ${mode}, allowed modes are "${auditModes.join(',')}"`;
  if (mode !== 'batch') return undefined;
  const invalid = (what: string, value: number): string =>
    `invalid audit batch ${plugin} ${what} ${value}, must be a positive number`;
  if (bufferEventsMax <= 0) return invalid('buffer size', bufferEventsMax);
  if (batchEventsMax <= 0) return invalid('max batch size', batchEventsMax);
  if (throttle && perSecond <= 0) return invalid('throttle QPS', perSecond);
  return throttle && burst <= 0 ? invalid('throttle burst', burst) : undefined;
}

function truncateProblem(
  plugin: string,
  { truncateEventBytes: event, truncateBatchBytes: batch }: BackendOptions,
): string | undefined {
  if (event <= 0) return `invalid audit truncate ${plugin} max event size ${event}, must be a positive number`;
  return batch < event
    ? `invalid audit truncate ${plugin} max batch size ${batch}, must be greater than max event size (${event})`
    : undefined;
}

const versionProblem = ({ version }: BackendOptions): string | undefined =>
  version === 'audit.k8s.io/v1' ? undefined : 'invalid group version, allowed versions are ["audit.k8s.io/v1"]';

/** What is wrong with the flags; empty when they are fine. */
export function auditProblems({ log, webhook }: AuditOptions): string[] {
  const common = (plugin: string, options: BackendOptions) => [
    batchProblem(plugin, options),
    truncateProblem(plugin, options),
    versionProblem(options),
  ];
  const negative = (name: string, value: number) =>
    value < 0 ? `--audit-log-${name} ${value} can't be a negative number` : undefined;
  const ofLog = () => [
    ...common('log', log),
    (logFormats as readonly string[]).includes(log.format)
      ? undefined
      : `invalid audit log format ${log.format}, allowed formats are "${logFormats.join(',')}"`,
    negative('maxage', log.daysMax),
    negative('maxbackup', log.backupsMax),
    negative('maxsize', log.megabytesMax),
  ];
  const all = [...(log.path === '' ? [] : ofLog()), ...(webhook.configFile === '' ? [] : common('webhook', webhook))];
  return all.filter((problem) => problem !== undefined);
}

/** Reads the audit policy; undefined where no file is named. Rejects in upstream's words. */
export async function loadAuditPolicy(path: string, logger: Logger): Promise<Policy | undefined> {
  if (path === '') return undefined;
  const failed = (why: string): Error => new Error(`loading audit policy file: ${why}`);
  let text: string;
  try {
    text = await readText(path);
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no such file or directory' : (error as Error).message;
    throw failed(`failed to read file path ${JSON.stringify(path)}: open ${path}: ${why}`);
  }
  try {
    return readPolicy(text, (problem) => logger.warn(problem));
  } catch (error) {
    throw failed(`${(error as Error).message}: from file ${path}`);
  }
}

const batchOf = (options: BackendOptions, concurrent: boolean): BatchOptions => ({
  bufferEventsMax: options.bufferEventsMax,
  batchEventsMax: options.batchEventsMax,
  batchWaitMs: options.batchWaitMs,
  concurrent,
  ...(options.throttle && { throttle: { perSecond: options.perSecond, burst: options.burst } }),
});

function stacked(
  inner: AuditSink,
  options: BackendOptions,
  { clock, lost, concurrent }: { clock: Clock; lost: LossReport; concurrent: boolean },
): AuditSink {
  const { mode, truncate, truncateBatchBytes: batchBytesMax, truncateEventBytes: eventBytesMax } = options;
  const sink =
    mode === 'batch'
      ? bufferedSink(inner, batchOf(options, concurrent), clock, lost)
      : mode === 'blocking'
        ? ignoringErrors(inner)
        : inner;
  return truncate ? truncatingSink(sink, { eventBytesMax, batchBytesMax }, lost) : sink;
}

interface ReadAudit {
  policy: Policy;
  /** Who takes events; absent: no webhook does. */
  server?: WebhookServer;
}

/** What the files say that the options name; undefined where no policy is. Rejects with an Error in upstream's words. */
export async function readAudit(options: AuditOptions, logger: Logger): Promise<ReadAudit | undefined> {
  const problems = auditProblems(options);
  if (problems.length > 0) throw new Error(aggregateTexts(problems));
  const policy = await loadAuditPolicy(options.policyFile, logger);
  if (!policy) return undefined;
  if (options.webhook.configFile === '') return { policy };
  const server = await readWebhookServer(options.webhook.configFile).catch((error: Error) => {
    throw new Error(`initializing audit webhook: ${error.message}`);
  });
  return { policy, server };
}

/** Opens the audit log that the options ask for; undefined where nothing is recorded. Rejects with an Error in upstream's words. */
export async function openAudit(
  options: AuditOptions,
  { clock, rng, logger, metrics }: AuditDeps,
): Promise<AuditTrail | undefined> {
  const { log, webhook } = options;
  const read = await readAudit(options, logger);
  if (!read) {
    for (const [backend, given] of [
      ['log', log.path],
      ['webhook', webhook.configFile],
    ] as const)
      if (given !== '') logger.info(`No audit policy file provided, no events will be recorded for ${backend} backend`);
    return undefined;
  }
  const lost = lossReporter(logger, lossCounter(metrics));
  const sinks: AuditSink[] = [];
  if (log.path !== '') {
    const writer = log.path === '-' ? standardOutput : await RotatingFile.open(log.path, log, clock);
    const inner = logSink(writer, log.format as LogFormat, lost);
    sinks.push(stacked(inner, log, { clock, lost, concurrent: false }));
  }
  if (read.server)
    sinks.push(
      stacked(webhookSink(read.server, webhook.backoffMs, { clock, rng, lost }), webhook, { clock, lost, concurrent: true }),
    );
  return sinks.length === 0 ? undefined : createAuditTrail(read.policy, unionSink(sinks), metrics);
}
