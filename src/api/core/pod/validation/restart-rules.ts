// Rules of how containers restart and are resized (pkg/apis/core/validation, validateContainerRestartPolicy and validateResizePolicy;
// KEP-5307, KEP-1287).
import type { Container, ContainerResizePolicy } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import type { Report } from '../../../common/report.ts';

const rulesMax = 20;
const exitCodesMax = 255;
const policies = ['Always', 'Never', 'OnFailure'];
const actions = ['Restart', 'RestartAllContainers'];

/** `isInit`: the rules of init containers are looked at only beside a policy. */
export function validateRestartRules(
  report: Report,
  path: Path,
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  isInit = false,
): void {
  const at = path.child('restartPolicy');
  if (restartPolicy === undefined) {
    if (rules.length > 0) report.required(at, 'must specify restartPolicy when restart rules are used');
    if (isInit) return;
  } else report.known(at, restartPolicy, policies);
  if (rules.length > rulesMax) report.tooMany(path.child('restartPolicyRules'), rules.length, rulesMax);
  rules.forEach(({ action, exitCodes }, index) => {
    const rule = path.child('restartPolicyRules').index(index);
    report.known(rule.child('action'), action, actions);
    if (!exitCodes) return report.required(rule.child('exitCodes'), 'must be specified');
    report.known(rule.child('exitCodes', 'operator'), exitCodes.operator, ['In', 'NotIn']);
    const count = exitCodes.values?.length ?? 0;
    if (count > exitCodesMax) report.tooMany(rule.child('exitCodes', 'values'), count, exitCodesMax);
  });
}

export function validateResizePolicy(
  report: Report,
  path: Path,
  list: ContainerResizePolicy[] | undefined,
  podRestartPolicy: string | undefined,
): void {
  const seen = new Set<string>();
  list?.forEach(({ resourceName, restartPolicy }, index) => {
    if (seen.has(resourceName)) report.duplicate(path.index(index), resourceName);
    seen.add(resourceName);
    report.oneOf(path, resourceName, ['cpu', 'memory']);
    report.oneOf(path, restartPolicy, ['NotRequired', 'RestartContainer']);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      report.invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  });
}
