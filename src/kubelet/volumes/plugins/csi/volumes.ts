// Mounts volumes of CSI drivers: attached by the control plane, staged once on the node, published to each pod, and back (upstream pkg/volume/csi csi_attacher.go,
// csi_mounter.go and csi_block.go, and the kubelet's reconciler). What is mounted is found again on the disk.
import { mkdir, rm, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { PersistentVolume, Pod, Secret, SecretReference } from '#api/core/v1';
import type { CSIDriver } from '#api/storage/v1';
import { isNotFound } from '#apimachinery/errors';
import type { MountedVolume, VolumeUse } from '../../../container/volume.ts';
import type { Capabilities, CsiDrivers, Texts } from '../../../csi/index.ts';
import type { ObjectSource } from '../../../env/environment.ts';
import { volumeStatsMs } from '../../../limits.ts';
import type { TokenManager } from '../../tokens.ts';
import { giveToGroup } from '../directory.ts';
import { type AttachmentDeps, attachmentOf } from './attachment.ts';
import * as places from './places.ts';
import { capabilityOf, changesOwner, checkLifecycle, contextOf, type CsiVolume, tokenText } from './requests.ts';

const csiDrivers = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' };

export interface CsiVolumesDeps extends AttachmentDeps {
  rootDir: string;
  drivers: CsiDrivers;
  tokens: TokenManager;
  /** Reads Secrets. */
  direct: ObjectSource;
}

async function orUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const textsOf = ({ data = {} }: Secret): Texts =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));

/** What one mount needs to know. */
interface Mounting {
  volume: CsiVolume;
  pod: Pod;
  object: CSIDriver | undefined;
  capabilities: Capabilities;
  /** The name of the VolumeAttachment; empty for drivers that do not attach. */
  attachment: string;
  publishContext: Texts;
  at: places.Places;
}

export class CsiVolumes {
  readonly #deps: CsiVolumesDeps;
  /** What is being done to a volume of the node: one thing at a time. */
  readonly #turns = new Map<string, Promise<unknown>>();
  /** Pods that have an attached volume, or wait for it: the node has it in use as long as there is one. */
  readonly #users = new Map<string, Set<string>>();

  constructor(deps: CsiVolumesDeps) {
    this.#deps = deps;
  }
  /** Takes up what an earlier kubelet mounted: it must not be detached. */
  async start(): Promise<void> {
    for (const { podUid, data } of await places.volumesOfPods(this.#deps.rootDir))
      if (data.attachmentID !== '') this.#use(places.uniqueName(data.driverName, data.volumeHandle), podUid);
  }
  #use(unique: string, podUid: string): void {
    const users = this.#users.get(unique) ?? new Set();
    this.#users.set(unique, users.add(podUid));
    this.#deps.state.volumesInUse.add(unique);
  }
  async #leave(unique: string, podUid: string): Promise<void> {
    const users = this.#users.get(unique);
    if (!users?.delete(podUid) || users.size > 0) return;
    this.#users.delete(unique);
    this.#deps.state.volumesInUse.delete(unique);
    await this.#deps.state.report();
  }

