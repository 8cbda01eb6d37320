// A custom resource's definition: the same contract as a built-in kind, made from one version of a CustomResourceDefinition
// (design: "Kind": "A custom resource is the same definition made at run time from its CRD").
import type { Column, KindDefinition, ScaleMapping, WriteStrategy } from '#api';
import { type ResourceFindings, validateResource, validateResourceStatus } from '#api/apiextensions/common';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps } from '#api/apiextensions/v1';
import type { FieldError } from '#apimachinery/field';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { onlyStatus } from '../registry/builtin.ts';
import { finalizerWarnings } from './finalizers.ts';
import { parsePath, setAt, valueAt } from './json-path.ts';

/** Root fields that the status door leaves to the client, or that nobody owns. */
const untouched = new Set(['status', 'metadata', 'kind', 'apiVersion']);

const nameColumn: Column = { name: 'Name', type: 'string', format: 'name' };
const ageColumn: Column = { name: 'Age', type: 'date' };

const unitsMs: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
];

/** How long ago, in the largest unit that fits (duration.HumanDuration for one unit). */
function ageText(time: unknown, now: number): string {
  const ms = typeof time === 'string' ? now - Date.parse(time) : Number.NaN;
  if (Number.isNaN(ms)) return time === undefined ? '<unknown>' : '<invalid>';
  const [unit, size] = unitsMs.find(([, length]) => ms >= length) ?? ['s', 1_000];
  return `${Math.max(0, Math.floor(ms / size))}${unit}`;
}

function cellOf(value: unknown, type: string, now: number): string | number | boolean | null {
  if (type === 'date') return value === undefined ? null : ageText(value, now);
  if (value === undefined || value === null) return null;
  if (typeof value === 'object') return JSON.stringify(value);
  return type === 'string' ? String(value as string | number | boolean) : (value as string | number | boolean);
}

function printerOf(version: CustomResourceDefinitionVersion): NonNullable<KindDefinition['printer']> {
  const declared = version.additionalPrinterColumns ?? [];
  const paths = declared.map(({ jsonPath }) => parsePath(jsonPath));
  const columns = declared.map(
    ({ name, type, format, priority, description }): Column => ({
      name,
      type: type as Column['type'],
      ...(format && { format }),
      ...(priority && { priority }),
      ...(description && { description }),
    }),
  );
  if (declared.length === 0) {
    return {
      columns: [nameColumn, ageColumn],
      cells: ({ metadata }, now) => [metadata.name ?? '', ageText(metadata.creationTimestamp, now)],
    };
  }
  return {
    columns: [nameColumn, ...columns],
    cells: (object, now) => [
      object.metadata.name ?? '',
      ...declared.map(({ type }, at) => cellOf(valueAt(object, paths[at] ?? []), type, now)),
    ],
  };
}

function scaleOf({ subresources }: CustomResourceDefinitionVersion): ScaleMapping<KubeObject> | undefined {
  const scale = subresources?.scale;
  if (!scale) return undefined;
  const spec = parsePath(scale.specReplicasPath) ?? [];
  const status = parsePath(scale.statusReplicasPath) ?? [];
  const selector = scale.labelSelectorPath ? parsePath(scale.labelSelectorPath) : undefined;
  const numberAt = (object: unknown, path: readonly (string | number)[]): number => Number(valueAt(object, path) ?? 0);
  return {
    specReplicas: (object) => numberAt(object, spec),
    setSpecReplicas: (draft, replicas) => setAt(draft as UnknownObject, spec, replicas),
    specReplicasPath: spec.map(String),
    statusReplicas: (object) => numberAt(object, status),
    selector: (object) => (selector ? String((valueAt(object, selector) as string | undefined) ?? '') : ''),
  };
}

export function customKind(
  crd: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  schema: JSONSchemaProps,
): KindDefinition<KubeObject> {
  const hasStatus = version.subresources?.status !== undefined;
  const scale = scaleOf(version);
  const fields = (version.selectableFields ?? []).map(({ jsonPath }) => ({
    name: jsonPath.replace(/^\./, ''),
    steps: parsePath(jsonPath) ?? [],
  }));
  const subject = {
    kind: crd.spec.names.kind,
    apiVersion: `${crd.spec.group}/${version.name}`,
    schema,
    scale: version.subresources?.scale,
  };
  // Rules are run once for a write: what they only warn of is kept until the registry asks.
  const warned = new WeakMap<KubeObject, string[]>();
  const told = (object: KubeObject, { errors, warnings }: ResourceFindings): FieldError[] => {
    if (warnings.length > 0) warned.set(object, warnings);
    return errors;
  };
  const warnings = (object: KubeObject, old: KubeObject | undefined): string[] => [
    ...(warned.get(object) ?? []),
    ...finalizerWarnings(object.metadata, old?.metadata),
  ];
  const status: WriteStrategy<KubeObject> = {
    prepareForUpdate(draft, old, context) {
      onlyStatus.prepareForUpdate?.(draft, old, context);
      const { managedFields } = draft.metadata;
      draft.metadata = { ...old.metadata, ...(managedFields && { managedFields }) };
    },
    validateUpdate: (object, old) => told(object, validateResourceStatus(subject, object, old)),
    warnings,
    resetFields: ['metadata', ...Object.keys(schema.properties ?? {}).filter((name) => !untouched.has(name))].map((name) => [
      name,
    ]),
  };
  return {
    group: crd.spec.group,
    version: version.name,
    kind: crd.spec.names.kind,
    allowUnconditionalUpdate: false,
    validate: (object) => told(object, validateResource(subject, object)),
    validateUpdate: (object, old) => told(object, validateResource(subject, object, old)),
    warnings,
    // Without a status subresource every change counts.
    generation: (object) => {
      const { apiVersion: __, kind: ___, metadata: ____, ...rest } = object as UnknownObject;
      if (hasStatus) delete (rest as Record<string, unknown>)['status'];
      return rest;
    },
    ...(hasStatus && {
      prepareForCreate: (draft: KubeObject) => void delete (draft as UnknownObject)['status'],
      prepareForUpdate: (draft: KubeObject, old: KubeObject) => {
        const before = (old as UnknownObject)['status'];
        if (before === undefined) delete (draft as UnknownObject)['status'];
        else (draft as UnknownObject)['status'] = before;
      },
      resetFields: [['status']],
      status,
    }),
    ...(scale && { scale }),
    printer: printerOf(version),
    ...(fields.length > 0 && {
      selectableFields: (object: KubeObject) =>
        Object.fromEntries(fields.map(({ name, steps }) => [name, String((valueAt(object, steps) as string | undefined) ?? '')])),
    }),
  };
}
