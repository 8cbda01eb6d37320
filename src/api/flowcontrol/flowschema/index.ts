// Flow schemas (flowcontrol.apiserver.k8s.io/v1; KEP-1040; pkg/registry/flowcontrol/flowschema).
import type { FlowSchema } from '#api/flowcontrol/v1';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { ownStatus } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { flowStatusDoor, validateStatus } from '../common/conditions.ts';
import { validateFlowSchema } from './validation.ts';

const validate = (object: FlowSchema) =>
  collect((report) => {
    validateFlowSchema(report, object);
    validateStatus(report, object);
  });

export const flowSchema = defineKind<FlowSchema>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'FlowSchema',
  metadataRules: 'whole',
  generation: ({ spec }) => spec ?? {},
  defaults(draft) {
    if (draft.spec) draft.spec.matchingPrecedence ||= 1000;
  },
  ...ownStatus,
  validate,
  validateUpdate: validate,
  status: flowStatusDoor,
  printer: {
    // As they are tried on requests.
    order: (one, other) =>
      (one.spec?.matchingPrecedence ?? 0) - (other.spec?.matchingPrecedence ?? 0) ||
      ((one.metadata.name ?? '') < (other.metadata.name ?? '') ? -1 : 1),
    columns: columns('Name', 'PriorityLevel', 'MatchingPrecedence', 'DistinguisherMethod', 'Age', 'MissingPL'),
    cells: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      spec?.priorityLevelConfiguration?.name ?? '',
      spec?.matchingPrecedence ?? 0,
      spec?.distinguisherMethod?.type ?? '<none>',
      age(metadata, now),
      status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ],
  },
});
