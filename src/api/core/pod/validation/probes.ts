// Rules of probes and lifecycle hooks (pkg/apis/core/validation, validateProbe, validateHandler, validateLifecycle).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isHTTPHeaderName, isPortName, isPortNumber } from '#apimachinery/validation';
import { nonnegativeFields } from '../../../common/numbers.ts';
import type { Report } from '../../../common/report.ts';

type Handler = core.ProbeHandler & core.LifecycleHandler;
type Action = {
  [K in keyof Handler]-?: (report: Report, path: Path, action: NonNullable<Handler[K]>, gracePeriod: number | undefined) => void;
};

export function validatePort(report: Report, path: Path, port: number | string | undefined): void {
  if (typeof port === 'string') report.problems(path, port, isPortName(port));
  else report.problems(path, port ?? 0, isPortNumber(port ?? 0));
}

const actions: Action = {
  exec: (report, path, exec) => report.need(path, exec, 'command'),
  httpGet(report, path, action) {
    report.need(path, action, 'path');
    validatePort(report, path.child('port'), action.port);
    report.known(path.child('scheme'), action.scheme, ['HTTP', 'HTTPS']);
    for (const { name } of action.httpHeaders ?? []) report.problems(path.child('httpHeaders'), name, isHTTPHeaderName(name));
  },
  tcpSocket: (report, path, { port }) => validatePort(report, path.child('port'), port),
  grpc: (report, path, { port }) => validatePort(report, path.child('port'), port),
  sleep(report, path, { seconds }, gracePeriod) {
    if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return;
    report.invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`);
  },
};

function validateHandler(report: Report, path: Path, handler: Handler, gracePeriod: number | undefined): void {
  let found = 0;
  for (const name in actions) {
    const key = name as keyof Handler;
    const action = handler[key];
    if (action === undefined || action === null) continue;
    if (found++ > 0) report.forbidden(path.child(name), 'may not specify more than 1 handler type');
    else (actions[key] as Action['exec'])(report, path.child(name), action as core.ExecAction, gracePeriod);
  }
  if (found === 0) report.required(path, 'must specify a handler type');
}

function validateProbe(report: Report, path: Path, probe: core.Probe, gracePeriod: number | undefined): void {
  validateHandler(report, path, probe, gracePeriod);
  nonnegativeFields(
    report,
    path,
    probe,
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  );
  const own = probe.terminationGracePeriodSeconds;
  if (own !== undefined && own <= 0) report.invalid(path.child('terminationGracePeriodSeconds'), own, 'must be greater than 0');
}

/** All three probes of a container. */
export function validateProbes(report: Report, path: Path, container: core.Container, gracePeriod: number | undefined): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) validateOnceSuccessful(report, path.child('livenessProbe'), livenessProbe, gracePeriod);
  if (readinessProbe) {
    const at = path.child('readinessProbe');
    validateProbe(report, at, readinessProbe, gracePeriod);
    const own = readinessProbe.terminationGracePeriodSeconds;
    if (own !== undefined) report.invalid(at.child('terminationGracePeriodSeconds'), own, 'must not be set for readinessProbes');
  }
  if (startupProbe) validateOnceSuccessful(report, path.child('startupProbe'), startupProbe, gracePeriod);
}

function validateOnceSuccessful(report: Report, path: Path, probe: core.Probe, gracePeriod: number | undefined): void {
  validateProbe(report, path, probe, gracePeriod);
  if (probe.successThreshold !== 1) report.invalid(path.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1');
}

// ContainerStopSignals is off by default in v1.36, so stop signals are dropped before validation.
export function validateLifecycle(
  report: Report,
  path: Path,
  lifecycle: core.Lifecycle | undefined,
  gracePeriod: number | undefined,
): void {
  if (lifecycle?.postStart) validateHandler(report, path.child('postStart'), lifecycle.postStart, gracePeriod);
  if (lifecycle?.preStop) validateHandler(report, path.child('preStop'), lifecycle.preStop, gracePeriod);
}
