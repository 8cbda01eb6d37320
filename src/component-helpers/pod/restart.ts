// When a container that stopped is started again (KEP-127 pods' restartPolicy, KEP-753 sidecars, KEP-5307 container restart rules).
import type { Container, ContainerRestartRule, Pod, PodSpec } from '#api/core/v1';

/** A sidecar: an init container that keeps running beside the others. */
export const isRestartableInitContainer = (container: Container): boolean => container.restartPolicy === 'Always';

function ruleMatches(rule: ContainerRestartRule, exitCode: number): boolean {
  const codes = rule.exitCodes;
  if (codes === undefined) return false;
  const listed = (codes.values ?? []).includes(exitCode);
  return codes.operator === 'In' ? listed : codes.operator === 'NotIn' && !listed;
}

const byPolicy = (policy: string | undefined, exitCode: number): boolean =>
  policy === 'Never' ? false : policy === 'OnFailure' ? exitCode !== 0 : true;

/** Whether a container that ended with `exitCode` is to run again. */
export function containerShouldRestart(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (container.restartPolicy === undefined) return byPolicy(spec.restartPolicy, exitCode);
  const rule = container.restartPolicyRules?.find((candidate) => ruleMatches(candidate, exitCode));
  return rule?.action === 'Restart' || byPolicy(container.restartPolicy, exitCode);
}

/** Every container of the pod in the order upstream lists them: init, regular, ephemeral. */
const allContainers = (pod: Pod): Container[] => [
  ...(pod.spec?.initContainers ?? []),
  ...(pod.spec?.containers ?? []),
  ...(pod.spec?.ephemeralContainers ?? []),
];

export const findContainer = (pod: Pod, name: string): Container | undefined =>
  allContainers(pod).find((container) => container.name === name);
