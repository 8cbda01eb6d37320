// Priority levels (flowcontrol.apiserver.k8s.io/v1; KEP-1040; pkg/registry/flowcontrol/prioritylevelconfiguration).
import type { PriorityLevelConfiguration } from '#api/flowcontrol/v1';
import { age, columns } from '../../common/printing.ts';
import { collect } from '../../common/report.ts';
import { ownStatus } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { flowStatusDoor } from '../common/conditions.ts';
import { validatePriorityLevel } from './validation.ts';

const validate = (object: PriorityLevelConfiguration) => collect((report) => validatePriorityLevel(report, object));
const none = '<none>';

export const priorityLevelConfiguration = defineKind<PriorityLevelConfiguration>({
  group: 'flowcontrol.apiserver.k8s.io',
  version: 'v1',
  kind: 'PriorityLevelConfiguration',
  metadataRules: 'whole',
  generation: ({ spec }) => spec ?? {},
  defaults({ spec }) {
    for (const [shares, part] of [
      [0, spec?.exempt],
      [30, spec?.limited],
    ] as const) {
      if (!part) continue;
      part.nominalConcurrencyShares ??= shares;
      part.lendablePercent ??= 0;
    }
    const queuing = spec?.limited?.limitResponse?.queuing;
    if (!queuing) return;
    queuing.handSize ||= 8;
    queuing.queues ||= 64;
    queuing.queueLengthLimit ||= 50;
  },
  ...ownStatus,
  validate,
  validateUpdate: validate,
  status: flowStatusDoor,
  printer: {
    columns: columns('Name', 'Type', 'NominalConcurrencyShares', 'Queues', 'HandSize', 'QueueLengthLimit', 'Age'),
    cells: ({ metadata, spec }, now) => {
      const queuing = spec?.limited?.limitResponse?.queuing;
      return [
        metadata.name ?? '',
        spec?.type ?? '',
        spec?.limited?.nominalConcurrencyShares ?? none,
        queuing?.queues ?? none,
        queuing?.handSize ?? none,
        queuing?.queueLengthLimit ?? none,
        age(metadata, now),
      ];
    },
  },
});
