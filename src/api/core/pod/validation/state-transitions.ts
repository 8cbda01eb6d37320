// A terminated container stays terminated unless its restart policy brings it back (pkg/apis/core/validation,
// ValidateContainerStateTransition; pkg/api/v1/pod, ContainerShouldRestart).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { firstOfEach } from '#utils';
import type { Report } from '../../../common/report.ts';

/** Whether a container that ended with `exitCode` is started again. */
export function shouldRestart(container: core.Container, podPolicy: string | undefined, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    const rule = container.restartPolicyRules?.find(({ exitCodes }) => {
      if (!exitCodes) return false;
      const listed = exitCodes.values?.includes(exitCode) ?? false;
      return exitCodes.operator === 'In' ? listed : exitCodes.operator === 'NotIn' && !listed;
    });
    if (rule?.action === 'Restart' || rule?.action === 'RestartAllContainers') return true;
  }
  const policy = container.restartPolicy ?? podPolicy;
  if (policy === 'Never') return false;
  return policy !== 'OnFailure' || exitCode !== 0;
}

const restartsAll = (spec: core.PodSpec): boolean =>
  [...(spec.initContainers ?? []), ...(spec.containers ?? [])].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );

export function validateStateTransitions(
  report: Report,
  path: Path,
  status: core.PodStatus,
  old: core.PodStatus,
  spec: core.PodSpec,
): void {
  if (!restartsAll(spec)) {
    validateList(
      report,
      path.child('containerStatuses'),
      status.containerStatuses,
      old.containerStatuses,
      spec.containers,
      spec.restartPolicy,
    );
    validateList(
      report,
      path.child('initContainerStatuses'),
      status.initContainerStatuses,
      old.initContainerStatuses,
      spec.initContainers,
      spec.restartPolicy,
    );
  }
  validateList(
    report,
    path.child('ephemeralContainerStatuses'),
    status.ephemeralContainerStatuses,
    old.ephemeralContainerStatuses,
    [],
    'Never',
  );
}

function validateList(
  report: Report,
  path: Path,
  statuses: core.ContainerStatus[] | undefined,
  old: core.ContainerStatus[] | undefined,
  containers: core.Container[] | undefined,
  podPolicy: string | undefined,
): void {
  const running = new Set(statuses?.filter(({ state }) => !state?.terminated).map(({ name }) => name));
  const named = firstOfEach(containers ?? [], ({ name }) => name);
  old?.forEach((before, index) => {
    const ended = before.state?.terminated;
    if (!ended) return;
    if (!running.has(before.name)) return;
    const container = named.get(before.name);
    if (container && shouldRestart(container, podPolicy, ended.exitCode)) return;
    report.forbidden(path.index(index).child('state'), 'may not be transitioned to non-terminated state');
  });
}
