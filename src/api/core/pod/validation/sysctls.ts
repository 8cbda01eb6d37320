// Kernel parameters of a pod (pkg/apis/core/validation, validateSysctls; k8s.io/component-helpers/node/util/sysctl).
import type { PodSpec } from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { byteLength } from '#apimachinery/validation';
import { isEmpty, type Report } from '../../../common/report.ts';
import type { PodRules } from './rules.ts';

const lengthMax = 253;
const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const pattern = `^(${segment}[\\./])*${segment}$`;
const grammar = new RegExp(pattern);

const ipcNames = new Set(
  ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'].map(
    (name) => `kernel.${name}`,
  ),
);

/** Which namespace a parameter belongs to: a pod that shares the host's cannot set it. */
function namespaceOf(sysctl: string): 'IPC' | 'Net' | undefined {
  const firstSeparator = /[./]/.exec(sysctl)?.[0];
  const dotted = firstSeparator === '/' ? sysctl.replace(/[./]/g, (char) => (char === '/' ? '.' : '/')) : sysctl;
  const name = dotted.split('*')[0] ?? '';
  if (ipcNames.has(name) || name.startsWith('fs.mqueue.')) return 'IPC';
  return name.startsWith('net.') ? 'Net' : undefined;
}

/** Why the pod's host namespaces forbid this parameter, if they do. */
export function hostSysctlProblem(sysctl: string, spec: PodSpec): string | undefined {
  const namespace = namespaceOf(sysctl);
  if (spec.hostNetwork && namespace === 'Net') return "may not be specified when 'hostNetwork' is true";
  if (spec.hostIPC && namespace === 'IPC') return "may not be specified when 'hostIPC' is true";
  return undefined;
}

export function validateSysctls(report: Report, path: Path, spec: PodSpec, rules: PodRules): void {
  const seen = new Set<string>();
  spec.securityContext?.sysctls?.forEach(({ name }, index) => {
    const at = path.index(index).child('name');
    if (isEmpty(name)) report.required(at);
    else if (byteLength(name) > lengthMax || !grammar.test(name)) {
      report.invalid(at, name, `must have at most ${lengthMax} characters and match regex ${pattern}`);
    } else if (seen.has(name)) report.duplicate(at, name);
    const problem = rules.allowHostSysctls ? undefined : hostSysctlProblem(name ?? '', spec);
    if (problem !== undefined) report.invalid(at, name, problem);
    seen.add(name);
  });
}
