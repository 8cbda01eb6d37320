// LimitPodHardAntiAffinityTopology: a pod may keep others off its own machine, not out of a whole zone (plugin/pkg/admission/antiaffinity).
import type { Pod } from '#api/core/v1';
import { forbidden } from '#apimachinery/errors';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

const hostname = 'kubernetes.io/hostname';

export const limitPodHardAntiAffinityTopology: PluginFactory = () => ({
  name: 'LimitPodHardAntiAffinityTopology',
  handles: handling('CREATE', 'UPDATE'),
  validate(request) {
    if (!isFor(request, '', 'pods')) return;
    const { metadata, spec } = request.object as Pod;
    const terms = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wider = terms.find(({ topologyKey }) => topologyKey !== hostname);
    if (!wider) return;
    const why = `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wider.topologyKey} but only key ${hostname} is allowed`;
    throw forbidden({ group: '', resource: 'pods' }, metadata.name ?? '', why);
  },
});

export const plugin = definePlugin('LimitPodHardAntiAffinityTopology', limitPodHardAntiAffinityTopology, { onByDefault: false });
