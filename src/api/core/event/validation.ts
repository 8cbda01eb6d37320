// Rules of events; those of events.k8s.io/v1 are stricter (pkg/apis/core/validation/events.go).
import type { Event } from '#api/core/v1';
import { type FieldError, root } from '#apimachinery/field';
import {
  byteLength,
  isDNS1123Subdomain,
  isQualifiedName,
  nameIsDNSSubdomain,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '#apimachinery/validation';
import { finalizerErrors } from '../../common/builtin.ts';
import { semanticEqual } from '../../common/equality.ts';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import type { KindContext } from '../../kind.ts';

const charactersMax = 128;
const noteCharactersMax = 1024;
/** Fields that print as an empty text when absent. */
const texts: ReadonlySet<keyof Event> = new Set([
  'reason',
  'message',
  'type',
  'action',
  'reportingComponent',
  'reportingInstance',
]);

const isCore = ({ requestVersion }: KindContext): boolean => requestVersion === undefined || requestVersion === 'v1';

function validateLength(report: Report, name: string, value: string | undefined, max: number): void {
  if (byteLength(value ?? '') > max) report.invalid(root(name), '', `can have at most ${max} characters`);
}

function validateEvent(report: Report, event: Event, controllerField: string): void {
  const { metadata, involvedObject, eventTime } = event;
  const namespace = metadata.namespace ?? '';
  const about = involvedObject?.namespace ?? '';
  const mismatch = eventTime
    ? about === '' && namespace !== 'default' && namespace !== 'kube-system'
    : about === ''
      ? namespace !== '' && namespace !== 'default'
      : namespace !== about;
  if (mismatch) report.invalid(root('involvedObject', 'namespace'), about, 'does not match event.namespace');
  if (eventTime) validateNewStyle(report, event, controllerField);
  report.problems(root('namespace'), namespace, isDNS1123Subdomain(namespace));
}

function validateNewStyle(report: Report, event: Event, controllerField: string): void {
  const controller = event.reportingComponent ?? '';
  if (controller === '') report.required(root(controllerField));
  report.problems(root(controllerField), controller, isQualifiedName(controller));
  for (const name of ['reportingInstance', 'action', 'reason'] as const) {
    if (isEmpty(event[name])) report.required(root(name));
    validateLength(report, name, event[name], charactersMax);
  }
  validateLength(report, 'message', event.message, noteCharactersMax);
}

function validateSeries(report: Report, { series }: Event): void {
  if (!series) return;
  if ((series.count ?? 0) < 2) report.invalid(root('series.count'), '', 'should be at least 2');
  if (!series.lastObservedTime) report.required(root('series.lastObservedTime'));
}

export function validateEventCreate(event: Event, context: KindContext): FieldError[] {
  return collect((report) => {
    validateEvent(report, event, isCore(context) ? 'reportingComponent' : 'reportingController');
    if (isCore(context)) return;
    report.add([
      ...validateObjectMeta(event.metadata, true, nameIsDNSSubdomain, root('metadata')),
      ...finalizerErrors(event.metadata),
    ]);
    validateSeries(report, event);
    if (!event.eventTime) report.required(root('eventTime'));
    if (event.type !== 'Normal' && event.type !== 'Warning')
      report.invalid(root('type'), '', `has invalid value: ${event.type ?? ''}`);
    for (const name of ['firstTimestamp', 'lastTimestamp', 'count'] as const)
      if (event[name]) report.invalid(root(name), '', 'needs to be unset');
    if (event.source?.component || event.source?.host) report.invalid(root('source'), '', 'needs to be unset');
  });
}

const reference = (about: Event['involvedObject'] | undefined): unknown => about && internalForm('core.ObjectReference', about);

export function validateEventUpdate(event: Event, old: Event, context: KindContext): FieldError[] {
  return collect((report) => {
    validateEvent(report, event, isCore(context) ? 'reportingComponent' : 'reportingController');
    if (isCore(context)) return;
    report.add([...validateObjectMetaUpdate(event.metadata, old.metadata, root('metadata')), ...finalizerErrors(event.metadata)]);
    if (!semanticEqual(event.series, old.series)) validateSeries(report, event);
    const same = (field: keyof Event, path: string = String(field), shown: unknown = event[field]): void =>
      immutable(report, root(path), event[field], old[field], shown ?? (texts.has(field) ? '' : undefined));
    same('involvedObject', 'involvedObject', reference(event.involvedObject));
    same('reason');
    same('message');
    same('source', 'source', internalForm('core.EventSource', event.source));
    same('firstTimestamp');
    same('lastTimestamp');
    same('count', 'count', event.count ?? 0);
    same('reason');
    same('type');
    same('eventTime');
    same('action');
    same('related', 'related', reference(event.related));
    same('reportingComponent', 'reportingController');
    same('reportingInstance');
  });
}
