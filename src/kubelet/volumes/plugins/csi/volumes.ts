// Mounts volumes of CSI drivers: attached by the control plane, staged once on the node, published to each pod, and back (upstream pkg/volume/csi csi_attacher.go and
// csi_mounter.go, and the kubelet's reconciler). What is mounted is found again on the disk.
import { mkdir, rm } from 'node:fs/promises';
import type { PersistentVolume, Pod, Secret, SecretReference } from '#api/core/v1';
import type { CSIDriver, VolumeAttachment } from '#api/storage/v1';
import { isNotFound } from '#apimachinery/errors';
import type { KubeClient } from '#client';
import type { Clock } from '#utils';
import { quote } from '#utils';
import type { Capabilities, CsiDrivers, Texts } from '../../../csi/index.ts';
import type { ObjectSource } from '../../../env/environment.ts';
import { attachPatienceMs } from '../../../limits.ts';
import type { NodeState } from '../../../node/state.ts';
import type { TokenManager } from '../../tokens.ts';
import { giveToGroup } from '../directory.ts';
import type { MountedVolume } from '../plugin.ts';
import {
  attachmentName,
  readData,
  saveData,
  stagingDir,
  stagingPath,
  targetOf,
  uniqueName,
  type VolumeData,
  volumeDir,
  volumesOfPods,
} from './places.ts';
import { capabilityOf, changesOwner, checkLifecycle, contextOf, type CsiVolume } from './requests.ts';

const csiDrivers = { group: 'storage.k8s.io', version: 'v1', resource: 'csidrivers' };
const volumeAttachments = { group: 'storage.k8s.io', version: 'v1', resource: 'volumeattachments' };

export interface CsiVolumesDeps {
  client: KubeClient;
  clock: Clock;
  nodeName: string;
  rootDir: string;
  state: NodeState;
  drivers: CsiDrivers;
  tokens: TokenManager;
  /** Reads Secrets. */
  direct: ObjectSource;
  /** Brings the Node's status up to date now. */
  report(): Promise<void>;
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
  /** Name of the VolumeAttachment; empty for what needs none. */
  attachment: string;
  publishContext: Texts;
}

