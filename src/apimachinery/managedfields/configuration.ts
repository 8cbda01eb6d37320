// An apply configuration laid over an object without owners (k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch, smd.go): the
// merge of server-side apply, for those who only say what to set.
import type { UnknownObject } from '../meta/index.ts';
import type { SchemaTable } from '../schema/index.ts';
import { isObject, type JsonObject } from './json.ts';
import { mergeValues } from './merge.ts';
import { type Shape, shapesOf } from './shape.ts';
import { formOf, ShapeError } from './typed.ts';
import { problemText, shapeProblems } from './validate.ts';

/** The configuration cannot be laid over the object, in upstream's words. */
export class ConfigurationProblem extends Error {}

/** Where a value states something that is owned whole: what it leaves out would be lost. */
function atomicPaths(shape: Shape, value: unknown, path: string): string[] {
  if (isObject(value) && formOf(shape, value) === 'map' && shape.map) {
    const { atomic, byName } = shape.map;
    const below = Object.entries(value).flatMap(([name, item]) => {
      const field = byName.get(name);
      return field ? atomicPaths(field.shape, item, `${path}.${name}`) : [];
    });
    return atomic ? [path, ...below] : below;
  }
  if (Array.isArray(value) && shape.list) {
    const { atomic, element } = shape.list;
    const below = value.flatMap((item, index) => atomicPaths(element, item, `${path}[${index}]`));
    return atomic ? [path, ...below] : below;
  }
  return [];
}

/**
 * The object with what the configuration states; neither is changed, the result shares parts of both. Throws `ConfigurationProblem` where
 * the configuration does not fit the type, or states something atomic.
 */
export function layOver(table: SchemaTable, typeName: string, object: UnknownObject, configuration: JsonObject): UnknownObject {
  const shape = shapesOf(table).of(typeName);
  const problems = shapeProblems(shape, configuration);
  if (problems.length > 0)
    throw new ConfigurationProblem(`failed to convert patch object to typed object: ${problemText(problems)}`);
  const atomics = atomicPaths(shape, configuration, '');
  if (atomics.length > 0) {
    const what = 'may not mutate atomic arrays, maps or structs';
    throw new ConfigurationProblem(`invalid ApplyConfiguration: ${what}: ${atomics.join(', ')}`);
  }
  try {
    return mergeValues(shape, object, configuration) as UnknownObject;
  } catch (error) {
    if (error instanceof ShapeError) throw new ConfigurationProblem(`failed to merge patch: ${error.message}`);
    throw error;
  }
}
