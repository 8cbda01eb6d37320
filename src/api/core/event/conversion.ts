// Events of events.k8s.io/v1 and of core/v1 are one thing under two sets of names (pkg/apis/events/v1/conversion.go).
import type { Event as CoreEvent } from '#api/core/v1';
import type { Event as EventsEvent } from '#api/events/v1';
import type { KubeObject } from '#apimachinery/meta';

/** Names in core/v1 of what has another name in events.k8s.io/v1. */
const names = {
  regarding: 'involvedObject',
  note: 'message',
  reportingController: 'reportingComponent',
  deprecatedSource: 'source',
  deprecatedFirstTimestamp: 'firstTimestamp',
  deprecatedLastTimestamp: 'lastTimestamp',
  deprecatedCount: 'count',
} as const;

function renamed(object: object, pairs: readonly (readonly [string, string])[]): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...object };
  for (const [from, to] of pairs) {
    if (copy[from] !== undefined) copy[to] = copy[from];
    delete copy[from];
  }
  return copy;
}

const toCore = Object.entries(names);
const toEvents = toCore.map(([left, right]) => [right, left] as const);

export const toStorage = (object: KubeObject): CoreEvent => renamed(object, toCore) as unknown as CoreEvent;

export const fromStorage = (object: CoreEvent): EventsEvent => renamed(object, toEvents) as unknown as EventsEvent;

const regardingFields = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

/** Selectable fields of events.k8s.io/v1, to their names in core/v1 (pkg/apis/events/v1/conversion.go). */
export const fieldLabels: Readonly<Record<string, string>> = {
  ...Object.fromEntries(regardingFields.map((field) => [`regarding.${field}`, `involvedObject.${field}`])),
  reason: 'reason',
  reportingController: 'reportingComponent',
  type: 'type',
};
