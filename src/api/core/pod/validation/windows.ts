// Rules of Windows pods (pkg/apis/core/validation, validateWindowsSecurityContextOptions, validateWindowsHostProcessPod, validateWindows).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, isDNS1123Subdomain } from '#apimachinery/validation';
import { isEmpty, type Report } from '../../../common/report.ts';
import { visitContainers } from '../containers.ts';
import type { PodRules } from './rules.ts';

const credentialSpecKibMax = 64;
const domainLengthMax = 256;
const userLengthMax = 104;
const control = /\p{Cc}/u;
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsDomain = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`);
const forbiddenInUser = /["/\\:;|=,+*?<>@[\]]/;

export function validateWindowsOptions(
  report: Report,
  path: Path,
  options: core.WindowsSecurityContextOptions | undefined,
): void {
  if (!options) return;
  const { gmsaCredentialSpecName: specName, gmsaCredentialSpec: spec, runAsUserName } = options;
  if (specName !== undefined) report.problems(path.child('gmsaCredentialSpecName'), specName, isDNS1123Subdomain(specName));
  const at = path.child('gmsaCredentialSpec');
  if (spec === '') report.invalid(at, spec, 'gmsaCredentialSpec cannot be an empty string');
  else if (spec !== undefined && byteLength(spec) > credentialSpecKibMax * 1024) {
    report.invalid(at, spec, `gmsaCredentialSpec size must be under ${credentialSpecKibMax} KiB`);
  }
  if (runAsUserName === undefined) return;
  for (const problem of userNameProblems(runAsUserName))
    report.invalid(path.child('runAsUserName'), runAsUserName, `runAsUserName${problem}`);
}

function userNameProblems(name: string): string[] {
  if (name === '') return [' cannot be an empty string'];
  if (control.test(name)) return [' cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const domain = parts.length === 2 ? parts[0] : undefined;
  const user = parts[parts.length - 1] ?? '';
  const problems: string[] = [];
  if (byteLength(domain ?? '') >= domainLengthMax) problems.push(`'s Domain length must be under ${domainLengthMax} characters`);
  if (domain !== undefined && !netBios.test(domain) && !dnsDomain.test(domain))
    problems.push("'s Domain doesn't match the NetBios nor the DNS format");
  if (user === '') problems.push("'s User cannot be empty");
  else if (byteLength(user) > userLengthMax) problems.push(`'s User length must not be longer than ${userLengthMax} characters`);
  if (/^[. ]+$/.test(user)) problems.push("'s User cannot contain only periods or spaces");
  if (forbiddenInUser.test(user)) problems.push('\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  return problems;
}

/** Requires that all containers of a pod are HostProcess containers on the host's network, or none of them is. */
export function validateHostProcess(report: Report, path: Path, spec: core.PodSpec, rules: PodRules): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let hostProcess = 0;
  visitContainers(spec, path, ({ securityContext }, at) => {
    containers++;
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      report.invalid(
        at.child('securityContext', 'windowsOptions', 'hostProcess'),
        own,
        `pod hostProcess value must be identical if both are specified, was ${ofPod}`,
      );
    }
    if (own ?? ofPod) hostProcess++;
  });
  if (hostProcess === 0) return;
  if (hostProcess !== containers)
    report.invalid(path, '', 'If pod contains any hostProcess containers then all containers must be HostProcess containers');
  if (!spec.hostNetwork)
    report.invalid(path.child('hostNetwork'), false, 'hostNetwork must be true if pod contains any hostProcess containers');
  if (!rules.allowPrivileged) report.forbidden(path, 'hostProcess containers are disallowed by cluster policy');
}

const podFields: [keyof core.PodSecurityContext | keyof core.PodSpec, boolean][] = [
  ['appArmorProfile', true],
  ['seLinuxOptions', true],
  ['hostUsers', false],
  ['hostPID', false],
  ['hostIPC', false],
  ['seccompProfile', true],
  ['fsGroup', true],
  ['fsGroupChangePolicy', true],
  ['sysctls', true],
  ['shareProcessNamespace', false],
  ['runAsUser', true],
  ['runAsGroup', true],
  ['supplementalGroups', true],
  ['supplementalGroupsPolicy', true],
  ['seLinuxChangePolicy', true],
];
const containerFields: (keyof core.SecurityContext)[] = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
];

/** What `spec.os` says about the fields that only make sense on the other system. */
export function validateOS(report: Report, path: Path, spec: core.PodSpec): void {
  if (!spec.os) return;
  const { name } = spec.os;
  if (isEmpty(name)) report.required(path.child('os', 'name'));
  else if (name === 'linux') validateLinux(report, path, spec);
  else if (name === 'windows') validateWindows(report, path, spec);
  else report.notSupported(path.child('os'), name, ['linux', 'windows']);
}

function validateLinux(report: Report, path: Path, spec: core.PodSpec): void {
  const detail = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions) report.forbidden(path.child('securityContext', 'windowsOptions'), detail);
  visitContainers(spec, path, ({ securityContext }, at) => {
    if (securityContext?.windowsOptions) report.forbidden(at.child('securityContext', 'windowsOptions'), detail);
  });
}

function validateWindows(report: Report, path: Path, spec: core.PodSpec): void {
  const detail = 'cannot be set for a windows pod';
  for (const [name, inContext] of podFields) {
    const value = inContext ? spec.securityContext?.[name as keyof core.PodSecurityContext] : spec[name as keyof core.PodSpec];
    const unset =
      value === undefined ||
      ((name === 'hostPID' || name === 'hostIPC') && value === false) ||
      (name === 'sysctls' && isEmpty(value));
    if (!unset) report.forbidden(inContext ? path.child('securityContext', name) : path.child(name), detail);
  }
  visitContainers(spec, path, ({ securityContext }, at) => {
    for (const name of containerFields) {
      if (securityContext?.[name] !== undefined) report.forbidden(at.child('securityContext', name), detail);
    }
  });
}
