// Parameters of operations: the fields of the options that a request takes (k8s.io/apiserver/pkg/endpoints, AddObjectParams).
import type { FieldSchema, SchemaTable } from '#apimachinery/schema';
import type { Parameter } from './route.ts';
import type { Descriptions } from './schemas.ts';

const metaPackage = 'io.k8s.apimachinery.pkg.apis.meta.v1';
export const options = {
  get: `${metaPackage}.GetOptions`,
  list: `${metaPackage}.ListOptions`,
  create: `${metaPackage}.CreateOptions`,
  update: `${metaPackage}.UpdateOptions`,
  patch: `${metaPackage}.PatchOptions`,
  delete: `${metaPackage}.DeleteOptions`,
} as const;

const types: Partial<Record<FieldSchema['type'], Parameter['type']>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
};

/** Where descriptions of parameters are kept that belong to no published type. */
const parameterTexts = 'parameters';

export interface ParameterSource {
  table: SchemaTable;
  descriptions: Descriptions;
}

/** The plain fields of the type as parameters. */
export function parametersOf(
  { table, descriptions }: ParameterSource,
  typeName: string,
  leftOut: readonly string[] = [],
): Parameter[] {
  const fields = table.type(typeName)?.fields ?? [];
  return fields.flatMap(({ name, type: of }) => {
    const type = types[of];
    if (type === undefined || name === 'kind' || name === 'apiVersion' || leftOut.includes(name)) return [];
    const description = descriptions[typeName]?.[name] ?? descriptions[parameterTexts]?.[name];
    return [{ name, in: 'query', type, ...(description && { description }) }];
  });
}

export const pretty = ({ descriptions }: ParameterSource): Parameter => {
  const description = descriptions[parameterTexts]?.['pretty'];
  return { name: 'pretty', in: 'query', type: 'string', ...(description && { description }) };
};

const inPath = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  type: 'string',
  required: true,
  description,
});
export const namespaceParameter = inPath('namespace', 'object name and auth scope, such as for teams and projects');
export const nameParameter = (kind: string): Parameter => inPath('name', `name of the ${kind}`);
export const pathParameter = inPath('path', 'path to the resource');
