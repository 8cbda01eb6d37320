// Rules of definitions of custom resources (pkg/apis/apiextensions/validation).
import type * as crd from '#api/apiextensions/v1';
import { type FieldError, type Path, root } from '#apimachinery/field';
import { byteLength, isDNS1035Label, isDNS1123Subdomain } from '#apimachinery/validation';
import { Work } from '#regexp';
import { quote, repeats } from '#utils';
import { validateClientConfig } from '../../admissionregistration/common/client-config.ts';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { type Definition, definitionOf, walkSchema } from './definition.ts';
import { resolveFieldPath } from '../common/field-path.ts';
import { validateDefaults } from './defaults.ts';
import { deprecationWarningBytesMax, patternWorkUnits, selectableFieldsMax } from './limits.ts';
import { printedVersions } from './printed.ts';
import { validateRules } from './rules.ts';
import { validateSchema } from './schema-rules.ts';
import { structuralErrors, unsupportedPart } from './structural.ts';

const path = root('spec');
const approvalAnnotation = 'api-approved.kubernetes.io';
const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

function validateLabel(report: Report, at: Path, value: string, prefix = '', shown = value): void {
  const problems = isDNS1035Label(value);
  if (value !== '' && problems.length > 0) report.invalid(at, shown, prefix + problems.join(','));
}

const mixedCase = 'may have mixed case, but should otherwise match: ';

function validateNames(report: Report, at: Path, names: Partial<crd.CustomResourceDefinitionNames>): void {
  const { plural = '', singular = '', kind = '', listKind = '' } = names;
  validateLabel(report, at.child('plural'), plural);
  validateLabel(report, at.child('singular'), singular);
  validateLabel(report, at.child('kind'), kind.toLowerCase(), mixedCase, kind);
  validateLabel(report, at.child('listKind'), listKind.toLowerCase(), mixedCase, listKind);
  const labels = (field: 'shortNames' | 'categories'): void =>
    names[field]?.forEach((name, index) => {
      const problems = isDNS1035Label(name);
      if (problems.length > 0) report.invalid(at.child(field).index(index), name, problems.join(','));
    });
  labels('shortNames');
  if (kind !== '' && kind === listKind) report.invalid(at.child('listKind'), listKind, 'kind and listKind may not be the same');
  labels('categories');
}

/** `under`: where the path must lead. */
function validateJsonPath(report: Report, at: Path, value: string | undefined, under: readonly string[] = [], where = ''): void {
  if (isEmpty(value)) report.required(at);
  else if (!value?.startsWith('.')) report.invalid(at, value, 'must be a simple json path starting with .');
  else if (under.length > 0 && !under.some((start) => value.startsWith(start)))
    report.invalid(at, value, `should be a json path under ${where}`);
}

function validateSubresources(report: Report, at: Path, subresources: crd.CustomResourceSubresources | undefined): void {
  const scale = subresources?.scale;
  if (!scale) return;
  const scalePath = at.child('scale');
  validateJsonPath(report, scalePath.child('specReplicasPath'), scale.specReplicasPath, ['.spec.'], '.spec');
  validateJsonPath(report, scalePath.child('statusReplicasPath'), scale.statusReplicasPath, ['.status.'], '.status');
  if (scale.labelSelectorPath) {
    const under = ['.spec.', '.status.'];
    validateJsonPath(report, scalePath.child('labelSelectorPath'), scale.labelSelectorPath, under, 'either .spec or .status');
  }
}

function validateColumns(report: Report, at: Path, columns: crd.CustomResourceColumnDefinition[] = []): void {
  columns.forEach(({ name, type, format, jsonPath }, index) => {
    const column = at.index(index);
    if (isEmpty(name)) report.required(column.child('name'));
    const detail = `must be one of ${columnTypes.join(',')}`;
    if (isEmpty(type)) report.required(column.child('type'), detail);
    else if (!columnTypes.includes(type)) report.invalid(column.child('type'), type, detail);
    if (format && !columnFormats.includes(format)) {
      report.invalid(column.child('format'), format, `must be one of ${columnFormats.join(',')}`);
    }
    validateJsonPath(report, column.child('JSONPath'), jsonPath);
  });
}

