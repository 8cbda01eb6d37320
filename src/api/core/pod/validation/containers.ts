// Rules of containers of all three sorts (pkg/apis/core/validation, validateContainers, validateInitContainers,
// validateEphemeralContainers).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isDNS1123Label, isPortName, isPortNumber } from '#apimachinery/validation';
import { isEmpty, isEmptyMap, type Report } from '../../../common/report.ts';
import { validateContainerResources } from '../../common/resources.ts';
import { type AnyContainer, isSidecar } from '../containers.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { validateVolumeDevices, validateVolumeMounts } from './mounts.ts';
import { validateLifecycle, validateProbes } from './probes.ts';
import { validatePullPolicy } from './pull-policy.ts';
import { validateResizePolicy, validateRestartRules } from './restart-rules.ts';
import type { PodRules } from './rules.ts';
import { validateSecurityContext } from './security-context.ts';

export interface ContainerContext {
  spec: core.PodSpec;
  volumes: ReadonlyMap<string, core.Volume>;
  rules: PodRules;
}

export const protocols = ['SCTP', 'TCP', 'UDP'];

function validatePorts(report: Report, path: Path, ports: core.ContainerPort[] | undefined): void {
  const names = new Set<string>();
  ports?.forEach((port, index) => {
    const at = path.index(index);
    if (port.name) {
      const problems = isPortName(port.name);
      report.problems(at.child('name'), port.name, problems);
      if (problems.length === 0 && names.has(port.name)) report.duplicate(at.child('name'), port.name);
      names.add(port.name);
    }
    if (!port.containerPort) report.required(at.child('containerPort'));
    else report.problems(at.child('containerPort'), port.containerPort, isPortNumber(port.containerPort));
    if (port.hostPort) report.problems(at.child('hostPort'), port.hostPort, isPortNumber(port.hostPort));
    report.oneOf(at.child('protocol'), port.protocol, protocols);
  });
}

function validateHostPorts(report: Report, containers: core.Container[], at: (index: number) => Path): void {
  const seen = new Set<string>();
  containers.forEach((container, index) => {
    container.ports?.forEach(({ protocol, hostIP, hostPort }, port) => {
      if (!hostPort) return;
      const key = `${protocol}/${hostIP ?? ''}/${hostPort}`;
      if (seen.has(key)) report.duplicate(at(index).child('ports').index(port).child('hostPort'), key);
      seen.add(key);
    });
  });
}

function validateCommon(report: Report, path: Path, container: AnyContainer, { spec, volumes, rules }: ContainerContext): void {
  if (isEmpty(container.name)) report.required(path.child('name'));
  else report.problems(path.child('name'), container.name, isDNS1123Label(container.name));
  report.need(path, container, 'image');
  report.oneOf(path.child('terminationMessagePolicy'), container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError']);
  validatePorts(report, path.child('ports'), container.ports);
  validateEnv(report, path.child('env'), container.env);
  validateEnvFrom(report, path.child('envFrom'), container.envFrom);
  validateVolumeMounts(report, path.child('volumeMounts'), container, volumes);
  validateVolumeDevices(report, path.child('volumeDevices'), container, volumes);
  validatePullPolicy(report, path.child('imagePullPolicy'), container.imagePullPolicy);
  validateContainerResources(report, path.child('resources'), container.resources, rules);
  validateResizePolicy(report, path.child('resizePolicy'), container.resizePolicy, spec.restartPolicy);
  validateSecurityContext(report, path.child('securityContext'), container.securityContext, spec.hostUsers !== false, rules);
}

export function validateContainers(report: Report, path: Path, context: ContainerContext): void {
  const { containers, terminationGracePeriodSeconds: grace } = context.spec;
  if (isEmpty(containers)) return report.required(path);
  const names = new Set<string>();
  containers.forEach((container, index) => {
    const at = path.index(index);
    validateCommon(report, at, container, context);
    if (names.has(container.name ?? '')) report.duplicate(at.child('name'), container.name ?? '');
    names.add(container.name ?? '');
    validateLifecycle(report, at.child('lifecycle'), container.lifecycle, grace);
    validateProbes(report, at, container, grace);
    validateRestartRules(report, at, container);
  });
  validateHostPorts(report, containers, (index) => path.index(index));
}

const onlySidecars = 'may not be set for init containers without restartPolicy=Always';

export function validateInitContainers(report: Report, path: Path, context: ContainerContext): void {
  const { spec, rules } = context;
  const names = new Set((spec.containers ?? []).map(({ name }) => name ?? ''));
  spec.initContainers?.forEach((container, index) => {
    const at = path.index(index);
    validateCommon(report, at, container, context);
    validateRestartRules(report, at, container, true);
    if (names.has(container.name ?? '')) report.duplicate(at.child('name'), container.name ?? '');
    else if (container.name) names.add(container.name);
    // Upstream counts within the one container it looks at, so the path's index is always 0.
    validateHostPorts(report, [container], () => path.index(0));
    if (isSidecar(container)) {
      validateLifecycle(report, at.child('lifecycle'), container.lifecycle, spec.terminationGracePeriodSeconds);
      validateProbes(report, at, container, spec.terminationGracePeriodSeconds);
      return;
    }
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
      if (container[field]) report.forbidden(at.child(field), onlySidecars);
    }
    if (rules.allowRestartContainerForInit) return;
    container.resizePolicy?.forEach(({ restartPolicy }, item) => {
      if (restartPolicy !== 'RestartContainer') return;
      const field = at.child('resizePolicy').index(item).child('restartPolicy');
      report.invalid(field, restartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers");
    });
  });
}

// In the order of upstream's struct.
const forbiddenInEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const notForEphemeral = 'cannot be set for an Ephemeral Container';

export function validateEphemeralContainers(report: Report, path: Path, context: ContainerContext): void {
  const { spec } = context;
  const others = new Set([...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ name }) => name));
  const names = new Set(others);
  spec.ephemeralContainers?.forEach((container, index) => {
    const at = path.index(index);
    validateCommon(report, at, container, context);
    validateImageSpace(report, at, container);
    if (names.has(container.name)) report.duplicate(at.child('name'), container.name ?? '');
    names.add(container.name);
    const target = container.targetContainerName;
    if (target && !others.has(target)) report.notFound(at.child('targetContainerName'), target);
    for (const field of forbiddenInEphemeral) {
      const value = container[field];
      const unset =
        typeof value === 'object' && !Array.isArray(value) && field === 'resources' ? isEmptyMap(value) : isEmpty(value);
      if (!unset) report.forbidden(at.child(field), notForEphemeral);
    }
    container.volumeMounts?.forEach(({ subPath, subPathExpr }, item) => {
      const mount = at.child('volumeMounts').index(item);
      if (subPath) report.forbidden(mount.child('subPath'), notForEphemeral);
      if (subPathExpr) report.forbidden(mount.child('subPathExpr'), notForEphemeral);
    });
  });
}

/** Refuses an image with white space around it. Only pods are checked for this, so that templates from before the rule stay valid. */
export function validateImageSpace(report: Report, path: Path, { image = '' }: AnyContainer): void {
  if (image.trim() !== image) report.invalid(path.child('image'), image, 'must not have leading or trailing whitespace');
}
