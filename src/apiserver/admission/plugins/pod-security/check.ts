// What a rule of the Pod Security Standards is (https://kubernetes.io/docs/concepts/security/pod-security-standards/), and the wording
// all rules share.
import type { Container, PodSpec, SecurityContext } from '#api/core/v1';
import type { ObjectMeta } from '#apimachinery/meta';

export interface PodView {
  metadata: ObjectMeta;
  spec: PodSpec;
}

export interface Violation {
  reason: string;
  detail: string;
}

export type CheckPod = (pod: PodView) => Violation | undefined;

/** One rule; `versions` are ascending minors of 1.x from which that form of the rule holds. */
export interface Check {
  id: string;
  versions: readonly { since: number; check: CheckPod }[];
  /** Restricted rules that stand in for a baseline one. */
  overrides?: string;
}

/** All containers of a pod: init, normal and ephemeral ones. */
export const containersOf = ({ spec }: PodView): Container[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...((spec.ephemeralContainers ?? []) as Container[]),
];

export const quoted = (items: readonly string[]): string => items.map((item) => `"${item}"`).join(', ');

export const plural = (one: string, many: string, count: number): string => (count === 1 ? one : many);

/** A noun and the names it stands for: `container "a"`, or `containers "a", "b"`. */
export const named = (one: string, names: readonly string[]): string =>
  `${plural(one, `${one}s`, names.length)} ${quoted(names)}`;

export const sorted = (items: Iterable<string>): string[] => [...new Set(items)].sort();

/** Names who sets something: `pod and container "a"`. */
export const setters = (pod: boolean, containers: readonly string[]): string =>
  [...(pod ? ['pod'] : []), ...(containers.length > 0 ? [named('container', containers)] : [])].join(' and ');

/** Names of the containers that pass the test. */
export const containersWhere = (pod: PodView, test: (container: Container) => boolean): string[] =>
  containersOf(pod)
    .filter(test)
    .map((container) => container.name);

/** Names of the containers that have a security context for which `test` holds. */
export const contextsWhere = (pod: PodView, test: (context: SecurityContext) => boolean): string[] =>
  containersWhere(pod, ({ securityContext }) => securityContext !== undefined && test(securityContext));

export const isWindows = ({ spec }: PodView): boolean => spec.os?.name === 'windows';

/** The rules that user namespaces make unnecessary (KEP-127). */
export const unlessUserNamespace =
  (check: CheckPod): CheckPod =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod);

export const unlessWindows =
  (check: CheckPod): CheckPod =>
  (pod) =>
    isWindows(pod) ? undefined : check(pod);