  /** Rejects with an Error that says why the volume cannot be had now. */
  setUp(pod: Pod, volume: CsiVolume): Promise<MountedVolume> {
    return this.#inTurn(places.uniqueName(volume.driver, volume.handle), () => this.#setUp(pod, volume));
  }
  async #setUp(pod: Pod, volume: CsiVolume): Promise<MountedVolume> {
    const mounting = await this.#mounting(pod, volume);
    const { object, capabilities, at } = mounting;
    if (capabilities.stages && !volume.ephemeral) await this.#stage(mounting);
    await this.#publish(mounting);
    if (changesOwner(volume, object, capabilities)) await giveToGroup(pod, at.target, volume.readOnly);
    return {
      hostPath: volume.block ? at.ofPod : at.target,
      readOnly: volume.readOnly,
      block: volume.block,
      ...(capabilities.measures && { stats: this.#measuring(mounting) }),
    };
  }
  async #mounting(pod: Pod, volume: CsiVolume): Promise<Mounting> {
    const { client, drivers, rootDir } = this.#deps;
    const driver = drivers.get(volume.driver);
    const object = await orUndefined(client.resource<CSIDriver>(csiDrivers).get(volume.driver));
    checkLifecycle(volume, object);
    const isAttached = !volume.ephemeral && object?.spec.attachRequired !== false;
    if (isAttached) this.#use(places.uniqueName(volume.driver, volume.handle), pod.metadata.uid ?? '');
    const { name: attachment, metadata: publishContext } = isAttached
      ? await attachmentOf(this.#deps, volume)
      : { name: '', metadata: {} };
    const at = places.placesOf(rootDir, pod.metadata.uid ?? '', volume);
    return { volume, pod, object, capabilities: await driver.capabilities(), attachment, publishContext, at };
  }

  /** Publishes a mounted volume once more where its driver wants to be asked now and then: for tokens that were renewed, or what it shows changes. */
  async republish(pod: Pod, volume: CsiVolume): Promise<void> {
    const object = await orUndefined(this.#deps.client.resource<CSIDriver>(csiDrivers).get(volume.driver));
    if (!object?.spec.requiresRepublish || volume.block) return;
    const key = places.uniqueName(volume.driver, volume.handle);
    await this.#inTurn(key, async () => this.#publish(await this.#mounting(pod, volume)));
  }

  /**
   * Undoes it for all volumes of a pod, as found on the disk, and what the pod still waits for is not in use by it any more. Rejects when a driver does
   * not undo it: nothing of the volume is removed then.
   */
  async tearDown(podUid: string): Promise<void> {
    for (const found of await places.volumesOfPod(this.#deps.rootDir, podUid)) {
      const { driverName, volumeHandle } = found.data;
      await this.#inTurn(places.uniqueName(driverName, volumeHandle), () => this.#tearDown(found));
    }
    for (const unique of this.#users.keys()) await this.#leave(unique, podUid);
  }
  async #tearDown(found: places.FoundVolume): Promise<void> {
    const { block, data } = found;
    const at = this.#placesOf(found);
    const driver = this.#deps.drivers.get(data.driverName);
    await driver.unpublish({ volumeId: data.volumeHandle, targetPath: at.target });
    await places.removeTarget(at);
    await this.#release(found, at);
    await places.forgetOfPod(at, block);
    await this.#leave(places.uniqueName(data.driverName, data.volumeHandle), found.podUid);
  }
  /** The last pod of the node that had the volume is done with it. */
  async #release({ podUid, block, data }: places.FoundVolume, at: places.Places): Promise<void> {
    const { rootDir, drivers } = this.#deps;
    const { driverName, volumeHandle } = data;
    if (data.volumeLifecycleMode === 'Ephemeral') return;
    const same = (other: places.VolumeData): boolean => other.driverName === driverName && other.volumeHandle === volumeHandle;
    const others = (await places.volumesOfPods(rootDir)).some((one) => one.podUid !== podUid && same(one.data));
    if (others) return;
    if (await places.wasStaged(at, block))
      await drivers.get(driverName).unstage({ volumeId: volumeHandle, stagingTargetPath: at.staging });
    await places.forgetStaging(at, block);
  }

  /** Grows a mounted volume that has become larger. Resolves with false where its driver does not do that on nodes. */
  async expand(pod: Pod, volume: CsiVolume, bytes: bigint): Promise<boolean> {
    const { drivers, rootDir } = this.#deps;
    const driver = drivers.get(volume.driver);
    const capabilities = await driver.capabilities();
    if (!capabilities.expands) return false;
    const at = places.placesOf(rootDir, pod.metadata.uid ?? '', volume);
    const secrets = await this.#secret(volume.expandSecret);
    await this.#inTurn(places.uniqueName(volume.driver, volume.handle), () =>
      driver.expand({
        volumeId: volume.handle,
        volumePath: at.target,
        stagingTargetPath: capabilities.stages ? at.staging : '',
        capacityRange: { requiredBytes: String(bytes) },
        volumeCapability: capabilityOf(volume, pod, capabilities),
        secrets,
      }),
    );
    return true;
  }

  async #stage({ volume, pod, capabilities, attachment, publishContext, at }: Mounting): Promise<void> {
    await mkdir(at.staging, { recursive: true, mode: 0o750 });
    await this.#save(at.nodeData, volume, attachment);
    await this.#deps.drivers.get(volume.driver).stage({
      volumeId: volume.handle,
      publishContext,
      stagingTargetPath: at.staging,
      volumeCapability: capabilityOf(volume, pod, capabilities),
      secrets: await this.#secret(volume.stageSecret),
      volumeContext: volume.attributes,
    });
  }
  async #publish({ volume, pod, object, capabilities, attachment, publishContext, at }: Mounting): Promise<void> {
    // The driver makes what it mounts on.
    await mkdir(dirname(at.target), { recursive: true, mode: 0o750 });
    await this.#save(at.podData, volume, attachment);
    if (volume.block) await relink(at);
    const inSecrets = object?.spec.serviceAccountTokenInSecrets === true;
    const tokens = volume.block ? {} : await this.#tokens(pod, object);
    await this.#deps.drivers.get(volume.driver).publish({
      volumeId: volume.handle,
      publishContext,
      stagingTargetPath: capabilities.stages && !volume.ephemeral ? at.staging : '',
      targetPath: at.target,
      volumeCapability: capabilityOf(volume, pod, capabilities),
      readonly: volume.readOnly,
      secrets: { ...(await this.#secret(volume.publishSecret)), ...(inSecrets && tokens) },
      volumeContext: { ...contextOf(volume, pod, object), ...(!inSecrets && tokens) },
    });
  }
  #placesOf({ podUid, block, data }: places.FoundVolume): places.Places {
    const placed = { name: data.specVolID, driver: data.driverName, handle: data.volumeHandle, block };
    return places.placesOf(this.#deps.rootDir, podUid, placed);
  }
  async #save(directory: string, { name, handle, driver, ephemeral }: CsiVolume, attachmentID: string): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o750 });
    await places.saveData(directory, {
      specVolID: name,
      volumeHandle: handle,
      driverName: driver,
      nodeName: this.#deps.nodeName,
      attachmentID,
      volumeLifecycleMode: ephemeral ? 'Ephemeral' : 'Persistent',
    });
  }
  /** Asks the driver what is in the volume, not more often than upstream's kubelet does. */
  #measuring({ volume, at, capabilities }: Mounting): () => Promise<VolumeUse> {
    const { drivers, clock } = this.#deps;
    let known: { atMs: number; stats: Promise<VolumeUse> } | undefined;
    const stagingTargetPath = capabilities.stages && !volume.ephemeral ? at.staging : '';
    return () => {
      if (known && clock.monotonic() - known.atMs < volumeStatsMs) return known.stats;
      const request = { volumeId: volume.handle, volumePath: at.target, stagingTargetPath };
      const stats = Promise.resolve().then(() => drivers.get(volume.driver).stats(request));
      known = { atMs: clock.monotonic(), stats };
      stats.catch(() => {
        known = undefined;
      });
      return stats;
    };
  }
  async #secret(reference: SecretReference | undefined): Promise<Texts> {
    if (!reference?.name) return {};
    return textsOf(await this.#deps.direct.secret(reference.namespace ?? '', reference.name));
  }
  async #tokens(pod: Pod, object: CSIDriver | undefined): Promise<Texts> {
    const requests = object?.spec.tokenRequests ?? [];
    if (requests.length === 0) return {};
    const issued = requests.map(async ({ audience, expirationSeconds }) => {
      const { token, expiresAtMs } = await this.#deps.tokens.issue(pod, audience, expirationSeconds ?? tokenSeconds);
      return [audience, { token, expirationTimestamp: new Date(expiresAtMs).toISOString() }] as const;
    });
    return tokenText(Object.fromEntries(await Promise.all(issued)));
  }
  #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (this.#turns.get(key) ?? Promise.resolve()).then(work, work);
    this.#turns.set(key, done);
    const settle = (): void => {
      if (this.#turns.get(key) === done) this.#turns.delete(key);
    };
    done.then(settle, settle);
    return done;
  }
}

const tokenSeconds = 3600;

/** A link that names the device, whatever an earlier kubelet has left there. */
async function relink({ ofPod, target }: places.Places): Promise<void> {
  await mkdir(dirname(ofPod), { recursive: true, mode: 0o750 });
  await rm(ofPod, { force: true });
  await symlink(target, ofPod);
}

export const isCsi = ({ spec }: PersistentVolume): boolean => spec?.csi !== undefined;
