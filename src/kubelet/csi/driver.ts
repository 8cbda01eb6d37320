// A CSI driver of this node, as far as a kubelet asks it: the Node service (https://github.com/container-storage-interface/spec/blob/master/spec.md#node-service-rpc).
import type { VolumeUse } from '../container/volume.ts';
import { csiStageMs } from '../limits.ts';
import { callPlugin, type PluginEndpoint } from './calls.ts';

export type Texts = Record<string, string>;

export type AccessMode =
  | 'SINGLE_NODE_WRITER'
  | 'MULTI_NODE_READER_ONLY'
  | 'MULTI_NODE_MULTI_WRITER'
  | 'SINGLE_NODE_SINGLE_WRITER'
  | 'SINGLE_NODE_MULTI_WRITER';

export interface VolumeCapability {
  mount?: { fsType: string; mountFlags: string[]; volumeMountGroup: string };
  /** The volume is a device. */
  block?: object;
  accessMode: { mode: AccessMode };
}

export interface StageRequest {
  volumeId: string;
  publishContext: Texts;
  stagingTargetPath: string;
  volumeCapability: VolumeCapability;
  secrets: Texts;
  volumeContext: Texts;
}
export interface PublishRequest extends StageRequest {
  targetPath: string;
  readonly: boolean;
}
export interface ExpandRequest {
  volumeId: string;
  volumePath: string;
  stagingTargetPath: string;
  capacityRange: { requiredBytes: string };
  volumeCapability: VolumeCapability;
  secrets: Texts;
}
export interface StatsRequest {
  volumeId: string;
  volumePath: string;
  stagingTargetPath: string;
}
export interface NodeInfo {
  nodeId: string;
  maxVolumes: number;
  topology: Texts;
}

export interface Capabilities {
  stages: boolean;
  expands: boolean;
  measures: boolean;
  /** Knows the access modes of KEP-2485. */
  singleNodeModes: boolean;
  /** Gives the volume to the pod's group itself. */
  mountGroup: boolean;
}

export class CsiDriver {
  readonly name: string;
  readonly #endpoint: PluginEndpoint;
  #capabilities: Promise<Capabilities> | undefined;

  constructor(name: string, endpoint: PluginEndpoint) {
    this.name = name;
    this.#endpoint = endpoint;
  }
  async info(): Promise<NodeInfo> {
    type Answer = { nodeId: string; maxVolumesPerNode: string; accessibleTopology: { segments: Texts } | null };
    const answer = await this.#call<Answer>('NodeGetInfo', {});
    return {
      nodeId: answer.nodeId,
      maxVolumes: Number(answer.maxVolumesPerNode),
      topology: answer.accessibleTopology?.segments ?? {},
    };
  }
  /** Asked once for each registration. */
  capabilities(): Promise<Capabilities> {
    this.#capabilities ??= this.#call<{ capabilities: { rpc?: { type: string } }[] }>('NodeGetCapabilities', {}).then(
      ({ capabilities }) => {
        const types = new Set(capabilities.map(({ rpc }) => rpc?.type));
        return {
          stages: types.has('STAGE_UNSTAGE_VOLUME'),
          expands: types.has('EXPAND_VOLUME'),
          measures: types.has('GET_VOLUME_STATS'),
          singleNodeModes: types.has('SINGLE_NODE_MULTI_WRITER_CAPABILITY'),
          mountGroup: types.has('VOLUME_MOUNT_GROUP'),
        };
      },
    );
    this.#capabilities.catch(() => {
      this.#capabilities = undefined;
    });
    return this.#capabilities;
  }
  stage(request: StageRequest): Promise<void> {
    return this.#change('NodeStageVolume', request);
  }
  unstage(request: { volumeId: string; stagingTargetPath: string }): Promise<void> {
    return this.#change('NodeUnstageVolume', request);
  }
  publish(request: PublishRequest): Promise<void> {
    return this.#change('NodePublishVolume', request);
  }
  unpublish(request: { volumeId: string; targetPath: string }): Promise<void> {
    return this.#change('NodeUnpublishVolume', request);
  }
  expand(request: ExpandRequest): Promise<void> {
    return this.#change('NodeExpandVolume', request);
  }

  async stats(request: StatsRequest): Promise<VolumeUse> {
    type Usage = { available: string; total: string; used: string; unit: string };
    type Answer = { usage: Usage[]; volumeCondition: { abnormal: boolean; message: string } | null };
    const { usage, volumeCondition } = await this.#call<Answer>('NodeGetVolumeStats', request);
    const inUnit = (unit: string): VolumeUse['bytes'] => {
      const found = usage.find((one) => one.unit === unit);
      return found && { available: Number(found.available), total: Number(found.total), used: Number(found.used) };
    };
    const [bytes, inodes] = [inUnit('BYTES'), inUnit('INODES')];
    return {
      ...(bytes && { bytes }),
      ...(inodes && { inodes }),
      ...(volumeCondition?.abnormal && { abnormal: volumeCondition.message }),
    };
  }

  async #change(method: string, request: object): Promise<void> {
    await this.#call(method, request, csiStageMs);
  }
  #call<T>(method: string, request: object, timeoutMs?: number): Promise<T> {
    return callPlugin<T>(this.#endpoint, 'Node', method, request, timeoutMs);
  }
}
