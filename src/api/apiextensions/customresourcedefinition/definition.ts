// A definition as upstream's rules see it: what all versions have in common stands at the top, and failures are named there
// (pkg/apis/apiextensions/v1/conversion.go).
import type * as crd from '#api/apiextensions/v1';
import { semanticEqual } from '../../common/equality.ts';

const shared = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;
type Shared = (typeof shared)[number];

export interface Definition {
  spec: crd.CustomResourceDefinitionSpec;
  /** What is the same in all versions. */
  common: Pick<crd.CustomResourceDefinitionVersion, Shared>;
  /** The versions that have no schema. */
  versions: crd.CustomResourceDefinitionVersion[];
}

export function definitionOf(spec: crd.CustomResourceDefinitionSpec): Definition {
  const [first, ...others] = spec.versions ?? [];
  if (!first) return { spec, common: {}, versions: [] };
  const same = shared.filter((field) => others.every((version) => semanticEqual(version[field], first[field])));
  const versions = [first, ...others].map((version) => {
    const own = { ...version };
    for (const field of same) delete own[field];
    return own;
  });
  const common = Object.fromEntries(same.filter((field) => first[field] !== undefined).map((field) => [field, first[field]]));
  return { spec, common, versions };
}

export const storageVersion = (spec: crd.CustomResourceDefinitionSpec | undefined): string | undefined =>
  spec?.versions?.find(({ storage }) => storage)?.name;

/** Calls `visit` for a schema and all schemas inside it. */
export function walkSchema(schema: crd.JSONSchemaProps | undefined, visit: (schema: crd.JSONSchemaProps) => void): void {
  if (!schema) return;
  visit(schema);
  const inner = (one: unknown): void => {
    if (typeof one === 'object' && one !== null && !Array.isArray(one)) walkSchema(one as crd.JSONSchemaProps, visit);
  };
  for (const list of [schema.allOf, schema.anyOf, schema.oneOf, Array.isArray(schema.items) ? schema.items : [schema.items]])
    for (const one of list ?? []) inner(one);
  for (const map of [schema.properties, schema.patternProperties, schema.definitions, schema.dependencies])
    for (const one of Object.values(map ?? {})) inner(one);
  for (const one of [schema.not, schema.additionalProperties, schema.additionalItems]) inner(one);
}
