// The messages of an OpenAPI v2 document in protobuf. Field numbers and types are those of package openapi.v2 in OpenAPIv2.proto of
// github.com/google/gnostic-models v0.7.0, which kube-apiserver v1.36 and kubectl use. Messages that no document of ours holds (form and
// header parameters, files, headers, examples, OAuth2) are left out.

export type Scalar = 'string' | 'bool' | 'int64' | 'double';

/** Where a field's value comes from: a key of the JSON object, or one of `itself`, `extensions`, `others` and `entries`. */
type Source = string;
/** The JSON value that the message stands for; a single value is a list of one. */
export const itself = '.';
/** Every key that starts with `x-`, as pairs of name and `Any`. */
export const extensions = 'x-*';
/** Every other key, as pairs of name and value. */
export const others = '[^x-]*';
/** Every key whatever its name, as pairs of name and value. */
export const entries = '*';

/** One field; its number is its place in the message, counted from one. */
export type Field = readonly [source: Source, type: Scalar | MessageName, repeated?: 'repeated'];
/** One alternative of a oneof: its number, and the type that the JSON value has. */
interface Choice {
  choose(value: unknown): readonly [number: number, type: Scalar | MessageName];
}

export type MessageName =
  | 'AdditionalPropertiesItem'
  | 'Any'
  | 'ApiKeySecurity'
  | 'BodyParameter'
  | 'Contact'
  | 'Definitions'
  | 'Document'
  | 'ExternalDocs'
  | 'Info'
  | 'ItemsItem'
  | 'JsonReference'
  | 'License'
  | 'NonBodyParameter'
  | 'Operation'
  | 'Parameter'
  | 'ParameterDefinitions'
  | 'ParametersItem'
  | 'PathItem'
  | 'PathParameterSubSchema'
  | 'Paths'
  | 'PrimitivesItems'
  | 'Properties'
  | 'QueryParameterSubSchema'
  | 'Response'
  | 'ResponseDefinitions'
  | 'ResponseValue'
  | 'Responses'
  | 'Schema'
  | 'SchemaItem'
  | 'SecurityDefinitions'
  | 'SecurityDefinitionsItem'
  | 'SecurityRequirement'
  | 'StringArray'
  | 'Tag'
  | 'TypeItem'
  | 'Unserved'
  | 'Xml';

const has = (value: unknown, key: string): boolean => typeof value === 'object' && value !== null && key in value;
const member = (value: unknown, key: string): unknown => (has(value, key) ? (value as Record<string, unknown>)[key] : undefined);
const orReference = (type: MessageName): Choice => ({
  choose: (value) => (has(value, '$ref') ? [2, 'JsonReference'] : [1, type]),
});

const extension: Field = [extensions, 'Any'];
const parameterHead: readonly Field[] = [
  ['required', 'bool'],
  ['in', 'string'],
  ['description', 'string'],
  ['name', 'string'],
];
/** What parameters and their items say of a value that is not a body. */
const primitive: readonly Field[] = [
  ['type', 'string'],
  ['format', 'string'],
  ['items', 'PrimitivesItems'],
  ['collectionFormat', 'string'],
  ['default', 'Any'],
  ['maximum', 'double'],
  ['exclusiveMaximum', 'bool'],
  ['minimum', 'double'],
  ['exclusiveMinimum', 'bool'],
  ['maxLength', 'int64'],
  ['minLength', 'int64'],
  ['pattern', 'string'],
  ['maxItems', 'int64'],
  ['minItems', 'int64'],
  ['uniqueItems', 'bool'],
  ['enum', 'Any', 'repeated'],
  ['multipleOf', 'double'],
  extension,
];

const document: readonly Field[] = [
  ['swagger', 'string'],
  ['info', 'Info'],
  ['host', 'string'],
  ['basePath', 'string'],
  ['schemes', 'string', 'repeated'],
  ['consumes', 'string', 'repeated'],
  ['produces', 'string', 'repeated'],
  ['paths', 'Paths'],
  ['definitions', 'Definitions'],
  ['parameters', 'ParameterDefinitions'],
  ['responses', 'ResponseDefinitions'],
  ['security', 'SecurityRequirement', 'repeated'],
  ['securityDefinitions', 'SecurityDefinitions'],
  ['tags', 'Tag', 'repeated'],
  ['externalDocs', 'ExternalDocs'],
  extension,
];

const operation: readonly Field[] = [
  ['tags', 'string', 'repeated'],
  ['summary', 'string'],
  ['description', 'string'],
  ['externalDocs', 'ExternalDocs'],
  ['operationId', 'string'],
  ['produces', 'string', 'repeated'],
  ['consumes', 'string', 'repeated'],
  ['parameters', 'ParametersItem', 'repeated'],
  ['responses', 'Responses'],
  ['schemes', 'string', 'repeated'],
  ['deprecated', 'bool'],
  ['security', 'SecurityRequirement', 'repeated'],
  extension,
];

