// Rules of security contexts (pkg/apis/core/validation, ValidateSecurityContext and validatePodSpecSecurityContext).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import { byteLength, isGroupID, isUserID } from '#apimachinery/validation';
import { internalForm } from '../../../common/internal-form.ts';
import { isEmpty, type Report } from '../../../common/report.ts';
import { validateLocalDescendingPath } from '../../common/paths.ts';
import type { PodRules } from './rules.ts';
import { validateSysctls } from './sysctls.ts';
import { validateWindowsOptions } from './windows.ts';

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const appArmorProfileBytesMax = 4095;

function validateIDs(report: Report, path: Path, context: core.SecurityContext & core.PodSecurityContext): void {
  if (context.fsGroup !== undefined) report.problems(path.child('fsGroup'), context.fsGroup, isGroupID(context.fsGroup));
  if (context.runAsUser !== undefined) report.problems(path.child('runAsUser'), context.runAsUser, isUserID(context.runAsUser));
  if (context.runAsGroup !== undefined)
    report.problems(path.child('runAsGroup'), context.runAsGroup, isGroupID(context.runAsGroup));
}

function validateSeccomp(report: Report, path: Path, profile: core.SeccompProfile | undefined): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  if (isEmpty(type)) report.required(path.child('type'), 'type is required when seccompProfile is set');
  else report.known(path.child('type'), type, profileTypes);
  const at = path.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined) report.required(at, 'must be set when seccomp type is Localhost');
    else validateLocalDescendingPath(report, at, localhostProfile);
  } else if (localhostProfile !== undefined) {
    report.invalid(
      at,
      { Type: type ?? '', LocalhostProfile: localhostProfile },
      'can only be set when seccomp type is Localhost',
    );
  }
}

export function validateAppArmor(report: Report, path: Path, profile: core.AppArmorProfile | undefined): void {
  if (!profile) return;
  const { type, localhostProfile } = profile;
  const at = path.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined) return report.required(at, 'must be set when AppArmor type is Localhost');
    const trimmed = localhostProfile.trim();
    if (trimmed !== localhostProfile) report.invalid(at, localhostProfile, 'must not be padded with whitespace');
    else if (trimmed === '') report.required(at, 'must be set when AppArmor type is Localhost');
    if (byteLength(localhostProfile) > appArmorProfileBytesMax) report.tooLong(at, appArmorProfileBytesMax);
  } else if (type === 'RuntimeDefault' || type === 'Unconfined') {
    if (localhostProfile !== undefined) report.invalid(at, localhostProfile, 'can only be set when AppArmor type is Localhost');
  } else if (isEmpty(type)) report.required(path.child('type'), 'type is required when appArmorProfile is set');
  else report.notSupported(path.child('type'), type, profileTypes);
}

export function validatePodSecurityContext(report: Report, path: Path, spec: core.PodSpec, rules: PodRules): void {
  const context = spec.securityContext ?? {};
  validateIDs(report, path, context);
  context.supplementalGroups?.forEach((group, index) =>
    report.problems(path.child('supplementalGroups').index(index), group, isGroupID(group)),
  );
  if (spec.shareProcessNamespace && spec.hostPID) {
    report.invalid(path.child('shareProcessNamespace'), true, 'ShareProcessNamespace and HostPID cannot both be enabled');
  }
  validateSysctls(report, path.child('sysctls'), spec, rules);
  report.knownIfSet(path.child('fsGroupChangePolicy'), context.fsGroupChangePolicy, ['Always', 'OnRootMismatch']);
  validateSeccomp(report, path.child('seccompProfile'), context.seccompProfile);
  validateWindowsOptions(report, path.child('windowsOptions'), context.windowsOptions);
  validateAppArmor(report, path.child('appArmorProfile'), context.appArmorProfile);
  report.knownIfSet(path.child('supplementalGroupsPolicy'), context.supplementalGroupsPolicy, ['Merge', 'Strict']);
  const seLinux = rules.allowMountOptionSELinux ? ['MountOption', 'Recursive'] : ['Recursive'];
  report.knownIfSet(path.child('seLinuxChangePolicy'), context.seLinuxChangePolicy, seLinux);
}

/** Checks the security context of a container. `hostUsers` says that its pod shares the host's user namespace. */
export function validateSecurityContext(
  report: Report,
  path: Path,
  context: core.SecurityContext | undefined,
  hostUsers: boolean,
  rules: PodRules,
): void {
  if (!context) return;
  if (context.privileged && !rules.allowPrivileged) report.forbidden(path.child('privileged'), 'disallowed by cluster policy');
  validateIDs(report, path, context);
  if (context.procMount !== undefined) {
    report.known(path.child('procMount'), context.procMount, ['Default', 'Unmasked']);
    if (hostUsers && context.procMount === 'Unmasked') {
      report.invalid(path.child('procMount'), context.procMount, '`hostUsers` must be false to use `Unmasked`');
    }
  }
  validateSeccomp(report, path.child('seccompProfile'), context.seccompProfile);
  validateEscalation(report, path, context);
  validateWindowsOptions(report, path.child('windowsOptions'), context.windowsOptions);
  validateAppArmor(report, path.child('appArmorProfile'), context.appArmorProfile);
}

function validateEscalation(report: Report, path: Path, context: core.SecurityContext): void {
  if (context.allowPrivilegeEscalation !== false) return;
  const head = 'cannot set `allowPrivilegeEscalation` to false and ';
  if (context.privileged) report.invalid(path, internalForm('core.SecurityContext', context), `${head}\`privileged\` to true`);
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN')
      report.invalid(path, internalForm('core.SecurityContext', context), `${head}\`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}
