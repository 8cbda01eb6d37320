// Volumes of the node's pods: made before the first container starts, kept fresh while the pod runs, taken away after it
// (upstream pkg/kubelet/volumemanager). One directory per volume under <root>/pods/<uid>/volumes; what is in it is the matter of its plugin.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod, Volume } from '#api/core/v1';
import { namesIfExists, removeTree } from '#host';
import { type Logger, quote, type Timer } from '#utils';
import type { ObjectSource } from '../env/environment.ts';
import { tokenRetryMs } from '../limits.ts';
import { PodFailure } from '../container/runtime.ts';
import type { MountedVolume } from '../container/volume.ts';
import { ClaimError } from './claims.ts';
import { mountsUnder, unmount } from './mount-table.ts';
import { ObjectCache } from './object-cache.ts';
import { volumePlugins, type VolumePlugins } from './plugins/index.ts';
import type { VolumeContext, VolumePlugin, VolumeRequest } from './plugins/plugin.ts';
import { provideSubPath, type SubPathRequest } from './sub-paths.ts';

/** Longer timers overflow. */
const timerMsMax = 2 ** 31 - 1;

export interface VolumeManagerDeps extends Omit<VolumeContext, 'objects'> {
  logger: Logger;
  /** ConfigMaps and Secrets are read, and watched, through this client. */
  direct: ObjectSource;
}

interface PodVolumes {
  pod: Pod;
  mounted: Map<string, MountedVolume>;
  /** What is being done to the pod's volumes: one thing at a time. */
  turn: Promise<void>;
}

/** Where there is nothing to be mounted yet, upstream speaks of the pod's volumes. */
const mountMessage = (name: string, error: Error): string =>
  error instanceof ClaimError
    ? `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${error.message}`
    : `MountVolume.SetUp failed for volume ${quote(name)} : ${error.message}`;

/** Whether volumes that show the pod's own labels and annotations show the same. */
const sameMetadata = ({ metadata: a }: Pod, { metadata: b }: Pod): boolean =>
  a === b || JSON.stringify([a.labels, a.annotations]) === JSON.stringify([b.labels, b.annotations]);

