// Custom resources in the OpenAPI documents: each served version as its definition describes it, under a name of its own, with the fields that every
// object has (k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder).
import type { JSONSchemaProps } from '#api/apiextensions/v1';
import type { ResourceTable } from '../../registry/resource-table.ts';
import { apiVersionText, type ServedResource } from '../../registry/generic/types.ts';
import type { Descriptions, MoreTypes, Schema } from './schemas.ts';

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';

export interface CustomTypes extends MoreTypes {
  /** The name of a custom kind's type, or of its list's. */
  typeName(kind: { group: string; version: string; kind: string }): string | undefined;
}

/** `acc.example.com/v1 Boat` is `com.example.acc.v1.Boat`. */
const typeNameOf = ({ group, version }: ServedResource, kind: string): string =>
  [...group.split('.').reverse(), version, kind].join('.');

/** Types of the custom resources among `all`, and those that are `published`; `descriptions` has the words for fields that every object has. */
export function customTypes(
  { all, published }: { all: readonly ServedResource[]; published: ResourceTable['published'] },
  descriptions: Descriptions,
  version: 2 | 3,
): CustomTypes {
  const made = new Map<string, (reference: (typeName: string) => Schema) => Schema>();
  const names = new Map<string, string>();
  const texts = descriptions['io.k8s.api.core.v1.Pod'];
  const told = (field: string): Schema => (texts?.[field] ? { description: texts[field] } : {});
  const text = (field: string): Schema => ({ ...told(field), type: 'string' });
  for (const { name, group, version: of, kind, schema } of published) {
    made.set(name, schema);
    if (kind !== undefined) names.set(`${apiVersionText({ group, version: of })} ${kind}`, name);
  }
  for (const resource of all) {
    if (!resource.custom) continue;
    const { group, version: name, kind, listKind } = resource;
    const gvk = (of: string): Schema => ({ 'x-kubernetes-group-version-kind': [{ group, version: name, kind: of }] });
    const [typeName, listName] = [typeNameOf(resource, kind), typeNameOf(resource, listKind)];
    names.set(`${apiVersionText(resource)} ${kind}`, typeName).set(`${apiVersionText(resource)} ${listKind}`, listName);
    made.set(typeName, (reference) => {
      // Where version 2 names any field, kubectl takes all others for mistakes.
      if (!resource.published || (version === 2 && resource.published['x-kubernetes-preserve-unknown-fields'] === true))
        return { type: 'object', ...gvk(kind) };
      const published = version === 3 ? resource.published : forV2(resource.published);
      const metadata = {
        description: "Standard object's metadata.",
        ...embedded(reference(`${metaPackage}.ObjectMeta`), version),
      };
      const properties = { ...published.properties, apiVersion: text('apiVersion'), kind: text('kind'), metadata };
      return { ...published, type: 'object', properties, ...gvk(kind) };
    });
    made.set(listName, (reference) => ({
      description: `${listKind} is a list of ${kind}`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: text('apiVersion'),
        items: { description: `List of ${resource.resource}.`, type: 'array', items: reference(typeName) },
        kind: text('kind'),
        metadata: { description: 'Standard list metadata.', ...embedded(reference(`${metaPackage}.ListMeta`), version) },
      },
      ...gvk(listKind),
    }));
  }
  return {
    typeName: (kind) => names.get(`${apiVersionText(kind)} ${kind.kind}`),
    schema: (typeName, reference) => made.get(typeName)?.(reference),
  };
}

const embedded = (ref: Schema, version: 2 | 3): Schema => (version === 3 ? { allOf: [ref] } : ref);

/**
 * Version 2 knows less: what it cannot say is left out, and a value of which it would say the wrong thing has no type there (upstream
 * ToStructuralOpenAPIV2).
 */
function forV2(schema: JSONSchemaProps): JSONSchemaProps {
  const { nullable, oneOf: _one, anyOf: _any, allOf: _all, not: _not, default: _default, ...kept } = schema;
  if (nullable || schema['x-kubernetes-int-or-string']) delete kept.type;
  if (nullable || schema['x-kubernetes-preserve-unknown-fields']) {
    delete kept.items;
    delete kept.properties;
    delete kept.additionalProperties;
  }
  if (kept.properties)
    kept.properties = Object.fromEntries(Object.entries(kept.properties).map(([name, property]) => [name, forV2(property)]));
  if (isSchema(kept.items)) kept.items = forV2(kept.items);
  if (isSchema(kept.additionalProperties)) kept.additionalProperties = forV2(kept.additionalProperties);
  return kept;
}

const isSchema = (value: unknown): value is JSONSchemaProps =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