/** `without`: the failure where the schema is not at the same place. Upstream has what all versions share once, and either may be shared alone. */
function validateSelectableFields(
  report: Report,
  at: Path,
  fields: crd.SelectableField[] = [],
  schema: crd.JSONSchemaProps | undefined,
  without: string,
): void {
  if (fields.length === 0) return;
  if (!schema) return report.invalid(at, '', without);
  const seen = new Set<string>();
  fields.forEach(({ jsonPath = '' }: Partial<crd.SelectableField>, index) => {
    const field = at.index(index).child('jsonPath');
    if (jsonPath === '') return report.required(field);
    const target = resolveFieldPath(jsonPath, schema, false);
    if (typeof target === 'string') return report.invalid(field, jsonPath, `is an invalid path: ${target}`);
    if (target.steps[0] === 'metadata') report.invalid(field, jsonPath, 'must not point to fields in metadata');
    if (!['string', 'boolean', 'integer'].includes(target.schema?.type ?? '')) {
      const detail =
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
      report.invalid(field, jsonPath, detail);
    }
    if (seen.has(target.path)) report.duplicate(field, jsonPath);
    seen.add(target.path);
  });
  if (seen.size > selectableFieldsMax) report.tooMany(at, seen.size, selectableFieldsMax);
}

/** What is the same for all schemas of a definition. */
interface Run {
  report: Report;
  /** What compiling patterns may still cost. */
  work: Work;
  /** Names of versions whose schemas are stored as they are. */
  stored: ReadonlySet<string>;
}

interface Validated {
  version: string;
  schema: crd.JSONSchemaProps | undefined;
  hasStatus: boolean;
}

function validateValidation({ report, work, stored }: Run, at: Path, { version, schema, hasStatus }: Validated): void {
  if (!schema) return;
  const schemaPath = at.child('openAPIV3Schema');
  const before = report.count;
  if (hasStatus && schema.type && schema.type !== 'object') {
    const detail = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
    report.invalid(schemaPath.child('type'), schema.type, detail);
  }
  if (schema.nullable) report.forbidden(schemaPath.child('nullable'), 'nullable cannot be true at the root');
  let unsupported: string | undefined;
  walkSchema(schema, (one) => (unsupported ??= unsupportedPart(one)));
  if (unsupported === undefined) {
    const errors = structuralErrors(schemaPath, schema, work);
    report.add(errors);
    if (errors.length === 0) validateDefaults(report, schemaPath, schema);
  }
  const known = report.count;
  validateSchema(report, schemaPath, schema, {}, true);
  const wrong = report.errors.slice(known).map(({ field }) => field);
  if (unsupported === undefined) validateRules(report, schemaPath, schema, { work, isStored: stored.has(version), wrong });
  if (unsupported !== undefined && report.count === before) report.invalid(schemaPath, '', unsupported);
}

