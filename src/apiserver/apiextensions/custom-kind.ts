// A custom resource's definition: the same contract as a built-in kind, made from one version of a CustomResourceDefinition
// (design: "Kind": "A custom resource is the same definition made at run time from its CRD").
import type { KindDefinition, ScaleMapping, WriteStrategy } from '#api';
import { nestedField, type ResourceFindings, validateResource, validateResourceStatus } from '#api/apiextensions/common';
import type { CustomResourceDefinition, CustomResourceDefinitionVersion, JSONSchemaProps } from '#api/apiextensions/v1';
import { plainError } from '#apimachinery/errors';
import type { FieldError } from '#apimachinery/field';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { onlyStatus } from '../registry/builtin.ts';
import { printerOf } from './columns.ts';
import { finalizerWarnings } from './finalizers.ts';
import { parsePath, setAt, valueAt } from './simple-path.ts';

/** Root fields that the status door leaves to the client, or that nobody owns. */
const untouched = new Set(['status', 'metadata', 'kind', 'apiVersion']);

/** A definition may name fields that hold something else, so objects may: upstream has no reason for that failure. */
function readAt(object: unknown, path: string, wanted: 'int64' | 'string'): unknown {
  const { value, problem } = nestedField(object, path, wanted);
  if (problem) throw plainError(problem);
  return value;
}

/** As the 32 bits of a Scale. */
function numberAt(object: unknown, path: string): number | undefined {
  const value = readAt(object, path, 'int64');
  return typeof value === 'number' ? Number(BigInt.asIntN(32, BigInt(value))) : undefined;
}

/** Where each version keeps the number of replicas, served or not. */
const replicasPathsOf = ({ spec: { group, versions } }: CustomResourceDefinition): ScaleMapping<KubeObject>['replicasPaths'] =>
  new Map(
    versions.map(({ name, subresources }) => {
      const path = subresources?.scale?.specReplicasPath;
      return [`${group}/${name}`, path === undefined ? undefined : (parsePath(path) ?? []).map(String)];
    }),
  );

function scaleOf(
  crd: CustomResourceDefinition,
  { subresources }: CustomResourceDefinitionVersion,
): ScaleMapping<KubeObject> | undefined {
  const scale = subresources?.scale;
  if (!scale) return undefined;
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = scale;
  const spec = parsePath(specReplicasPath) ?? [];
  return {
    specReplicas: (object) => numberAt(object, specReplicasPath),
    setSpecReplicas: (draft, replicas) => setAt(draft as UnknownObject, spec, replicas),
    specReplicasPath: spec.map(String),
    replicasPaths: replicasPathsOf(crd),
    statusReplicas: (object) => numberAt(object, statusReplicasPath) ?? 0,
    selector: (object) => (labelSelectorPath ? String(readAt(object, labelSelectorPath, 'string') ?? '') : ''),
  };
}

/** Writes of the resource itself, where its status has a door of its own. */
const statusApart: WriteStrategy<KubeObject> = {
  prepareForCreate: (draft) => void delete (draft as UnknownObject)['status'],
  prepareForUpdate(draft, old) {
    const before = (old as UnknownObject)['status'];
    if (before === undefined) delete (draft as UnknownObject)['status'];
    else (draft as UnknownObject)['status'] = before;
  },
  resetFields: [['status']],
};

/** Writes of the status, which leave everything else as it is. */
const statusOnly = ({ properties = {} }: JSONSchemaProps): WriteStrategy<KubeObject> => ({
  prepareForUpdate(draft, old, context) {
    onlyStatus.prepareForUpdate?.(draft, old, context);
    const { managedFields } = draft.metadata;
    const { managedFields: _, ...metadata } = old.metadata;
    draft.metadata = { ...metadata, ...(managedFields && { managedFields }) };
  },
  resetFields: ['metadata', ...Object.keys(properties).filter((name) => !untouched.has(name))].map((name) => [name]),
});

export function customKind(
  crd: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  schema: JSONSchemaProps,
): KindDefinition<KubeObject> {
  const hasStatus = version.subresources?.status !== undefined;
  const scale = scaleOf(crd, version);
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
  return {
    group: crd.spec.group,
    version: version.name,
    kind: crd.spec.names.kind,
    allowUnconditionalUpdate: false,
    validate: (object, { metadataErrors }) => told(object, validateResource(subject, object, { metadataErrors })),
    validateUpdate: (object, old, { metadataErrors }) => told(object, validateResource(subject, object, { old, metadataErrors })),
    warnings,
    // Without a status subresource every change counts.
    generation: (object) => {
      const { apiVersion: __, kind: ___, metadata: ____, ...rest } = object as UnknownObject;
      if (hasStatus) delete (rest as Record<string, unknown>)['status'];
      return rest;
    },
    ...(hasStatus && {
      ...statusApart,
      status: {
        ...statusOnly(schema),
        validateUpdate: (object, old, { metadataErrors }) =>
          told(object, validateResourceStatus(subject, object, { old, metadataErrors })),
        warnings,
      },
    }),
    ...(scale && { scale }),
    printer: printerOf(version),
    ...(fields.length > 0 && {
      selectableFields: (object: KubeObject) =>
        Object.fromEntries(fields.map(({ name, steps }) => [name, String((valueAt(object, steps) as string | undefined) ?? '')])),
    }),
  };
}
