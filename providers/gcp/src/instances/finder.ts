// The instance of a Node: by its provider ID, else by its name in each zone.
import { instanceNotFound, type Node } from 'sagong/cloud-provider';
import { undefinedIfAbsent } from 'sagong/cloud-provider/kit';
import type { ComputeApi } from '../api/compute.ts';
import type { Instance } from '../api/types.ts';
import { instanceNameOf } from '../names.ts';
import { resourcesOf } from '../resources.ts';
import type { Settings } from '../settings.ts';
import { type InstanceId, parseProviderId } from './provider-id.ts';
import type { Zones } from './zones.ts';

export interface FoundInstance {
  id: InstanceId;
  instance: Instance;
}
export interface InstanceFinder {
  /** The instance behind a Node, or undefined. */
  ofNode(node: Node, signal?: AbortSignal): Promise<FoundInstance | undefined>;
  /** Rejects with `instanceNotFound`. */
  named(name: string, signal?: AbortSignal): Promise<FoundInstance>;
}

/** `trustProject`: the project in a provider ID counts, in the place of the configured one. */
export function createInstanceFinder(
  api: ComputeApi,
  settings: Settings,
  zones: Zones,
  { trustProject }: { trustProject: boolean },
): InstanceFinder {
  async function at(id: InstanceId, signal?: AbortSignal): Promise<FoundInstance | undefined> {
    const project = trustProject ? id.project : settings.project;
    const instances = resourcesOf(api, settings, signal).instances(id.zone, project);
    const instance = await instances.get(instanceNameOf(id.name)).catch(undefinedIfAbsent);
    return instance && { id, instance };
  }
  async function byName(nodeName: string, signal?: AbortSignal): Promise<FoundInstance | undefined> {
    const { project } = settings;
    const name = instanceNameOf(nodeName);
    const all = await Promise.all((await zones.managed(signal)).map((zone) => at({ project, zone, name }, signal)));
    return all.find((found) => found !== undefined);
  }
  return {
    ofNode: async ({ metadata, spec }, signal) =>
      spec?.providerID ? at(parseProviderId(spec.providerID), signal) : byName(metadata.name ?? '', signal),
    async named(name, signal) {
      const found = await byName(name, signal);
      if (!found) throw instanceNotFound();
      return found;
    },
  };
}
