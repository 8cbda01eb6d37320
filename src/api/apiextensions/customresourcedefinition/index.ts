// Definitions of custom resources (apiextensions.k8s.io/v1; pkg/registry/customresourcedefinition).
import type { CustomResourceDefinition, CustomResourceDefinitionSpec } from '#api/apiextensions/v1';
import { quote } from '#utils';
import { isEmpty } from '../../common/report.ts';
import { isKnownFormat } from '../common/formats.ts';
import { keep, statusDoor } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { storageVersion, walkSchema } from './definition.ts';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './validation.ts';

function defaults(draft: CustomResourceDefinition): void {
  const spec = (draft.spec ??= { group: '', names: { plural: '', kind: '' }, scope: '', versions: [] });
  const { names } = spec;
  if (names) {
    names.singular ||= names.kind?.toLowerCase() ?? '';
    if (!names.singular) delete names.singular;
    if (names.kind) names.listKind ||= `${names.kind}List`;
  }
  spec.conversion ??= { strategy: 'None' };
  const { webhook } = spec.conversion;
  // Upstream's own form of a definition has no webhook, only what one would say.
  if (webhook && !webhook.clientConfig && isEmpty(webhook.conversionReviewVersions)) delete spec.conversion.webhook;
  const service = webhook?.clientConfig?.service;
  if (service) service.port ??= 443;
  recordStorage(draft, true);
}

/** The storage version is among those in which objects may be stored. `onlyFirst`: nothing is recorded yet. */
function recordStorage(draft: CustomResourceDefinition, onlyFirst = false): void {
  const name = storageVersion(draft.spec);
  const stored = draft.status?.storedVersions;
  if (name === undefined || stored?.includes(name) || (onlyFirst && !isEmpty(stored))) return;
  draft.status = { ...draft.status, storedVersions: [...(stored ?? []), name] };
}

function unknownFormats(spec: CustomResourceDefinitionSpec | undefined): string[] {
  const found: string[] = [];
  const schemas = [...new Set((spec?.versions ?? []).map(({ schema }) => schema?.openAPIV3Schema))];
  for (const schema of schemas) {
    walkSchema(schema, (one) => {
      if (one.format && !isKnownFormat(one.type ?? '', one.format)) found.push(one.format);
    });
  }
  return found;
}

export const customResourceDefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  metadataRules: 'change',
  kubeFinalizers: false,
  generation: ({ spec }: CustomResourceDefinition) => spec,
  defaults,
  resetFields: [['status']],
  prepareForCreate(draft) {
    delete draft.status;
    recordStorage(draft);
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    recordStorage(draft);
  },
  validate: validateDefinition,
  validateUpdate: validateDefinitionUpdate,
  warnings(object, old) {
    const before = new Set(unknownFormats(old?.spec));
    return unknownFormats(object.spec)
      .filter((format) => !before.has(format))
      .map((format) => `unrecognized format ${quote(format)}`);
  },
  allowUnconditionalUpdate: false,
  status: statusDoor<CustomResourceDefinition>({ tables: false, validateUpdate: validateDefinitionStatus }),
});
