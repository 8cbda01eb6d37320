// Pure. What requests on a deprecated version of a custom resource are warned of (k8s.io/apiextensions-apiserver, defaultDeprecationWarning).
import type { CustomResourceDefinition, CustomResourceDefinitionVersion } from '#api/apiextensions/v1';
import { compareVersions } from './versions.ts';

/**
 * What clients are told of a deprecated version: the definition's own words, or a hint at the best later version that is served and not
 * deprecated. Undefined for any other version.
 */
export function deprecationOf(crd: CustomResourceDefinition, version: CustomResourceDefinitionVersion): string | undefined {
  if (!version.deprecated) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group, names, versions } = crd.spec;
  const [best] = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version.name) < 0)
    .map(({ name }) => name)
    .sort(compareVersions);
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  return best === undefined ? text : `${text}; use ${group}/${best} ${names.kind}`;
}
