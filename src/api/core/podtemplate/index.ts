// Pod templates as objects of their own (core/v1; pkg/registry/core/podtemplate).
import type { PodTemplate } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { containerCells, dropDisabledTemplateFields } from '../pod/templates.ts';
import { columns, formatLabels } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { defineKind, type KindContext } from '../../kind.ts';
import { podTemplateDefaults } from '../pod/defaults.ts';
import { validatePodTemplateSpec } from '../pod/validation/spec.ts';
import { podTemplateWarnings } from '../pod/warnings.ts';

const validate = ({ template = {} }: PodTemplate, context: KindContext, old?: PodTemplate) =>
  collect((report) => validatePodTemplateSpec(report, root('template'), template, context, old?.template));

export const podTemplate = defineKind<PodTemplate>({
  group: '',
  version: 'v1',
  kind: 'PodTemplate',
  metadataRules: 'change',
  generation: ({ template }: PodTemplate) => template ?? {},
  defaults: (draft) => podTemplateDefaults((draft.template ??= {})),
  prepareForCreate: ({ template }) => dropDisabledTemplateFields(template),
  prepareForUpdate: (draft, old) => dropDisabledTemplateFields(draft.template, old.template),
  validate,
  validateUpdate: (object, old, context) => validate(object, context, old),
  warnings: ({ metadata, template }, old) =>
    !old || metadata.generation !== old.metadata.generation ? podTemplateWarnings(root('template'), template) : [],
  printer: {
    columns: columns('Name', 'Containers', 'Images', 'Pod Labels'),
    cells: ({ metadata, template }) => [
      metadata.name ?? '',
      ...containerCells(template),
      formatLabels(template?.metadata?.labels),
    ],
  },
  deletion: { returnsObject: true },
});
