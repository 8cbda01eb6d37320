// Metrics of admission by upstream's names (k8s.io/apiserver/pkg/admission/metrics): each plugin, each step of the chain, and each webhook.
import type { Histogram, Metrics } from '#component-base';
import type { Clock } from '#utils';
import type { AdmissionPlugin, AdmissionRequest } from '../registry/generic/admission.ts';
import type { AdmissionChain } from '../registry/generic/types.ts';

const buckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];
type Phase = 'admit' | 'validate';
type Work<Done> = (request: AdmissionRequest) => Done;
type Pending = Promise<void> | undefined;
type Observe = (request: AdmissionRequest, seconds: number, rejected: boolean) => void;

/** Times some work by the phase, the operation, and whether it refused; what does not wait stays so. */
function timed(clock: Clock, work: Work<void | Promise<void>>, observe: Observe): Work<Pending> {
  return (request) => {
    const started = clock.monotonic();
    const over = (rejected: boolean): void => observe(request, (clock.monotonic() - started) / 1000, rejected);
    const refused = (error: unknown): never => {
      over(true);
      throw error;
    };
    let pending: void | Promise<void>;
    try {
      pending = work(request);
    } catch (error) {
      return refused(error);
    }
    if (pending) return pending.then(() => over(false), refused);
    over(false);
    return undefined;
  };
}

/** Observes with the labels `first`, the operation and whether it refused; the children of what is not refused are kept. */
function observer(durations: Histogram, ...first: string[]): Observe {
  const accepted = new Map<string, ReturnType<Histogram['labels']>>();
  return ({ operation }, seconds, rejected) => {
    if (rejected) return durations.observe(seconds, ...first, operation, rejected);
    let child = accepted.get(operation);
    if (!child) accepted.set(operation, (child = durations.labels(...first, operation, rejected)));
    child.observe(seconds);
  };
}

/** The plugins, each counted and timed under its name. */
export function measuredPlugins(plugins: readonly AdmissionPlugin[], metrics: Metrics, clock: Clock): AdmissionPlugin[] {
  const durations = metrics.histogram({
    name: 'apiserver_admission_controller_admission_duration_seconds',
    help: 'Admission controller latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets,
  });
  return plugins.map((plugin) => {
    const measured = (phase: Phase): Partial<AdmissionPlugin> => {
      const work = plugin[phase]?.bind(plugin);
      if (!work) return {};
      return { [phase]: timed(clock, work, observer(durations, plugin.name, phase)) };
    };
    return {
      name: plugin.name,
      handles: (operation) => plugin.handles(operation),
      ...measured('admit'),
      ...measured('validate'),
    };
  });
}

/** The chain with both of its steps timed. */
export function measuredChain(chain: AdmissionChain, metrics: Metrics, clock: Clock): AdmissionChain {
  const durations = metrics.histogram({
    name: 'apiserver_admission_step_admission_duration_seconds',
    help: 'Admission sub-step latency histogram in seconds, broken out for each operation and API resource and step type (validate or admit).',
    labels: ['type', 'operation', 'rejected'],
    buckets,
  });
  const step = (phase: Phase): Work<Pending> => timed(clock, (request) => chain[phase](request), observer(durations, phase));
  return { admit: step('admit'), validate: step('validate') };
}

/** How the call of one webhook ended, for the metrics. */
export interface ObservedCall {
  name: string;
  operation: string;
  seconds: number;
  rejected: boolean;
  errorType: 'calling_webhook_error' | 'apiserver_internal_error' | 'no_error';
  /** The code of the refusal; 200 where nothing was refused. */
  code: number;
  failedOpen: boolean;
}

const codeMax = 600;

export function webhookMetrics(metrics: Metrics, phase: Phase): (call: ObservedCall) => void {
  // What upstream calls a validating webhook's type here is not what it is called for plugins.
  const type = phase === 'admit' ? 'admit' : 'validating';
  const durations = metrics.histogram({
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    help: 'Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and type (validate or admit).',
    labels: ['name', 'type', 'operation', 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  });
  const requests = metrics.counter({
    name: 'apiserver_admission_webhook_request_total',
    help: 'Admission webhook request total, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify whether the request was rejected or not and an HTTP status code. Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.',
    labels: ['name', 'type', 'operation', 'code', 'rejected'],
  });
  const rejections = metrics.counter({
    name: 'apiserver_admission_webhook_rejection_count',
    help: 'Admission webhook rejection count, identified by name and broken out for each admission type (validating or admit) and operation. Additional labels specify an error type (calling_webhook_error or apiserver_internal_error if an error occurred; no_error otherwise) and optionally a non-zero rejection code if the webhook rejects the request with an HTTP status code (honored by the apiserver when the code is greater or equal to 400). Codes greater than 600 are truncated to 600, to keep the metrics cardinality bounded.',
    labels: ['name', 'type', 'operation', 'error_type', 'rejection_code'],
  });
  const failedOpen = metrics.counter({
    name: 'apiserver_admission_webhook_fail_open_count',
    help: 'Admission webhook fail open count, identified by name and broken out for each admission type (validating or admit).',
    labels: ['name', 'type'],
  });
  return (call) => {
    const { name, operation, rejected, errorType } = call;
    const code = Math.min(call.code, codeMax);
    durations.observe(call.seconds, name, type, operation, rejected);
    requests.inc(1, name, type, operation, code, rejected);
    if (rejected) rejections.inc(1, name, type, operation, errorType, errorType === 'apiserver_internal_error' ? 0 : code);
    if (call.failedOpen) failedOpen.inc(1, name, type);
  };
}
