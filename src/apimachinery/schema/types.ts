// The one table of facts about every built-in type (design: "Schema"). `spec/generate.mjs` writes it to src/api/schema.gen.json;
// decoding, pruning, protobuf, strategic merge, server-side apply and OpenAPI all read it and nothing else.
// CRD schemas are turned into the same shape at run time.

/** JSON kinds of a value. `any`: arbitrary JSON (RawExtension, JSON, FieldsV1). */
export type ScalarType = 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'uint32' | 'uint64' | 'float' | 'double' | 'any';

/** Types whose JSON is not their protobuf structure. `duration`: metav1.Duration ("1h2m"). */
export type SpecialType = 'time' | 'microTime' | 'duration' | 'quantity' | 'intOrString' | 'rawExtension' | 'fieldsV1';

export interface FieldSchema {
  /** JSON name. '' for an inlined struct that has its own protobuf field (never seen in JSON as a key). */
  name: string;
  /** Protobuf field number; 0 when the field has none. */
  number: number;
  /** What one value is. `message`: `ref` names the type. */
  type: ScalarType | SpecialType | 'message';
  ref?: string;
  /** list: JSON array; map: JSON object with string keys. Values are `type`. A list of bytes-lists does not occur except `mapOfLists`. */
  shape?: 'list' | 'map' | 'mapOfLists';
  /** Go pointer (or slice/map): zero values are distinguishable from absent. */
  pointer?: true;
  /** Go `omitempty`/`omitzero`. Without it the encoder writes the zero value ("" / 0 / false / null for lists and maps / {} for structs). */
  omitempty?: true;
  /** In the OpenAPI `required` list. */
  required?: true;
  /** x-kubernetes-list-type / map-type / list-map-keys. */
  listType?: 'atomic' | 'set' | 'map';
  listMapKeys?: string[];
  mapType?: 'atomic' | 'granular';
  /** Strategic merge: 'merge', 'replace', 'retainKeys', comma separated as in the tag. */
  patchStrategy?: string;
  patchMergeKey?: string;
  /** Default marked in the published schema. */
  default?: unknown;
  /** OpenAPI format, where it says more than `type` ('int32', 'date-time', ...). */
  format?: string;
  enum?: string[];
}

export interface TypeSchema {
  /** Full name, e.g. `io.k8s.api.core.v1.PodSpec`. */
  name: string;
  fields: FieldSchema[];
  /** x-kubernetes-group-version-kind, for top-level kinds. */
  gvks?: { group: string; version: string; kind: string }[];
  /** x-kubernetes-map-type of the whole struct. */
  mapType?: 'atomic' | 'granular';
  unions?: { discriminator?: string; fields: Record<string, string> }[];
}

/** Looks types up by full name. Built-in: `builtinSchema()` of `#api`; custom resources make their own. */
export interface SchemaTable {
  type(name: string): TypeSchema | undefined;
  /** The schema of a top-level kind. */
  kind(group: string, version: string, kind: string): TypeSchema | undefined;
}