function validateDeprecation(
  report: Report,
  at: Path,
  { deprecated, deprecationWarning: text }: crd.CustomResourceDefinitionVersion,
): void {
  if (text === undefined) return;
  if (!deprecated) return report.invalid(at, text, 'can only be set for deprecated versions');
  if (byteLength(text) > deprecationWarningBytesMax)
    report.invalid(at, text, `must be <= ${deprecationWarningBytesMax} characters long`);
  if (text === '') report.invalid(at, text, 'must not be an empty string');
  const hidden = /(?! )[\p{C}\p{Z}]/u.exec(text);
  if (!hidden) return;
  const index = byteLength(text.slice(0, hidden.index));
  report.invalid(at, text, `must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
}

function validateConversion(report: Report, at: Path, conversion: crd.CustomResourceConversion | undefined): void {
  if (!conversion) return;
  const { webhook } = conversion;
  const strategy = conversion.strategy ?? '';
  report.oneOf(at.child('strategy'), strategy, ['None', 'Webhook']);
  const configPath = at.child('webhookClientConfig');
  const versionsPath = at.child('conversionReviewVersions');
  const config = webhook?.clientConfig;
  const versions = webhook?.conversionReviewVersions ?? [];
  if (strategy !== 'Webhook') {
    const detail = 'should not be set when strategy is not set to Webhook';
    if (config) report.forbidden(configPath, detail);
    if (versions.length > 0) report.forbidden(versionsPath, detail);
    return;
  }
  if (config) validateClientConfig(report, configPath, config);
  else report.required(configPath, 'required when strategy is set to Webhook');
  if (versions.length === 0) return report.required(versionsPath);
  const isRepeat = repeats();
  versions.forEach((version, index) => {
    if (isRepeat(version)) report.invalid(versionsPath.index(index), version, 'duplicate version');
    else report.problems(versionsPath.index(index), version, isDNS1035Label(version));
  });
  if (!versions.some((version) => version === 'v1' || version === 'v1beta1')) {
    report.invalid(versionsPath, versions, 'must include at least one of v1, v1beta1');
  }
}

const hasStatus = (subresources: crd.CustomResourceSubresources | undefined): boolean => subresources?.status !== undefined;

function validateVersions(run: Run, definition: Definition): void {
  const { report } = run;
  const { common, versions } = definition;
  const at = path.child('versions');
  if (!common.schema?.openAPIV3Schema) {
    versions.forEach(({ schema }, index) => {
      if (!schema?.openAPIV3Schema) report.required(at.index(index).child('schema', 'openAPIV3Schema'));
    });
  }
  versions.forEach((version, index) => {
    const here = at.index(index);
    const problems = isDNS1035Label(version.name ?? '');
    if (problems.length > 0) report.invalid(here.child('name'), version.name ?? '', problems.join(','));
    validateDeprecation(report, here.child('deprecationWarning'), version);
    const { schema, subresources, additionalPrinterColumns, selectableFields } = version;
    validateValidation(run, here.child('schema'), {
      version: version.name ?? '',
      schema: schema?.openAPIV3Schema,
      hasStatus: hasStatus(subresources ?? common.subresources),
    });
    validateSubresources(report, here.child('subresources'), subresources);
    validateColumns(report, here.child('additionalPrinterColumns'), additionalPrinterColumns);
    const fieldsPath = here.child('selectableFields');
    const alone = 'may only be set when `version.schema.openAPIV3Schema` is not included';
    validateSelectableFields(report, fieldsPath, selectableFields, schema?.openAPIV3Schema, alone);
  });
  const names = versions.map(({ name }) => name);
  const printed = isEmpty(definition.spec.versions) ? (definition.spec.versions ?? null) : printedVersions(versions);
  if (new Set(names).size < names.length) report.invalid(at, printed, 'must contain unique version names');
  if (versions.filter(({ storage }) => storage).length !== 1) {
    report.invalid(at, printed, 'must have exactly one version marked as storage version');
  }
  const first = names[0];
  if (first) validateLabel(report, path.child('version'), first);
}

function validateGroup(report: Report, at: Path, group: string): void {
  const problems = isDNS1123Subdomain(group);
  if (group === '') report.required(at);
  else if (problems.length > 0) report.invalid(at, group, problems.join(','));
  else if (!group.includes('.')) report.invalid(at, group, 'should be a domain with at least one dot');
}

function hasDefaults({ versions = [] }: Partial<crd.CustomResourceDefinitionSpec>): boolean {
  let found = false;
  for (const { schema } of versions) walkSchema(schema?.openAPIV3Schema, (one) => (found ||= one.default !== undefined));
  return found;
}

/** Names of the versions whose schemas are the same in both. */
function sameSchemas(spec: crd.CustomResourceDefinitionSpec, old: crd.CustomResourceDefinitionSpec | undefined): Set<string> {
  const before = new Map(old?.versions?.map((version) => [version.name, version.schema]));
  const same = spec.versions?.filter(({ name, schema }) => before.has(name) && semanticEqual(schema, before.get(name)));
  return new Set(same?.map(({ name }) => name));
}

function validateSpec(report: Report, definition: Definition, old?: crd.CustomResourceDefinitionSpec): void {
  const { spec, common, versions } = definition;
  const run = { report, work: new Work(patternWorkUnits), stored: sameSchemas(spec, old) };
  validateGroup(report, path.child('group'), spec.group ?? '');
  report.oneOf(path.child('scope'), spec.scope, ['Cluster', 'Namespaced']);
  const preserves = spec.preserveUnknownFields === true;
  if (preserves && hasDefaults(spec)) {
    report.invalid(path.child('preserveUnknownFields'), true, 'must be false in order to use defaults in the schema');
  }
  validateVersions(run, definition);
  const names: Partial<crd.CustomResourceDefinitionNames> = spec.names ?? {};
  report.need(path.child('names'), names, 'plural', 'singular', 'kind', 'listKind');
  validateNames(report, path.child('names'), names);
  const anyStatus = hasStatus(common.subresources) || versions.some(({ subresources }) => hasStatus(subresources));
  validateValidation(run, path.child('validation'), {
    version: versions[0]?.name ?? '',
    schema: common.schema?.openAPIV3Schema,
    hasStatus: anyStatus,
  });
  validateSubresources(report, path.child('subresources'), common.subresources);
  validateColumns(report, path.child('additionalPrinterColumns'), common.additionalPrinterColumns);
  const fieldsPath = path.child('selectableFields');
  const apart = 'may only be set when validations.schema is included';
  validateSelectableFields(report, fieldsPath, common.selectableFields, common.schema?.openAPIV3Schema, apart);
  const conversionPath = path.child('conversion');
  if (preserves && spec.conversion && spec.conversion.strategy !== 'None') {
    const detail = 'must be None if spec.preserveUnknownFields is true';
    report.invalid(conversionPath.child('strategy'), spec.conversion.strategy, detail);
  }
  validateConversion(report, conversionPath, spec.conversion);
}

function validateStatus(report: Report, { spec, status }: crd.CustomResourceDefinition): void {
  validateNames(report, root('status', 'acceptedNames'), status?.acceptedNames ?? {});
  const at = root('status', 'storedVersions');
  const stored = status?.storedVersions ?? [];
  if (stored.length === 0) return report.invalid(at, null, 'must have at least one stored version');
  const versions = spec?.versions ?? [];
  const found = new Set<string>();
  for (const { name, storage } of versions) {
    // Of versions with one name only the first one finds its own.
    const isStored = stored.includes(name) && !found.has(name);
    if (storage && !isStored) report.invalid(at, stored, `must have the storage version ${name}`);
    found.add(name);
  }
  stored.forEach((name, index) => {
    if (versions.some((version) => version.name === name)) return;
    const detail = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    report.invalid(at.index(index), name, detail);
  });
}

const isProtected = (group = ''): boolean => /(^|\.)(k8s|kubernetes)\.io$/.test(group);
type Approval = 'missing' | 'bypassed' | 'approved' | 'invalid';

function approvalOf({ metadata }: crd.CustomResourceDefinition): Approval {
  const text = metadata.annotations?.[approvalAnnotation] ?? '';
  if (text === '') return 'missing';
  if (text.startsWith('unapproved')) return 'bypassed';
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(text) ? 'approved' : 'invalid';
}

function validateApproval(report: Report, object: crd.CustomResourceDefinition, old?: crd.CustomResourceDefinition): void {
  if (!isProtected(object.spec?.group)) return;
  const state = approvalOf(object);
  if (old && approvalOf(old) === state) return;
  const at = root('metadata', 'annotations').key(approvalAnnotation);
  const start = `protected groups must have approval annotation ${quote(approvalAnnotation)}`;
  const link = ', see https://github.com/kubernetes/enhancements/pull/1111';
  if (state === 'missing') report.required(at, start + link);
  if (state === 'invalid') {
    const detail = `${start} with either a URL or a reason starting with "unapproved"${link}`;
    report.invalid(at, object.metadata.annotations?.[approvalAnnotation], detail);
  }
}

function validateRest(report: Report, object: crd.CustomResourceDefinition, old?: crd.CustomResourceDefinition): void {
  validateStatus(report, object);
  validateApproval(report, object, old);
  if (object.spec?.preserveUnknownFields && !old?.spec.preserveUnknownFields) {
    const detail = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
    report.invalid(path.child('preserveUnknownFields'), true, detail);
  }
}

export const validateDefinition = (object: crd.CustomResourceDefinition): FieldError[] =>
  collect((report) => {
    const { metadata, spec } = object;
    const wanted = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`;
    for (const field of ['generateName', 'name'] as const) {
      const name = metadata[field];
      if (name && name !== wanted) report.invalid(root('metadata', field), name, 'must be spec.names.plural+"."+spec.group');
    }
    validateSpec(report, definitionOf(spec));
    validateRest(report, object);
  });

const isEstablished = ({ status }: crd.CustomResourceDefinition): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Established' && value === 'True') ?? false;

export const validateDefinitionUpdate = (object: crd.CustomResourceDefinition, old: crd.CustomResourceDefinition): FieldError[] =>
  collect((report) => {
    validateSpec(report, definitionOf(object.spec), old.spec);
    if (isEstablished(old)) {
      immutable(report, path.child('scope'), object.spec.scope, old.spec.scope);
      immutable(report, path.child('names', 'kind'), object.spec.names?.kind, old.spec.names?.kind);
    }
    immutable(report, path.child('group'), object.spec.group, old.spec.group);
    immutable(report, path.child('names', 'plural'), object.spec.names?.plural, old.spec.names?.plural);
    validateRest(report, object, old);
  });

export const validateDefinitionStatus = ({ status }: crd.CustomResourceDefinition): FieldError[] =>
  collect((report) => validateNames(report, root('status', 'acceptedNames'), status?.acceptedNames ?? {}));
