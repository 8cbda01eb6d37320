// A custom resource as a whole: what a write through one of its doors has to satisfy (apiextensions-apiserver, pkg/registry/customresource).
import type { CustomResourceSubresourceScale, JSONSchemaProps } from '#api/apiextensions/v1';
import { type FieldError, type FieldErrorType, invalid, root } from '#apimachinery/field';
import type { KubeObject } from '#apimachinery/meta';
import { maxInt32 } from '../../common/numbers.ts';
import { validateEmbedded } from './embedded.ts';
import { validateLists } from './lists.ts';
import { nestedField } from './nested.ts';
import { rulesOf } from './rules.ts';
import { runRules } from './run-rules.ts';
import type { JsonObject } from './structure.ts';
import { validateValue } from './values.ts';

/** One version of a custom resource. */
export interface ResourceSubject {
  kind: string;
  apiVersion: string;
  schema: JSONSchemaProps;
  scale?: CustomResourceSubresourceScale | undefined;
}

export interface ResourceFindings {
  errors: FieldError[];
  warnings: string[];
}

const blocking: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);
const unchecked =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

function typeErrors({ kind, apiVersion }: ResourceSubject, object: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  if (object.kind !== kind) errors.push(invalid(root('kind'), object.kind ?? '', `must be ${kind}`));
  if (object.apiVersion !== apiVersion) {
    errors.push(invalid(root('apiVersion'), object.apiVersion ?? '', `must be ${apiVersion}`));
  }
  return errors;
}

/** `path` as declared, with its leading period. */
function replicaErrors(object: unknown, path: string): FieldError[] {
  const { value, problem } = nestedField(object, path, 'int64');
  const at = root(path);
  if (problem) return [invalid(at, 0, problem)];
  if (typeof value !== 'number') return [];
  if (value < 0) return [invalid(at, value, 'should be a non-negative integer')];
  return value > maxInt32 ? [invalid(at, value, `should be less than or equal to ${maxInt32}`)] : [];
}

/** What the registry knows of an object that is validated. */
export interface Validated {
  /** What it replaces. */
  old?: KubeObject | undefined;
  metadataErrors?: readonly FieldError[] | undefined;
}

function statusScaleErrors(object: unknown, scale: CustomResourceSubresourceScale | undefined): FieldError[] {
  if (!scale) return [];
  const { statusReplicasPath, labelSelectorPath } = scale;
  const errors = replicaErrors(object, statusReplicasPath);
  const problem = labelSelectorPath ? nestedField(object, labelSelectorPath, 'string').problem : undefined;
  return problem && labelSelectorPath ? [...errors, invalid(root(labelSelectorPath), '', problem)] : errors;
}

/** What schemas cannot say of the parts of an object. `schemaErrors` come first. */
function findings(
  schema: JSONSchemaProps,
  schemaErrors: FieldError[],
  object: KubeObject,
  { old, metadataErrors = [] }: Validated,
): ResourceFindings {
  const errors = [...schemaErrors, ...validateEmbedded(schema, object, undefined, false)];
  const listErrors = validateLists(schema, object);
  if (listErrors.length > 0 && (!old || validateLists(schema, old).length === 0)) errors.push(...listErrors);
  const rules = rulesOf(schema, true);
  if (!rules) return { errors, warnings: [] };
  if ([...metadataErrors, ...errors].some(({ type }) => blocking.has(type))) {
    return { errors: [...errors, invalid(undefined, null, unchecked)], warnings: [] };
  }
  const found = runRules(rules, object, old ? { old, forgives: true } : {});
  return { errors: [...errors, ...found.errors], warnings: found.warnings };
}

const asJson = (object: KubeObject): JsonObject => object as unknown as JsonObject;

/** Failures of a new object, or of one that replaces another. The registry has validated its metadata. */
export function validateResource(subject: ResourceSubject, object: KubeObject, known: Validated = {}): ResourceFindings {
  const { old } = known;
  const wrong = typeErrors(subject, object);
  const { schema, scale } = subject;
  const errors =
    wrong.length > 0
      ? wrong
      : [
          ...validateValue(schema, object, '', old && { value: old }),
          ...(scale ? replicaErrors(object, scale.specReplicasPath) : []),
          ...statusScaleErrors(object, scale),
        ];
  return findings(schema, errors, object, known);
}

/** Checks a write of the status, by the rules that it has beside those of the whole object. */
export function validateResourceStatus(
  subject: ResourceSubject,
  object: KubeObject,
  known: Validated & { old: KubeObject },
): ResourceFindings {
  const { old } = known;
  const { schema, scale } = subject;
  const wrong = typeErrors(subject, object);
  if (wrong.length > 0) return findings(schema, wrong, object, known);
  const errors: FieldError[] = [];
  const { status } = asJson(object);
  const statusSchema = schema.properties?.['status'];
  if (status !== undefined && statusSchema) {
    errors.push(...validateValue(statusSchema, status, 'status', { value: asJson(old)['status'] }));
  }
  errors.push(...statusScaleErrors(object, scale));
  return findings(schema, errors, object, known);
}
