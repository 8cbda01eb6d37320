// DefaultTolerationSeconds: pods stay for a while on a node that is not ready or unreachable (plugin/pkg/admission/defaulttolerationseconds).
import type { Pod, Toleration } from '#api/core/v1';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

const tolerates = (tolerations: readonly Toleration[], key: string): boolean =>
  tolerations.some(
    (toleration) => (toleration.key === key || !toleration.key) && (toleration.effect === 'NoExecute' || !toleration.effect),
  );

export const defaultTolerationSeconds: PluginFactory = ({ options }) => {
  const added = [
    [notReady, options.notReadyTolerationSeconds],
    [unreachable, options.unreachableTolerationSeconds],
  ] as const;
  return {
    name: 'DefaultTolerationSeconds',
    handles: handling('CREATE', 'UPDATE'),
    admit(request) {
      if (!isFor(request, '', 'pods')) return;
      const { spec } = request.object as Pod;
      if (!spec) return;
      const own = spec.tolerations ?? [];
      const missing = added.filter(([key]) => !tolerates(own, key));
      if (missing.length === 0) return;
      spec.tolerations = [
        ...own,
        ...missing.map(([key, tolerationSeconds]) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds })),
      ];
    },
  };
};

export const plugin = definePlugin('DefaultTolerationSeconds', defaultTolerationSeconds);
