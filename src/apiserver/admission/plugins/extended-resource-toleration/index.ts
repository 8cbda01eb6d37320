// ExtendedResourceToleration: a pod that asks for a device tolerates the taint of the nodes that are kept for it
// (plugin/pkg/admission/extendedresourcetoleration).
import { isExtendedResourceName } from '#api/core/pod';
import type { Pod, Toleration } from '#api/core/v1';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

/** The tolerations with this one: in place of one for the same taint, or at the end. */
function including(tolerations: readonly Toleration[], key: string): Toleration[] {
  const wanted: Toleration = { key, operator: 'Exists', effect: 'NoSchedule' };
  const isSame = (one: Toleration): boolean =>
    one.key === key && one.effect === wanted.effect && one.operator === wanted.operator && !one.value;
  return tolerations.some(isSame) ? tolerations.map((one) => (isSame(one) ? wanted : one)) : [...tolerations, wanted];
}

export const extendedResourceToleration: PluginFactory = () => ({
  name: 'ExtendedResourceToleration',
  handles: handling('CREATE', 'UPDATE'),
  admit(request) {
    if (!isFor(request, '', 'pods')) return;
    const { spec } = request.object as Pod;
    if (!spec) return;
    const requested = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      Object.keys(resources?.requests ?? {}),
    );
    for (const name of [...new Set(requested)].filter(isExtendedResourceName).sort())
      spec.tolerations = including(spec.tolerations ?? [], name);
  },
});

export const plugin = definePlugin('ExtendedResourceToleration', extendedResourceToleration, { onByDefault: false });
