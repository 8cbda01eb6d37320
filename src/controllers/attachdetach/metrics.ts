// Counts of volumes (pkg/controller/volume/attachdetach/metrics), with upstream's names.
import type { Node, Pod } from '#api/core/v1';
import type { VolumeAttachment } from '#api/storage/v1';
import type { Cache, GaugeDefinition } from '#controller-runtime';
import { nodes, pods } from '#controller-runtime/platform';
import {
  attachableVolumes,
  attachedVolume,
  boundVolumes,
  isManaged,
  needsVolumes,
  type Volume,
  volumeAttachments,
} from './volumes.ts';

export const forcedDetaches = {
  name: 'attach_detach_controller_attachdetach_controller_forced_detaches',
  help: 'Detachments that did not wait for the node.',
  labels: ['reason'],
};

const pluginName = ({ driver }: Pick<Volume, 'driver'>): string => `kubernetes.io/csi:${driver}`;

/** Counts by labels. */
class Counts {
  readonly #counts = new Map<string, { labels: string[]; value: number }>();
  add(...labels: string[]): void {
    const key = JSON.stringify(labels);
    const known = this.#counts.get(key);
    if (known) known.value++;
    else this.#counts.set(key, { labels, value: 1 });
  }
  all(): Iterable<{ labels: string[]; value: number }> {
    return this.#counts.values();
  }
}

const scheduled = (cache: Cache): Pod[] => cache.list<Pod>(pods).filter(({ spec }) => spec?.nodeName && spec.volumes?.length);

export const gauges: GaugeDefinition[] = [
  {
    name: 'storage_count_attachable_volumes_in_use',
    help: 'Volumes of drivers that pods use.',
    labels: ['node', 'volume_plugin'],
    read(cache) {
      const counts = new Counts();
      for (const pod of scheduled(cache)) {
        const inline = (pod.spec?.volumes ?? []).flatMap(({ csi }) => csi ?? []);
        for (const volume of [...boundVolumes(pod, cache), ...inline]) counts.add(pod.spec?.nodeName ?? '', pluginName(volume));
      }
      return counts.all();
    },
  },
  {
    name: 'attachdetach_controller_total_volumes',
    help: 'Volumes that are to be attached, and that are.',
    labels: ['plugin_name', 'state'],
    read(cache) {
      const counts = new Counts();
      const desired = new Map<string, Volume>();
      for (const pod of scheduled(cache)) {
        const nodeName = pod.spec?.nodeName ?? '';
        if (!needsVolumes(pod) || !isManaged(cache.get<Node>(nodes, '', nodeName))) continue;
        for (const volume of attachableVolumes(pod, cache)) desired.set(`${nodeName}/${volume.uniqueName}`, volume);
      }
      for (const volume of desired.values()) counts.add(pluginName(volume), 'desired_state_of_world');
      for (const attachment of cache.list<VolumeAttachment>(volumeAttachments)) {
        const volume = attachedVolume(attachment, cache);
        if (volume) counts.add(pluginName(volume), 'actual_state_of_world');
      }
      return counts.all();
    },
  },
];