export class CsiVolumes {
  readonly #deps: CsiVolumesDeps;
  /** What is being done to a volume of the node: one thing at a time. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(deps: CsiVolumesDeps) {
    this.#deps = deps;
  }
  /** Takes up what an earlier kubelet mounted: it must not be detached. */
  async start(): Promise<void> {
    for (const { data } of await volumesOfPods(this.#deps.rootDir))
      if (data.attachmentID !== '') this.#deps.state.volumesInUse.add(uniqueName(data.driverName, data.volumeHandle));
  }

  /** Rejects with an Error that says why the volume cannot be had now. */
  setUp(pod: Pod, volume: CsiVolume): Promise<MountedVolume> {
    return this.#inTurn(uniqueName(volume.driver, volume.handle), () => this.#setUp(pod, volume));
  }
  async #setUp(pod: Pod, volume: CsiVolume): Promise<MountedVolume> {
    const { client, drivers, rootDir } = this.#deps;
    const driver = drivers.get(volume.driver);
    const object = await orUndefined(client.resource<CSIDriver>(csiDrivers).get(volume.driver));
    checkLifecycle(volume, object);
    const attached = volume.ephemeral || object?.spec.attachRequired === false ? undefined : await this.#attached(volume);
    const capabilities = await driver.capabilities();
    const { name: attachment = '', metadata: publishContext = {} } = attached ?? {};
    const mounting: Mounting = { volume, pod, object, capabilities, attachment, publishContext };
    if (capabilities.stages && !volume.ephemeral) await this.#stage(mounting);
    const hostPath = await this.#publish(mounting);
    if (changesOwner(volume, object, capabilities)) await giveToGroup(pod, hostPath, volume.readOnly);
    return { hostPath: targetOf(volumeDir(rootDir, pod.metadata.uid ?? '', volume.name)), readOnly: volume.readOnly };
  }

  /** Undoes it for volumes of a pod, by their names on the disk. Rejects when a driver does not: nothing of the volume is removed then. */
  async tearDown(podUid: string, names: readonly string[]): Promise<void> {
    const { rootDir } = this.#deps;
    for (const name of names) {
      const directory = volumeDir(rootDir, podUid, name);
      const data = await readData(directory);
      if (!data) continue;
      await this.#inTurn(uniqueName(data.driverName, data.volumeHandle), async () => {
        const driver = this.#deps.drivers.get(data.driverName);
        await driver.unpublish({ volumeId: data.volumeHandle, targetPath: targetOf(directory) });
        // Never what is in it: a driver that says it has unmounted and has not must not cost anybody their data.
        await rm(targetOf(directory), { recursive: false, force: true }).catch(() => {});
        await this.#release(podUid, data);
        await rm(`${directory}/vol_data.json`, { force: true });
      });
    }
  }
  /** The last pod of the node that had the volume is done with it. */
  async #release(podUid: string, data: VolumeData): Promise<void> {
    const { rootDir, drivers, state, report } = this.#deps;
    const { driverName, volumeHandle } = data;
    if (data.volumeLifecycleMode === 'Ephemeral') return;
    const same = (other: VolumeData): boolean => other.driverName === driverName && other.volumeHandle === volumeHandle;
    const others = (await volumesOfPods(rootDir)).some((one) => one.podUid !== podUid && same(one.data));
    if (others) return;
    const directory = stagingDir(rootDir, driverName, volumeHandle);
    if (await readData(directory)) {
      const driver = drivers.get(driverName);
      await driver.unstage({ volumeId: volumeHandle, stagingTargetPath: stagingPath(directory) });
      await rm(stagingPath(directory), { recursive: false, force: true }).catch(() => {});
      await rm(`${directory}/vol_data.json`, { force: true });
    }
    if (state.volumesInUse.delete(uniqueName(driverName, volumeHandle))) await report();
  }

  /** Grows the file system of a mounted volume that has become larger. */
  async expand(pod: Pod, volume: CsiVolume, bytes: bigint): Promise<void> {
    const { drivers, rootDir } = this.#deps;
    const driver = drivers.get(volume.driver);
    const capabilities = await driver.capabilities();
    if (!capabilities.expands) return;
    await this.#inTurn(uniqueName(volume.driver, volume.handle), () =>
      driver.expand({
        volumeId: volume.handle,
        volumePath: targetOf(volumeDir(rootDir, pod.metadata.uid ?? '', volume.name)),
        stagingTargetPath: capabilities.stages ? stagingPath(stagingDir(rootDir, volume.driver, volume.handle)) : '',
        capacityRange: { requiredBytes: String(bytes) },
        volumeCapability: capabilityOf(volume, pod, capabilities),
      }),
    );
  }

  /** Waits until the control plane has attached the volume, and knows that the node uses it. */
  async #attached({ driver, handle, name }: CsiVolume): Promise<{ name: string; metadata: Texts }> {
    const { client, clock, nodeName, state, report } = this.#deps;
    const unique = uniqueName(driver, handle);
    state.volumesInUse.add(unique);
    if (!state.node?.status?.volumesInUse?.includes(unique)) await report();
    const isThere = await state.untilNode(
      (node) =>
        (node?.status?.volumesInUse ?? []).includes(unique) &&
        (node?.status?.volumesAttached ?? []).some((attached) => attached.name === unique),
      clock,
      attachPatienceMs,
    );
    if (!isThere)
      throw new Error(`Volume not attached according to node status for volume ${quote(name)} (UniqueName: ${quote(unique)})`);
    const attachment = attachmentName(handle, driver, nodeName);
    const found = await client.resource<VolumeAttachment>(volumeAttachments).get(attachment);
    if (!found.status?.attached) throw new Error(`volume attachment ${attachment} is not attached`);
    return { name: attachment, metadata: found.status.attachmentMetadata ?? {} };
  }
  async #stage({ volume, pod, capabilities, attachment, publishContext }: Mounting): Promise<void> {
    const { drivers, rootDir } = this.#deps;
    const directory = stagingDir(rootDir, volume.driver, volume.handle);
    await mkdir(stagingPath(directory), { recursive: true, mode: 0o750 });
    await saveData(directory, this.#dataOf(volume, attachment));
    await drivers.get(volume.driver).stage({
      volumeId: volume.handle,
      publishContext,
      stagingTargetPath: stagingPath(directory),
      volumeCapability: capabilityOf(volume, pod, capabilities),
      secrets: await this.#secret(volume.stageSecret),
      volumeContext: volume.attributes,
    });
  }
  /** Gives the path that it is at. */
  async #publish({ volume, pod, object, capabilities, attachment, publishContext }: Mounting): Promise<string> {
    const { drivers, rootDir } = this.#deps;
    const directory = volumeDir(rootDir, pod.metadata.uid ?? '', volume.name);
    const targetPath = targetOf(directory);
    const staged = capabilities.stages && !volume.ephemeral;
    // The driver makes what it mounts on.
    await mkdir(directory, { recursive: true, mode: 0o750 });
    await saveData(directory, this.#dataOf(volume, attachment));
    await drivers.get(volume.driver).publish({
      volumeId: volume.handle,
      publishContext,
      stagingTargetPath: staged ? stagingPath(stagingDir(rootDir, volume.driver, volume.handle)) : '',
      targetPath,
      volumeCapability: capabilityOf(volume, pod, capabilities),
      readonly: volume.readOnly,
      secrets: await this.#secret(volume.publishSecret),
      volumeContext: contextOf(volume, pod, object, await this.#tokens(pod, object)),
    });
    return targetPath;
  }
  #dataOf({ name, handle, driver, ephemeral }: CsiVolume, attachmentID: string): VolumeData {
    return {
      specVolID: name,
      volumeHandle: handle,
      driverName: driver,
      nodeName: this.#deps.nodeName,
      attachmentID,
      volumeLifecycleMode: ephemeral ? 'Ephemeral' : 'Persistent',
    };
  }
  async #secret(reference: SecretReference | undefined): Promise<Texts> {
    if (!reference?.name) return {};
    return textsOf(await this.#deps.direct.secret(reference.namespace ?? '', reference.name));
  }
  async #tokens(pod: Pod, object: CSIDriver | undefined): Promise<object | undefined> {
    const requests = object?.spec.tokenRequests ?? [];
    if (requests.length === 0) return undefined;
    const issued = requests.map(async ({ audience, expirationSeconds }) => {
      const { token, expiresAtMs } = await this.#deps.tokens.issue(pod, audience, expirationSeconds ?? tokenSeconds);
      return [audience, { token, expirationTimestamp: new Date(expiresAtMs).toISOString() }] as const;
    });
    return Object.fromEntries(await Promise.all(issued));
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

export const isCsi = ({ spec }: PersistentVolume): boolean => spec?.csi !== undefined;