/** Names of the volumes that containers use: nothing is done for the others. */
const usedVolumes = ({ spec }: Pod): Set<string> =>
  new Set(
    [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])].flatMap(
      ({ volumeMounts = [], volumeDevices = [] }) => [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );

/** The first kind of source named in the volume, for messages. */
const sourceName = (volume: Volume): string => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';

export class VolumeManager {
  readonly #deps: VolumeManagerDeps;
  readonly #objects: ObjectCache;
  readonly #plugins: VolumePlugins;
  readonly #pods = new Map<string, PodVolumes>();
  #tokenTimer: Timer | undefined;
  #closed = false;

  constructor(deps: VolumeManagerDeps) {
    this.#deps = deps;
    this.#objects = new ObjectCache(deps, deps.direct, (uid) => void this.#refreshPod(uid));
    this.#plugins = volumePlugins({ ...deps, objects: this.#objects });
  }
  close(): void {
    this.#closed = true;
    this.#tokenTimer?.cancel();
    this.#objects.close();
  }

  /** Pods that have a directory, be it from before a crash. */
  async podUids(): Promise<string[]> {
    return readdir(join(this.#deps.rootDir, 'pods'));
  }
  podDir(uid: string): string {
    return join(this.#deps.rootDir, 'pods', uid);
  }
  /** Volumes of a prepared pod by name. */
  mounted(uid: string): ReadonlyMap<string, MountedVolume> {
    return this.#pods.get(uid)?.mounted ?? new Map();
  }

  /** Makes a part of a volume available to one container. Rejects with an Error for CreateContainerConfigError. */
  subPath(uid: string, request: SubPathRequest): Promise<string> {
    return provideSubPath(this.#deps.exec, this.podDir(uid), request);
  }

  /** Mounts an image that is on the node as a volume of the pod. */
  async mountImage(pod: Pod, volumeName: string, image: string): Promise<void> {
    const volume = pod.spec?.volumes?.find(({ name }) => name === volumeName);
    if (volume === undefined) return;
    const { path } = this.#request(pod, volume);
    await this.#plugins.images.mountImage(pod.metadata.uid ?? '', volumeName, path, image);
  }

  /** Makes every volume of the pod that is not there yet and that one of its containers uses. Rejects with PodFailure. */
  mount(pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    const known = this.#pods.get(uid) ?? { pod, mounted: new Map<string, MountedVolume>(), turn: Promise.resolve() };
    const stale = !sameMetadata(known.pod, pod);
    known.pod = pod;
    this.#pods.set(uid, known);
    this.#objects.watch(pod);
    return this.#inTurn(known, async () => {
      await this.#mountAll(pod, known.mounted);
      if (stale) await this.#refreshVolumes(known, (plugin, volume) => plugin.showsPod?.(volume) ?? false);
      this.#scheduleTokens();
    });
  }
  async #mountAll(pod: Pod, mounted: Map<string, MountedVolume>): Promise<void> {
    const used = usedVolumes(pod);
    for (const volume of pod.spec?.volumes ?? []) {
      if (mounted.has(volume.name) || !used.has(volume.name)) continue;
      try {
        mounted.set(volume.name, await this.#pluginOf(volume).setUp(this.#request(pod, volume)));
      } catch (error) {
        const message = mountMessage(volume.name, error as Error);
        throw new PodFailure('FailedMount', message, { cause: error, transient: true });
      }
    }
  }

  /** Brings configMap, secret, downwardAPI and projected volumes of running pods up to date. */
  async refresh(): Promise<void> {
    for (const uid of this.#pods.keys()) await this.#refreshPod(uid);
    this.#scheduleTokens();
  }
  async #refreshPod(uid: string): Promise<void> {
    const known = this.#pods.get(uid);
    if (known && !this.#closed) await this.#inTurn(known, () => this.#refreshVolumes(known, () => true));
  }
  async #refreshVolumes({ pod, mounted }: PodVolumes, which: (plugin: VolumePlugin, volume: Volume) => boolean): Promise<void> {
    for (const volume of pod.spec?.volumes ?? []) {
      const plugin = mounted.has(volume.name) ? this.#pluginOf(volume) : undefined;
      if (plugin?.refresh === undefined || !which(plugin, volume)) continue;
      try {
        await plugin.refresh(this.#request(pod, volume));
      } catch (error) {
        this.#deps.logger.debug('volume not refreshed', { pod: pod.metadata.name, volume: volume.name, error: String(error) });
      }
    }
  }
  #inTurn(known: PodVolumes, work: () => Promise<void>): Promise<void> {
    const done = known.turn.then(work);
    known.turn = done.catch(() => {});
    return done;
  }
  /** Tokens are renewed when they are due, not at the next general refresh. */
  #scheduleTokens(): void {
    const { clock, tokens } = this.#deps;
    this.#tokenTimer?.cancel();
    const dueMs = tokens.nextDueMs();
    if (dueMs === undefined || this.#closed) return;
    const waitMs = Math.min(Math.max(tokenRetryMs, dueMs - clock.now()), timerMsMax);
    this.#tokenTimer = clock.setTimer(waitMs, () => void this.refresh());
  }

  /** Takes the pod's directory away with all that is mounted in it. */
  async unmount(uid: string): Promise<void> {
    const directory = this.podDir(uid);
    const known = this.#pods.get(uid);
    this.#pods.delete(uid);
    this.#objects.forget(uid);
    this.#deps.tokens.forget(uid);
    await known?.turn;
    const own = this.#plugins.all
      .filter(({ unmounts }) => unmounts)
      .map((plugin) => join(directory, 'volumes', folderOf(plugin)));
    for (const path of await mountsUnder(directory))
      if (!own.some((folder) => path.startsWith(`${folder}/`))) await unmount(this.#deps.exec, path);
    for (const plugin of this.#plugins.all) {
      plugin.forget?.(uid);
      await plugin.tearDown?.(uid, await namesIfExists(join(directory, 'volumes', folderOf(plugin))));
    }
    // What is mounted may be somebody's data: nothing is removed before all of it is gone.
    for (const path of await mountsUnder(directory)) await unmount(this.#deps.exec, path);
    await removeTree(directory);
  }

  #pluginOf(volume: Volume): VolumePlugin {
    const plugin = this.#plugins.all.find((candidate) => candidate.serves(volume));
    if (plugin) return plugin;
    throw new Error(`volume source ${sourceName(volume)} is not supported on this node`);
  }
  #request(pod: Pod, volume: Volume): VolumeRequest {
    const path = join(this.podDir(pod.metadata.uid ?? ''), 'volumes', folderOf(this.#pluginOf(volume)), volume.name);
    return { pod, volume, path };
  }
}

const folderOf = ({ name }: VolumePlugin): string => `kubernetes.io~${name}`;
