// Events (core/v1 and events.k8s.io/v1 in one storage; pkg/registry/core/event).
import type { Event } from '#api/core/v1';
import { ago, column } from '../../common/printing.ts';
import { defineKind } from '../../kind.ts';
import { fieldLabels, fromStorage, toStorage } from './conversion.ts';
import { validateEventCreate, validateEventUpdate } from './validation.ts';

function sourceText({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || '';
  const instance = source?.host || reportingInstance;
  return instance ? `${component}, ${instance}` : component;
}

export const event = defineKind<Event>({
  group: '',
  version: 'v1',
  kind: 'Event',
  otherGroups: ['events.k8s.io'],
  ttlSeconds: ({ eventTtlSeconds }) => eventTtlSeconds,
  metadataRules: 'none',
  kubeFinalizers: false,
  // Names of events are made of the names of objects, which need not be domain names.
  validatesMetadata: false,
  validate: validateEventCreate,
  validateUpdate: validateEventUpdate,
  allowCreateOnUpdate: true,
  deletion: { defaultPropagation: 'None' },
  printer: {
    columns: [
      column('Last Seen'),
      column('Type'),
      column('Reason'),
      column('Object'),
      column('Subobject', { wide: true }),
      column('Source', { wide: true }),
      column('Message'),
      column('First Seen', { wide: true }),
      column('Count', { wide: true }),
      column('Name', { wide: true, name: true }),
    ],
    cells(object, now) {
      const { involvedObject: about, series } = object;
      const first = ago(object.firstTimestamp ?? object.eventTime, now);
      const last = series ? ago(series.lastObservedTime, now) : object.lastTimestamp ? ago(object.lastTimestamp, now) : first;
      const kind = (about?.kind ?? '').toLowerCase();
      return [
        last,
        object.type ?? '',
        object.reason ?? '',
        about?.name ? `${kind}/${about.name}` : kind,
        about?.fieldPath ?? '',
        sourceText(object),
        (object.message ?? '').trim(),
        first,
        series ? (series.count ?? 0) : object.count || 1,
        object.metadata.name ?? '',
      ];
    },
  },
  selectableFields: ({ involvedObject: about, reason, reportingComponent, source, type }) => ({
    'involvedObject.kind': about?.kind ?? '',
    'involvedObject.namespace': about?.namespace ?? '',
    'involvedObject.name': about?.name ?? '',
    'involvedObject.uid': about?.uid ?? '',
    'involvedObject.apiVersion': about?.apiVersion ?? '',
    'involvedObject.resourceVersion': about?.resourceVersion ?? '',
    'involvedObject.fieldPath': about?.fieldPath ?? '',
    reason: reason ?? '',
    reportingComponent: reportingComponent ?? '',
    source: source?.component || reportingComponent || '',
    type: type ?? '',
  }),
  conversions: { 'events.k8s.io/v1': { toStorage, fromStorage, fieldLabels } },
});