const pathItem: readonly Field[] = [
  ['$ref', 'string'],
  ['get', 'Operation'],
  ['put', 'Operation'],
  ['post', 'Operation'],
  ['delete', 'Operation'],
  ['options', 'Operation'],
  ['head', 'Operation'],
  ['patch', 'Operation'],
  ['parameters', 'ParametersItem', 'repeated'],
  extension,
];

const schema: readonly Field[] = [
  ['$ref', 'string'],
  ['format', 'string'],
  ['title', 'string'],
  ['description', 'string'],
  ['default', 'Any'],
  ['multipleOf', 'double'],
  ['maximum', 'double'],
  ['exclusiveMaximum', 'bool'],
  ['minimum', 'double'],
  ['exclusiveMinimum', 'bool'],
  ['maxLength', 'int64'],
  ['minLength', 'int64'],
  ['pattern', 'string'],
  ['maxItems', 'int64'],
  ['minItems', 'int64'],
  ['uniqueItems', 'bool'],
  ['maxProperties', 'int64'],
  ['minProperties', 'int64'],
  ['required', 'string', 'repeated'],
  ['enum', 'Any', 'repeated'],
  ['additionalProperties', 'AdditionalPropertiesItem'],
  ['type', 'TypeItem'],
  ['items', 'ItemsItem'],
  ['allOf', 'Schema', 'repeated'],
  ['properties', 'Properties'],
  ['discriminator', 'string'],
  ['readOnly', 'bool'],
  ['xml', 'Xml'],
  ['externalDocs', 'ExternalDocs'],
  ['example', 'Any'],
  extension,
];

/** `Any` is written apart: the value as YAML. */
export const messages: Readonly<Record<Exclude<MessageName, 'Any'>, readonly Field[] | Choice>> = {
  AdditionalPropertiesItem: { choose: (value) => (typeof value === 'boolean' ? [2, 'bool'] : [1, 'Schema']) },
  ApiKeySecurity: [['type', 'string'], ['name', 'string'], ['in', 'string'], ['description', 'string'], extension],
  BodyParameter: [
    ['description', 'string'],
    ['name', 'string'],
    ['in', 'string'],
    ['required', 'bool'],
    ['schema', 'Schema'],
    extension,
  ],
  Contact: [['name', 'string'], ['url', 'string'], ['email', 'string'], extension],
  Definitions: [[entries, 'Schema']],
  Document: document,
  ExternalDocs: [['description', 'string'], ['url', 'string'], extension],
  Info: [
    ['title', 'string'],
    ['version', 'string'],
    ['description', 'string'],
    ['termsOfService', 'string'],
    ['contact', 'Contact'],
    ['license', 'License'],
    extension,
  ],
  ItemsItem: [[itself, 'Schema', 'repeated']],
  JsonReference: [
    ['$ref', 'string'],
    ['description', 'string'],
  ],
  License: [['name', 'string'], ['url', 'string'], extension],
  NonBodyParameter: {
    choose: (value) => (member(value, 'in') === 'path' ? [4, 'PathParameterSubSchema'] : [3, 'QueryParameterSubSchema']),
  },
  Operation: operation,
  Parameter: { choose: (value) => (member(value, 'in') === 'body' ? [1, 'BodyParameter'] : [2, 'NonBodyParameter']) },
  ParameterDefinitions: [[entries, 'Parameter']],
  ParametersItem: orReference('Parameter'),
  PathItem: pathItem,
  PathParameterSubSchema: [...parameterHead, ...primitive],
  Paths: [extension, [others, 'PathItem']],
  PrimitivesItems: primitive,
  Properties: [[entries, 'Schema']],
  QueryParameterSubSchema: [...parameterHead, ['allowEmptyValue', 'bool'], ...primitive],
  Response: [['description', 'string'], ['schema', 'SchemaItem'], ['headers', 'Unserved'], ['examples', 'Unserved'], extension],
  ResponseDefinitions: [[entries, 'Response']],
  ResponseValue: orReference('Response'),
  Responses: [[others, 'ResponseValue'], extension],
  Schema: schema,
  SchemaItem: { choose: () => [1, 'Schema'] },
  SecurityDefinitions: [[entries, 'SecurityDefinitionsItem']],
  SecurityDefinitionsItem: { choose: () => [2, 'ApiKeySecurity'] },
  SecurityRequirement: [[entries, 'StringArray']],
  StringArray: [[itself, 'string', 'repeated']],
  Tag: [['name', 'string'], ['description', 'string'], ['externalDocs', 'ExternalDocs'], extension],
  TypeItem: [[itself, 'string', 'repeated']],
  /** Holds the place of a message that no document of ours has. */
  Unserved: [],
  Xml: [['name', 'string'], ['namespace', 'string'], ['prefix', 'string'], ['attribute', 'bool'], ['wrapped', 'bool'], extension],
};
