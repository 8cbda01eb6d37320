// EventRateLimit: Events beyond a rate are refused, for the server, a namespace, a user, or a source and what it tells about
// (plugin/pkg/admission/eventratelimit).
import type { Event } from '#api/core/v1';
import { tooManyRequests } from '#apimachinery/errors';
import { aggregateTexts } from '#apimachinery/field';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, handling, type PluginFactory } from '../../plugin.ts';
import { Buckets } from './buckets.ts';
import { type LimitType, limitsOf } from './configuration.ts';

const keys: Readonly<Record<LimitType, (request: AdmissionRequest) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject({ object }) {
    const { source, involvedObject: about } = object as Partial<Event>;
    return [source?.component, source?.host, about?.kind, about?.namespace, about?.name, about?.uid, about?.apiVersion]
      .map((part) => part ?? '')
      .join('');
  },
};

export const eventRateLimit: PluginFactory = ({ clock }, configuration) => {
  const limits = limitsOf(configuration).map((limit) => ({ ...limit, buckets: new Buckets(limit, clock) }));
  return {
    name: 'EventRateLimit',
    handles: handling('CREATE', 'UPDATE'),
    validate(request) {
      if (request.kind !== 'Event' || request.group !== '' || request.dryRun) return;
      const refused = limits.flatMap(({ type, buckets }) => {
        const key = keys[type](request);
        return buckets.take(key) ? [] : [`limit reached on type ${type} for key ${key}`];
      });
      if (refused.length > 0) throw tooManyRequests(`Too many requests: ${aggregateTexts(refused)}`, 0);
    },
  };
};

export const plugin = definePlugin('EventRateLimit', eventRateLimit, { onByDefault: false });
