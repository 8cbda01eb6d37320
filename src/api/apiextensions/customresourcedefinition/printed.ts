// The versions of a definition as Go prints upstream's internal types in messages: every field by its Go name, in the order of its struct, what is absent as null or zero.
import type * as crd from '#api/apiextensions/v1';

type Fields = Readonly<Record<string, unknown>>;
/** A printed field's value. */
type Print = (value: unknown) => unknown;
/** The Go name of a field, its JSON name, and how it prints. */
type Field = readonly [goName: string, name: string, print: Print];

const orNull: Print = (value) => value ?? null;
const text: Print = (value) => value ?? '';
const flag: Print = (value) => value ?? false;
const number: Print = (value) => value ?? 0;

const struct =
  (fields: readonly Field[]): Print =>
  (value) => {
    const given = (value ?? {}) as Fields;
    return Object.fromEntries(fields.map(([goName, name, print]) => [goName, print(given[name])]));
  };

const pointer =
  (print: Print): Print =>
  (value) =>
    value === undefined || value === null ? null : print(value);

const list =
  (print: Print): Print =>
  (value) =>
    Array.isArray(value) ? value.map((item) => print(item)) : null;

const map = (print: Print): Print =>
  pointer((value) => {
    const sorted = Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([key, one]) => [key, print(one)]));
  });

const isSchema = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
const schema: Print = (value) => printSchema(value);
const orList: Print = (value) => ({ Schema: isSchema(value) ? schema(value) : null, JSONSchemas: list(schema)(value) });
const orFlag: Print = (value) => ({ Allows: value !== false, Schema: isSchema(value) ? schema(value) : null });
const orTexts: Print = (value) => ({ Schema: isSchema(value) ? schema(value) : null, Property: list(text)(value) });

const rule = struct([
  ['Rule', 'rule', text],
  ['Message', 'message', text],
  ['MessageExpression', 'messageExpression', text],
  ['Reason', 'reason', orNull],
  ['FieldPath', 'fieldPath', text],
  ['OptionalOldSelf', 'optionalOldSelf', orNull],
]);

const documentation = struct([
  ['Description', 'description', text],
  ['URL', 'url', text],
]);

const printSchema = struct([
  ['ID', 'id', text],
  ['Schema', '$schema', text],
  ['Ref', '$ref', orNull],
  ['Description', 'description', text],
  ['Type', 'type', text],
  ['Nullable', 'nullable', flag],
  ['Format', 'format', text],
  ['Title', 'title', text],
  ['Default', 'default', orNull],
  ['Maximum', 'maximum', orNull],
  ['ExclusiveMaximum', 'exclusiveMaximum', flag],
  ['Minimum', 'minimum', orNull],
  ['ExclusiveMinimum', 'exclusiveMinimum', flag],
  ['MaxLength', 'maxLength', orNull],
  ['MinLength', 'minLength', orNull],
  ['Pattern', 'pattern', text],
  ['MaxItems', 'maxItems', orNull],
  ['MinItems', 'minItems', orNull],
  ['UniqueItems', 'uniqueItems', flag],
  ['MultipleOf', 'multipleOf', orNull],
  ['Enum', 'enum', orNull],
  ['MaxProperties', 'maxProperties', orNull],
  ['MinProperties', 'minProperties', orNull],
  ['Required', 'required', orNull],
  ['Items', 'items', pointer(orList)],
  ['AllOf', 'allOf', list(schema)],
  ['OneOf', 'oneOf', list(schema)],
  ['AnyOf', 'anyOf', list(schema)],
  ['Not', 'not', pointer(schema)],
  ['Properties', 'properties', map(schema)],
  ['AdditionalProperties', 'additionalProperties', pointer(orFlag)],
  ['PatternProperties', 'patternProperties', map(schema)],
  ['Dependencies', 'dependencies', map(orTexts)],
  ['AdditionalItems', 'additionalItems', pointer(orFlag)],
  ['Definitions', 'definitions', map(schema)],
  ['ExternalDocs', 'externalDocs', pointer(documentation)],
  ['Example', 'example', orNull],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', orNull],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', flag],
  ['XIntOrString', 'x-kubernetes-int-or-string', flag],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', orNull],
  ['XListType', 'x-kubernetes-list-type', orNull],
  ['XMapType', 'x-kubernetes-map-type', orNull],
  ['XValidations', 'x-kubernetes-validations', list(rule)],
]);

const scale = struct([
  ['SpecReplicasPath', 'specReplicasPath', text],
  ['StatusReplicasPath', 'statusReplicasPath', text],
  ['LabelSelectorPath', 'labelSelectorPath', orNull],
]);

const subresources = struct([
  ['Status', 'status', pointer(() => ({}))],
  ['Scale', 'scale', pointer(scale)],
]);

const column = struct([
  ['Name', 'name', text],
  ['Type', 'type', text],
  ['Format', 'format', text],
  ['Description', 'description', text],
  ['Priority', 'priority', number],
  ['JSONPath', 'jsonPath', text],
]);

const version = struct([
  ['Name', 'name', text],
  ['Served', 'served', flag],
  ['Storage', 'storage', flag],
  ['Deprecated', 'deprecated', flag],
  ['DeprecationWarning', 'deprecationWarning', orNull],
  ['Schema', 'schema', pointer(struct([['OpenAPIV3Schema', 'openAPIV3Schema', pointer(schema)]]))],
  ['Subresources', 'subresources', pointer(subresources)],
  ['AdditionalPrinterColumns', 'additionalPrinterColumns', list(column)],
  ['SelectableFields', 'selectableFields', list(struct([['JSONPath', 'jsonPath', text]]))],
]);

/** The schemas of a list's items, of which there may be several. */
export const printedItems = (items: unknown): unknown => orList(items);

/** `versions`: of a definition, without what they have in common. */
export const printedVersions = (versions: readonly crd.CustomResourceDefinitionVersion[]): unknown =>
  versions.map((one) => version(one));
