// The one table of facts about every built-in type (design: "Schema"). `spec/generate.mjs` writes it to src/api/schema.gen.json;
// decoding, pruning, protobuf, strategic merge, server-side apply and OpenAPI all read it and nothing else.
// CRD schemas are turned into the same shape at run time.

/** JSON kinds of a value. `any`: arbitrary JSON (RawExtension, JSON, FieldsV1). */
export type ScalarType = 'string' | 'bytes' | 'bool' | 'int32' | 'int64' | 'uint32' | 'uint64' | 'float' | 'double' | 'any';

/** Types whose JSON is not their protobuf structure. `duration`: metav1.Duration ("1h2m"). */
export type SpecialType =
  | 'time'
  | 'microTime'
  | 'quantity'
  | 'intOrString'
  /** A scalar of any JSON kind: what server-side apply makes of a string with a format (custom resources). */
  | 'anyScalar'
  | 'rawExtension'
  | 'fieldsV1'
  /** apiextensions' JSON (a message that holds bytes) and its three either-or types; for those `ref` names JSONSchemaProps. */
  | 'json'
  | 'schemaOrArray'
  | 'schemaOrBool'
  | 'schemaOrStringArray';

export interface FieldSchema {
  /** JSON name. Fields of inlined structs stand among their owner's, in the encoder's order. */
  name: string;
  /** Protobuf field number; 0 when the field has none (kind, apiVersion, types that are not in protobuf). */
  number: number;
  /** The protobuf field of the owner that holds this field's message, for a field of an inlined struct (`TypeSchema.inlined`). */
  inlined?: number;
  /** What one value is. `message`: `ref` names the type. */
  type: ScalarType | SpecialType | 'message';
  ref?: string;
  /** list: JSON array; map: JSON object with string keys. Values are `type`. A list of bytes-lists does not occur except `mapOfLists`. */
  shape?: 'list' | 'map' | 'mapOfLists';
  /** Go pointer (or slice/map): zero values are distinguishable from absent. */
  pointer?: true;
  /**
   * Go `omitempty`. Without it the encoder writes the zero value ("" / 0 / false / null for lists, maps and pointers / {} for structs).
   * It never drops a struct that is not a pointer, nor such a special type ('0' of a quantity, 0 of an int-or-string, null of a time).
   */
  omitempty?: true;
  /** Go `omitzero`: drops a zero time, too. */
  omitzero?: true;
  /** The list is a message of its own in protobuf (`repeated string items = 1`). */
  wrapped?: true;
  /** In the OpenAPI `required` list. */
  required?: true;
  /** x-kubernetes-list-type / map-type / list-map-keys. */
  listType?: 'atomic' | 'set' | 'map';
  listMapKeys?: string[];
  mapType?: 'atomic' | 'granular';
  /** Strategic merge: 'merge', 'replace', 'retainKeys', comma separated as in the tag. */
  patchStrategy?: string;
  patchMergeKey?: string;
  /** Default marked in the published schema, unless it is the type's zero value. */
  default?: unknown;
  /** The published schema marks the type's zero value ("", 0, false, {}) as the default. */
  zeroDefault?: true;
  enum?: string[];
  /** The Go type of the field (`[]v1.Container`, `v1.Protocol`, `int32`), which error messages name. Absent in run-time schemas. */
  goType?: string;
}

export interface TypeSchema {
  /** Full name, e.g. `io.k8s.api.core.v1.PodSpec`. */
  name: string;
  fields: FieldSchema[];
  /** Messages that protobuf nests and JSON does not; every object writes them, even empty. */
  inlined?: { number: number; ref: string }[];
  /** x-kubernetes-group-version-kind, for top-level kinds. */
  gvks?: { group: string; version: string; kind: string }[];
  /** x-kubernetes-map-type of the whole struct. */
  mapType?: 'atomic' | 'granular';
  /** Fields that are not declared may be there, too, with any value (custom resources). */
  keepsUnknown?: true;
  unions?: { discriminator?: string; fields: Record<string, string> }[];
}

/** Looks types up by full name. Built-in: `builtinSchema()` of `#api`; custom resources make their own. */
export interface SchemaTable {
  type(name: string): TypeSchema | undefined;
  /** The schema of a top-level kind. */
  kind(group: string, version: string, kind: string): TypeSchema | undefined;
  /** Every type's name, sorted. */
  names(): string[];
  /** Every top-level kind, list kinds too. */
  kinds(): { group: string; version: string; kind: string; type: string }[];
}
