// Node labels that have been replaced, and the warnings for using them (pkg/api/node).
import type { NodeSelectorTerm } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { isLabelValue } from '#apimachinery/validation';

const replaced: Record<string, string> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  'app.kubernetes.io/created-by': 'deprecated since v1.9',
  'scheduler.alpha.kubernetes.io/preferAvoidPods': 'deprecated since v1.22; use Taints and Tolerations instead',
  'node-role.kubernetes.io/master': 'use "node-role.kubernetes.io/control-plane" instead',
};

/** What to say about a label key; undefined: it is fine. */
export const nodeLabelWarning = (key: string): string | undefined => (Object.hasOwn(replaced, key) ? replaced[key] : undefined);

export function nodeSelectorTermWarnings(path: Path, term: NodeSelectorTerm | undefined, checkValues: boolean): string[] {
  return (term?.matchExpressions ?? []).flatMap(({ key, values }, index) => {
    const at = path.child('matchExpressions').index(index);
    const message = nodeLabelWarning(key);
    const warnings = message === undefined ? [] : [`${at.child('key').toString()}: ${key} is ${message}`];
    if (!checkValues) return warnings;
    const bad = (values ?? []).flatMap((value, item) =>
      isLabelValue(value).map((problem) => `${at.child('values').index(item).toString()}: ${value} is invalid, ${problem}`),
    );
    return [...warnings, ...bad];
  });
}
