// Fits the size of workloads to what is measured of them (pkg/controller/podautoscaler). Every autoscaler is looked at each sync period.
import type { Pod } from '#api/core/v1';
import { parseApiVersion, splitKey } from '#apimachinery/meta';
import {
  action,
  type ControllerDefinition,
  defineController,
  type DiscoveredResource,
  ownKey,
  type Plan,
  watch,
} from '#controller-runtime';
import { horizontalPodAutoscalers, pods } from '#controller-runtime/platform';
import { allow, recordEvents } from '#controller-runtime/workload';
import { deepEqual } from '#utils';
import type { ControllersConfig } from '../config.ts';
import { autoscale, type Input } from './actions/autoscale.ts';
import type { History } from './limits.ts';
import { withoutScale } from './status.ts';
import type { AutoscalerView, Hpa } from './view.ts';

const discoveryPeriodMs = 30_000;

const targets = ({ spec }: Hpa, discovered: readonly DiscoveredResource[]): DiscoveredResource[] => {
  const { group } = parseApiVersion(spec?.scaleTargetRef.apiVersion ?? '');
  const kind = spec?.scaleTargetRef.kind;
  return discovered.filter((one) => one.group === group && one.kind === kind);
};

const measure = action<Input>('autoscale');

export const podAutoscaler = (config: Pick<ControllersConfig, 'horizontalPodAutoscalerSyncPeriodMs'>): ControllerDefinition =>
  defineController<AutoscalerView>({
    name: 'horizontal-pod-autoscaler-controller',
    aliases: ['horizontalpodautoscaling'],
    for: horizontalPodAutoscalers,
    serviceAccount: 'horizontal-pod-autoscaler',
    eventSource: 'horizontal-pod-autoscaler',
    rights: [
      allow('get,list,watch', 'autoscaling', 'horizontalpodautoscalers'),
      allow('update', 'autoscaling', 'horizontalpodautoscalers/status'),
      allow('get,update', '*', '*/scale'),
      allow('list,watch', 'core', 'pods'),
      allow('list,watch', 'metrics.k8s.io', 'pods'),
      allow('get,list,watch', 'custom.metrics.k8s.io', '*'),
      allow('get,list,watch', 'external.metrics.k8s.io', '*'),
      recordEvents,
    ],
    watches: [
      watch<Hpa>({
        resource: horizontalPodAutoscalers,
        keys: (hpa, old) => (old && deepEqual(old.spec, hpa.spec) ? [] : ownKey(hpa)),
      }),
      watch<Pod>({ resource: pods }),
    ],
    discover: { everyMs: discoveryPeriodMs, watch: () => undefined },
    view(key, cache, { memory }) {
      const { namespace, name } = splitKey(key);
      const hpa = cache.get<Hpa>(horizontalPodAutoscalers, namespace, name);
      return {
        hpa,
        pods: hpa ? cache.list<Pod>(pods, namespace) : [],
        discovered: cache.discovered(),
        history: memory as History | undefined,
      };
    },
    reconcile(view, now): Plan {
      const { hpa, discovered, history } = view;
      if (!hpa) return { effects: [] };
      const requeueAfterMs = config.horizontalPodAutoscalerSyncPeriodMs;
      const resources = targets(hpa, discovered);
      const { kind, apiVersion = '' } = hpa.spec?.scaleTargetRef ?? { kind: '' };
      if (resources.length === 0) {
        const { group } = parseApiVersion(apiVersion);
        return {
          ...withoutScale(hpa, `no matches for kind "${kind}" in group "${group}"`, now),
          remember: history,
          requeueAfterMs,
        };
      }
      return {
        effects: [measure.on({ ...view, hpa, resources })],
        remember: history,
        requeueAfterMs,
        because: `What ${kind} ${hpa.spec?.scaleTargetRef.name} uses is measured every ${requeueAfterMs / 1000} s.`,
      };
    },
    actions: ({ client, clock }) => [measure.by((input) => autoscale(client, input, clock.now()))],
    concurrency: { flag: 'concurrent-horizontal-pod-autoscaler-syncs', default: 5 },
  });
