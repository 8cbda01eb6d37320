// Events about objects out of a cache, which do not say their kind. Pure.
import type { Node, Service } from '#api/core/v1';
import type { Effect } from '#controller-runtime';

type EventEffect = Extract<Effect, { op: 'event' }>;

export const asNode = (node: Node): Node => (node.kind ? node : { ...node, apiVersion: 'v1', kind: 'Node' });
export const asService = (service: Service): Service =>
  service.kind ? service : { ...service, apiVersion: 'v1', kind: 'Service' };

export const normal = (regarding: EventEffect['regarding'], reason: string, message: string): EventEffect => ({
  op: 'event',
  regarding,
  type: 'Normal',
  reason,
  message,
});
export const warning = (regarding: EventEffect['regarding'], reason: string, message: string): EventEffect => ({
  ...normal(regarding, reason, message),
  type: 'Warning',
});
