// AppArmor profiles written as annotations become fields (pkg/registry/core/pod, applyAppArmorVersionSkew; KEP-24).
import type { AppArmorProfile, Pod } from '#api/core/v1';
import { semanticEqual } from '../../common/equality.ts';
import { collect } from '../../common/report.ts';
import { root } from '#apimachinery/field';
import { containersOf } from './containers.ts';
import { appArmorPrefix } from './validation/annotations.ts';
import { validateAppArmor } from './validation/security-context.ts';

/** The field that says the same as an annotation's value; undefined when it says nothing valid. */
export function appArmorFieldFor(annotation: string): AppArmorProfile | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith('localhost/')) return undefined;
  const profile: AppArmorProfile = { type: 'Localhost', localhostProfile: annotation.slice('localhost/'.length) };
  return collect((report) => validateAppArmor(report, root('spec'), profile)).length === 0 ? profile : undefined;
}

export function applyAppArmorAnnotations({ metadata, spec }: Pod): void {
  if (!spec || !metadata.annotations || spec.os?.name === 'windows') return;
  const ofPod = spec.securityContext?.appArmorProfile;
  for (const container of containersOf(spec)) {
    const annotation = metadata.annotations[appArmorPrefix + container.name];
    if (annotation === undefined || container.securityContext?.appArmorProfile) continue;
    const profile = appArmorFieldFor(annotation);
    if (profile && !semanticEqual(profile, ofPod)) (container.securityContext ??= {}).appArmorProfile = profile;
  }
}
