// Types of kinds from an OpenAPI v3 document (k8s.io/apiserver/pkg/cel/openapi/resolver). Pure.
import { type SchemaShape, schemaType, type Type } from '#cel';
import type { GroupVersionKind } from './kinds.ts';

interface DocumentSchema extends Omit<SchemaShape, 'properties' | 'items' | 'additionalProperties'> {
  $ref?: string;
  allOf?: DocumentSchema[];
  properties?: Record<string, DocumentSchema>;
  items?: DocumentSchema;
  additionalProperties?: DocumentSchema | boolean;
  'x-kubernetes-group-version-kind'?: GroupVersionKind[];
}
interface Document {
  components?: { schemas?: Record<string, DocumentSchema> };
}

/** Schemas that one kind may consist of, with all that it refers to written out: a Pod has about 3,000. */
const schemasMax = 50_000;

const refPrefix = '#/components/schemas/';
const refOf = ({ $ref, allOf = [] }: DocumentSchema): string | undefined =>
  $ref ?? allOf.map(refOf).find((ref) => ref !== undefined);

/** Thrown for a document that another API server wrote and that cannot be followed. */
class UnusableSchema extends Error {}

class Resolver {
  readonly #schemas: Record<string, DocumentSchema>;
  readonly #visited = new Set<string>();
  #count = 0;

  constructor(schemas: Record<string, DocumentSchema>) {
    this.#schemas = schemas;
  }
  /** A schema that contains itself is an object without fields where it begins again. */
  resolve(name: string): SchemaShape {
    if (this.#visited.has(name)) return { type: 'object' };
    const schema = Object.hasOwn(this.#schemas, name) ? this.#schemas[name] : undefined;
    if (!schema) throw new UnusableSchema(`there is no schema ${name}`);
    this.#visited.add(name);
    const whole = this.#whole(schema);
    this.#visited.delete(name);
    return whole;
  }
  #whole(schema: DocumentSchema): SchemaShape {
    if (++this.#count > schemasMax) throw new UnusableSchema('the schema is too large');
    const ref = refOf(schema);
    if (ref !== undefined) return this.resolve(ref.startsWith(refPrefix) ? ref.slice(refPrefix.length) : ref);
    const { properties, items, additionalProperties: more, ...rest } = schema;
    return {
      ...rest,
      ...(rest.format === 'int-or-string' && { 'x-kubernetes-int-or-string': true }),
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, this.#whole(property)])),
      }),
      ...(items && { items: this.#whole(items) }),
      ...(more !== undefined && { additionalProperties: typeof more === 'object' ? this.#whole(more) : more }),
    };
  }
}

const isKind = (wanted: GroupVersionKind) => (one: GroupVersionKind) =>
  one.group === wanted.group && one.version === wanted.version && one.kind === wanted.kind;

/** The type of a kind's objects; undefined: the document does not tell. */
export function typeOf(document: unknown, kind: GroupVersionKind): Type | undefined {
  const schemas = (document as Document | null)?.components?.schemas ?? {};
  try {
    const found = Object.entries(schemas).find(([, schema]) => schema['x-kubernetes-group-version-kind']?.some(isKind(kind)));
    if (!found) return undefined;
    const shape = new Resolver(schemas).resolve(found[0]);
    // Where the document tells less of the metadata than their name, that is known all the same.
    const hasMetadata = shape.properties?.metadata?.properties?.name !== undefined;
    return schemaType(shape, kind.kind, !hasMetadata);
  } catch (error) {
    if (error instanceof UnusableSchema || error instanceof TypeError) return undefined;
    throw error;
  }
}
