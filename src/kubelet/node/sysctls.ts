// Which settings of the kernel a pod may ask for: those of its own namespaces that cannot hurt its neighbours, and what the administrator allows
// besides (https://kubernetes.io/docs/tasks/administer-cluster/sysctl-cluster/; upstream pkg/kubelet/sysctl). Pure.
import type { Pod } from '#api/core/v1';
import { quote } from '#utils';
import type { Refusal } from './admission.ts';

type Namespace = 'IPC' | 'Net';

/** Safe settings, and the first kernel in which each is a matter of its namespace. */
const safe: readonly [name: string, kernel?: string][] = [
  ['kernel.shm_rmid_forced'],
  ['net.ipv4.ip_local_port_range'],
  ['net.ipv4.tcp_syncookies'],
  ['net.ipv4.ping_group_range'],
  ['net.ipv4.ip_unprivileged_port_start'],
  ['net.ipv4.ip_local_reserved_ports', '3.16'],
  ['net.ipv4.tcp_keepalive_time', '4.5'],
  ['net.ipv4.tcp_fin_timeout', '4.6'],
  ['net.ipv4.tcp_keepalive_intvl', '4.5'],
  ['net.ipv4.tcp_keepalive_probes', '4.5'],
  ['net.ipv4.tcp_rmem', '4.15'],
  ['net.ipv4.tcp_wmem', '4.15'],
];

/** Settings of the IPC namespace; `kernel.shm` and `kernel.msg` stand for patterns that begin with them. */
const ipcNames: ReadonlySet<string> = new Set(
  ['sem', 'shmall', 'shmmax', 'shmmni', 'shm_rmid_forced', 'shm', 'msgmax', 'msgmnb', 'msgmni', 'msg'].map(
    (name) => `kernel.${name}`,
  ),
);

function namespaceOf(name: string): Namespace | undefined {
  if (ipcNames.has(name) || name.startsWith('fs.mqueue.')) return 'IPC';
  return name.startsWith('net.') ? 'Net' : undefined;
}

/** The name with dots between its parts (sysctl.d(5)): where a slash comes first, slashes are dots and dots are slashes. */
export function dottedSysctl(name: string): string {
  if (/[./]/.exec(name)?.[0] !== '/') return name;
  return name.replace(/[./]/g, (char) => (char === '/' ? '.' : '/'));
}

const patternText = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const patternForm = new RegExp(`^${patternText}$`);
const sysctlCharsMax = 253;

/** Whether a kernel, e.g. `6.1.0-18-amd64`, is of that version or newer. That of a simulated machine has no number, and everything. */
function atLeast(kernel: string, wanted: string): boolean {
  if (!/^\d/.test(kernel)) return true;
  const [major = 0, minor = 0] = kernel.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [wantedMajor = 0, wantedMinor = 0] = wanted.split('.').map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}

interface Rule {
  name: string;
  isPrefix: boolean;
  namespace: Namespace;
}

/** A name, or a pattern that ends in `*`. Throws for what is not known to belong to a namespace. */
function ruleOf(pattern: string): Rule {
  if (pattern.length > sysctlCharsMax || !patternForm.test(pattern))
    throw new Error(`sysctl ${quote(pattern)} must have at most ${sysctlCharsMax} characters and match regex ${patternText}`);
  const dotted = dottedSysctl(pattern);
  const star = dotted.indexOf('*');
  const name = star < 0 ? dotted : dotted.slice(0, star);
  const namespace = namespaceOf(name);
  if (namespace === undefined) throw new Error(`the sysctls ${quote(name)} are not known to be namespaced`);
  return { name, isPrefix: star >= 0, namespace };
}

export interface SysctlRules {
  refusalOf(pod: Pod): Refusal | undefined;
}

/** `allowed`: `--allowed-unsafe-sysctls`. Throws for a pattern that cannot be allowed. */
export function sysctlRules(allowed: readonly string[], kernelVersion: string): SysctlRules {
  const known = safe.filter(([, kernel]) => kernel === undefined || atLeast(kernelVersion, kernel)).map(([name]) => name);
  const rules = [...known, ...allowed].map(ruleOf);
  const why = (given: string, pod: Pod): string | undefined => {
    const name = dottedSysctl(given);
    const rule =
      rules.find((candidate) => !candidate.isPrefix && candidate.name === name) ??
      rules.find((candidate) => candidate.isPrefix && name.startsWith(candidate.name));
    if (rule === undefined) return `${quote(name)} not allowlisted`;
    const shared = rule.namespace === 'IPC' ? pod.spec?.hostIPC : pod.spec?.hostNetwork;
    return shared ? `${quote(name)} not allowed with host ${rule.namespace} enabled` : undefined;
  };
  return {
    refusalOf(pod) {
      for (const { name } of pod.spec?.securityContext?.sysctls ?? []) {
        const problem = why(name, pod);
        if (problem !== undefined) return { reason: 'SysctlForbidden', message: `forbidden sysctl: ${problem}` };
      }
      return undefined;
    },
  };
}
