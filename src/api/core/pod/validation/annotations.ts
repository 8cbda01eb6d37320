// Annotations that once were fields, and still bind (pkg/apis/core/validation, ValidatePodSpecificAnnotations).
import type * as core from '#api/core/v1';
import type { Path } from '#apimachinery/field';
import type { ObjectMeta } from '#apimachinery/meta';
import { quote } from '#utils';
import type { Report } from '../../../common/report.ts';
import { validateLocalDescendingPath } from '../../common/paths.ts';
import { containersOf, visitContainers } from '../containers.ts';
import { deletionCostAnnotation, isDeletionCost, type PodLike, type PodRules } from './rules.ts';
import { validateTolerations } from './tolerations.ts';

export const mirrorAnnotation = 'kubernetes.io/config.mirror';
export const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/';
export const seccompPodAnnotation = 'seccomp.security.alpha.kubernetes.io/pod';
export const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/';
const tolerationsAnnotation = 'scheduler.alpha.kubernetes.io/tolerations';

type Annotations = Record<string, string>;

export function validatePodAnnotations(report: Report, path: Path, { metadata, spec }: PodLike, rules: PodRules): void {
  const annotations = metadata?.annotations;
  if (!annotations) return;
  const mirror = annotations[mirrorAnnotation];
  if (mirror !== undefined && !spec?.nodeName) {
    report.invalid(path.key(mirrorAnnotation), mirror, 'must set spec.nodeName if mirror pod annotation is set');
  }
  validateTolerationsAnnotation(report, path, annotations[tolerationsAnnotation], rules);
  const cost = annotations[deletionCostAnnotation];
  if (!rules.allowInvalidDeletionCost && !isDeletionCost(cost))
    report.invalid(path.key(deletionCostAnnotation), cost, 'must be a 32bit integer');
  for (const key in annotations) {
    if (key === seccompPodAnnotation || key.startsWith(seccompContainerPrefix))
      validateSeccompAnnotation(report, path.child(key), annotations[key] ?? '');
  }
  for (const key in annotations) {
    if (key.startsWith(appArmorPrefix)) validateAppArmorAnnotation(report, path.key(key), key, annotations[key] ?? '', spec);
  }
}

function validateTolerationsAnnotation(report: Report, path: Path, text: string | undefined, rules: PodRules): void {
  if (!text) return;
  try {
    const tolerations: unknown = JSON.parse(text);
    if (Array.isArray(tolerations))
      validateTolerations(
        report,
        path.child(tolerationsAnnotation),
        tolerations as core.Toleration[],
        rules.allowComparisonTolerations,
      );
  } catch (error) {
    report.invalid(path, tolerationsAnnotation, error instanceof Error ? error.message : String(error));
  }
}

function validateSeccompAnnotation(report: Report, path: Path, profile: string): void {
  if (profile === 'runtime/default' || profile === 'docker/default' || profile === 'unconfined') return;
  if (profile.startsWith('localhost/')) validateLocalDescendingPath(report, path, profile.slice('localhost/'.length));
  else report.invalid(path, profile, 'must be a valid seccomp profile');
}

function validateAppArmorAnnotation(
  report: Report,
  path: Path,
  key: string,
  profile: string,
  spec: core.PodSpec | undefined,
): void {
  const container = key.slice(appArmorPrefix.length);
  if (!spec || !containersOf(spec).some(({ name }) => name === container)) report.invalid(path, container, 'container not found');
  const valid = profile === '' || profile === 'runtime/default' || profile === 'unconfined' || profile.startsWith('localhost/');
  if (!valid) report.invalid(path, profile, `invalid AppArmor profile name: ${quote(profile)}`);
}

/** Refuses an update that adds, changes or removes the annotations of mirror pods and of AppArmor. */
export function validateAnnotationUpdates(report: Report, path: Path, metadata: ObjectMeta, old: ObjectMeta): void {
  const now: Annotations = metadata.annotations ?? {};
  const before: Annotations = old.annotations ?? {};
  for (const key in before) {
    if (now[key] === before[key]) continue;
    if (key.startsWith(appArmorPrefix)) report.forbidden(path.key(key), 'may not remove or update AppArmor annotations');
    if (key === mirrorAnnotation) report.forbidden(path.key(key), 'may not remove or update mirror pod annotation');
  }
  for (const key in now) {
    if (before[key] !== undefined) continue;
    if (key.startsWith(appArmorPrefix)) report.forbidden(path.key(key), 'may not add AppArmor annotations');
    if (key === mirrorAnnotation) report.forbidden(path.key(key), 'may not add mirror pod annotation');
  }
}

interface Profile {
  type: string;
  localhostProfile?: string;
}

// A profile said twice must be the same profile.
function validateMatch(
  report: Report,
  path: Path,
  annotation: string | undefined,
  profile: Profile | undefined,
  name: string,
): void {
  if (annotation === undefined || !profile) return;
  const defaults = name === 'seccomp' ? ['runtime/default', 'docker/default'] : ['runtime/default'];
  const differs =
    profile.type === 'Unconfined'
      ? annotation !== 'unconfined'
      : profile.type === 'RuntimeDefault'
        ? !defaults.includes(annotation)
        : profile.type === 'Localhost' && !annotation.startsWith('localhost/');
  if (differs) report.forbidden(path.child('type'), `${name} type in annotation and field must match`);
  else if (profile.type === 'Localhost' && annotation.slice('localhost/'.length) !== profile.localhostProfile) {
    report.forbidden(path.child('localhostProfile'), `${name} profile in annotation and field must match`);
  }
}

/** Seccomp and AppArmor profiles in annotations say what the fields say. */
export function validateProfilesMatch(report: Report, path: Path, { metadata, spec }: PodLike): void {
  const annotations = metadata?.annotations;
  if (!annotations || !spec) return;
  const ofPod = spec.securityContext;
  validateMatch(
    report,
    path.child('securityContext', 'seccompProfile'),
    annotations[seccompPodAnnotation],
    ofPod?.seccompProfile,
    'seccomp',
  );
  visitContainers(spec, path, ({ name, securityContext }, at) =>
    validateMatch(
      report,
      at.child('securityContext', 'seccompProfile'),
      annotations[seccompContainerPrefix + name],
      securityContext?.seccompProfile,
      'seccomp',
    ),
  );
  if (spec.os?.name === 'windows') return;
  visitContainers(spec, path, ({ name, securityContext }, at) => {
    const profile = securityContext?.appArmorProfile ?? ofPod?.appArmorProfile;
    validateMatch(
      report,
      at.child('securityContext', 'appArmorProfile'),
      annotations[appArmorPrefix + name],
      profile,
      'apparmor',
    );
  });
}
