// Volumes of the node's pods: made before the first container starts, kept fresh while the pod runs, taken away after it
// (upstream pkg/kubelet/volumemanager and the in-tree plugins). One directory per volume under <root>/pods/<uid>/volumes.
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigMap, Pod, ProjectedVolumeSource, Secret, Volume } from '#api/core/v1';
import { isNotFound } from '#apimachinery/errors';
import { parseQuantity } from '#apimachinery/quantity';
import type { KubeClient } from '#client';
import { removeTree } from '#host';
import { type Clock, type Exec, type Logger, quote, type Rng, type Timer } from '#utils';
import type { DownwardContext } from '../env/downward.ts';
import type { ObjectSource } from '../env/environment.ts';
import { tokenRetryMs } from '../limits.ts';
import { PodFailure } from '../runtime/types.ts';
import { writeVolume } from './atomic-writer.ts';
import { ClaimError, claimedVolume } from './claims.ts';
import { checkHostPath } from './host-path.ts';
import { mountsUnder, mountTmpfs, unmount } from './mount-table.ts';
import { applyFsGroup } from './ownership.ts';
import { configMapPayload, downwardPayload, type Payload, secretPayload, tokenPayload } from './payload.ts';
import { ObjectCache } from './object-cache.ts';
import { provideSubPath, type SubPathRequest } from './sub-paths.ts';
import type { TokenManager } from './tokens.ts';

const defaultFileMode = 0o644;
const tokenSeconds = 3600;
/** Longer timers overflow. */
const timerMsMax = 2 ** 31 - 1;

export interface VolumeManagerDeps {
  client: KubeClient;
  clock: Clock;
  rng: Rng;
  exec: Exec;
  logger: Logger;
  rootDir: string;
  /** ConfigMaps and Secrets are read, and watched, through this client. */
  direct: ObjectSource;
  tokens: TokenManager;
  downward(pod: Pod): DownwardContext;
}

/** A volume ready for containers. */
export interface MountedVolume {
  hostPath: string;
  readOnly: boolean;
}

interface PodVolumes {
  pod: Pod;
  mounted: Map<string, MountedVolume>;
  /** What is being done to the pod's volumes: one thing at a time. */
  turn: Promise<void>;
}

const pluginOf = (volume: Volume): string =>
  volume.emptyDir
    ? 'empty-dir'
    : volume.configMap
      ? 'configmap'
      : volume.secret
        ? 'secret'
        : volume.downwardAPI
          ? 'downward-api'
          : 'projected';

const hasPayload = (volume: Volume): boolean =>
  Boolean(volume.configMap ?? volume.secret ?? volume.downwardAPI ?? volume.projected);

const hasDownward = ({ downwardAPI, projected }: Volume): boolean =>
  downwardAPI !== undefined || (projected?.sources ?? []).some((source) => source.downwardAPI !== undefined);

/** Where there is nothing to be mounted yet, upstream speaks of the pod's volumes. */
const mountMessage = (name: string, error: Error): string =>
  error instanceof ClaimError
    ? `Unable to attach or mount volumes: unmounted volumes=[${name}], unattached volumes=[], failed to process volumes=[${name}]: ${error.message}`
    : `MountVolume.SetUp failed for volume ${quote(name)} : ${error.message}`;

/** Whether volumes that show the pod's own labels and annotations show the same. */
const sameMetadata = ({ metadata: a }: Pod, { metadata: b }: Pod): boolean =>
  a === b || JSON.stringify([a.labels, a.annotations]) === JSON.stringify([b.labels, b.annotations]);

/** The first kind of source named in the volume, for messages. */
const sourceName = (volume: Volume): string => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown';

export class VolumeManager {
  readonly #deps: VolumeManagerDeps;
  readonly #objects: ObjectCache;
  readonly #pods = new Map<string, PodVolumes>();
  #tokenTimer: Timer | undefined;
  #closed = false;

  constructor(deps: VolumeManagerDeps) {
    this.#deps = deps;
    this.#objects = new ObjectCache(deps, deps.direct, (uid) => void this.#refreshPod(uid));
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

  /** Makes every volume of the pod that is not there yet. Rejects with PodFailure. */
  mount(pod: Pod): Promise<void> {
    const uid = pod.metadata.uid ?? '';
    const known = this.#pods.get(uid) ?? { pod, mounted: new Map<string, MountedVolume>(), turn: Promise.resolve() };
    const stale = !sameMetadata(known.pod, pod);
    known.pod = pod;
    this.#pods.set(uid, known);
    this.#objects.watch(pod);
    return this.#inTurn(known, async () => {
      await this.#mountAll(pod, known.mounted);
      if (stale) await this.#refreshVolumes(known, hasDownward);
      this.#scheduleTokens();
    });
  }
  async #mountAll(pod: Pod, mounted: Map<string, MountedVolume>): Promise<void> {
    for (const volume of pod.spec?.volumes ?? []) {
      if (mounted.has(volume.name)) continue;
      try {
        mounted.set(volume.name, await this.#setUp(pod, volume));
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
    if (known && !this.#closed) await this.#inTurn(known, () => this.#refreshVolumes(known, hasPayload));
  }
  async #refreshVolumes({ pod, mounted }: PodVolumes, which: (volume: Volume) => boolean): Promise<void> {
    for (const volume of pod.spec?.volumes ?? []) {
      if (!which(volume) || !mounted.has(volume.name)) continue;
      try {
        await this.#writePayload(pod, volume, this.#path(pod.metadata.uid ?? '', volume));
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
    for (const path of await mountsUnder(directory)) await unmount(this.#deps.exec, path);
    await removeTree(directory);
  }

  #path(uid: string, volume: Volume): string {
    return join(this.podDir(uid), 'volumes', `kubernetes.io~${pluginOf(volume)}`, volume.name);
  }

  async #setUp(pod: Pod, volume: Volume): Promise<MountedVolume> {
    if (volume.hostPath) {
      await checkHostPath(volume.hostPath.path, volume.hostPath.type ?? '');
      return { hostPath: volume.hostPath.path, readOnly: false };
    }
    if (volume.persistentVolumeClaim) return this.#claim(pod, volume.persistentVolumeClaim);
    if (volume.ephemeral) return this.#claim(pod, { claimName: `${pod.metadata.name}-${volume.name}` });
    const path = this.#path(pod.metadata.uid ?? '', volume);
    if (volume.emptyDir) {
      await this.#emptyDir(path, volume.emptyDir.medium ?? '', volume.emptyDir.sizeLimit);
      await this.#own(pod, path, false);
      return { hostPath: path, readOnly: false };
    }
    if (!hasPayload(volume)) throw new Error(`volume source ${sourceName(volume)} is not supported on this node`);
    await this.#directory(path, !volume.configMap);
    await this.#writePayload(pod, volume, path);
    return { hostPath: path, readOnly: true };
  }

  /** A directory; in memory for what must not reach a disk. */
  async #directory(path: string, memory: boolean, options: string[] = []): Promise<void> {
    await mkdir(path, { recursive: true, mode: 0o750 });
    if (memory && !(await mountsUnder(path)).includes(path)) await mountTmpfs(this.#deps.exec, path, options);
    await chmod(path, 0o777);
  }
  async #emptyDir(path: string, medium: string, sizeLimit: string | undefined): Promise<void> {
    if (medium !== '' && medium !== 'Memory') throw new Error(`unknown storage medium ${quote(medium)}`);
    const bytes = sizeLimit === undefined ? 0 : parseQuantity(sizeLimit).value();
    await this.#directory(path, medium === 'Memory', bytes > 0 ? [`size=${bytes}`] : []);
  }
  async #own(pod: Pod, path: string, readOnly: boolean): Promise<void> {
    const { fsGroup, fsGroupChangePolicy } = pod.spec?.securityContext ?? {};
    if (fsGroup !== undefined)
      await applyFsGroup(path, fsGroup, { readOnly, onRootMismatch: fsGroupChangePolicy === 'OnRootMismatch' });
  }

  async #claim(pod: Pod, { claimName, readOnly = false }: { claimName: string; readOnly?: boolean }): Promise<MountedVolume> {
    const volume = await claimedVolume(this.#deps, pod.metadata.namespace ?? '', claimName);
    const { hostPath, local } = volume.spec ?? {};
    const path = hostPath?.path ?? local?.path;
    if (path === undefined)
      throw new Error(`persistent volume ${quote(volume.metadata.name ?? '')} is of a kind that is not supported on this node`);
    await checkHostPath(path, hostPath ? (hostPath.type ?? '') : 'Directory');
    if (local) await this.#own(pod, path, readOnly);
    return { hostPath: path, readOnly };
  }

  async #writePayload(pod: Pod, volume: Volume, path: string): Promise<void> {
    const payload = await this.#payload(pod, volume);
    const gid = pod.spec?.securityContext?.fsGroup;
    await writeVolume(path, payload, { nowMs: this.#deps.clock.now(), salt: this.#deps.rng.int(2 ** 32), gid });
  }

  async #payload(pod: Pod, volume: Volume): Promise<Payload> {
    const objects = this.#objects;
    const namespace = pod.metadata.namespace ?? '';
    if (volume.configMap) {
      const { name = '', items, defaultMode = defaultFileMode, optional } = volume.configMap;
      const map = await orEmpty<ConfigMap>(objects.configMap(namespace, name), optional);
      return configMapPayload(map, { items, mode: defaultMode, optional });
    }
    if (volume.secret) {
      const { secretName = '', items, defaultMode = defaultFileMode, optional } = volume.secret;
      const secret = await orEmpty<Secret>(objects.secret(namespace, secretName), optional);
      return secretPayload(secret, { items, mode: defaultMode, optional });
    }
    if (volume.downwardAPI) {
      const { items, defaultMode = defaultFileMode } = volume.downwardAPI;
      return downwardPayload(pod, items, defaultMode, this.#deps.downward(pod));
    }
    return this.#projected(pod, volume.projected ?? {});
  }

  async #projected(pod: Pod, { sources, defaultMode: mode = defaultFileMode }: ProjectedVolumeSource): Promise<Payload> {
    const { tokens } = this.#deps;
    const objects = this.#objects;
    const namespace = pod.metadata.namespace ?? '';
    const payload: Payload = new Map();
    for (const { configMap, secret, downwardAPI, serviceAccountToken: token, ...others } of sources ?? []) {
      let part: Payload;
      if (configMap) {
        const { name = '', items, optional } = configMap;
        part = configMapPayload(await orEmpty<ConfigMap>(objects.configMap(namespace, name), optional), {
          items,
          mode,
          optional,
        });
      } else if (secret) {
        const { name = '', items, optional } = secret;
        part = secretPayload(await orEmpty<Secret>(objects.secret(namespace, name), optional), { items, mode, optional });
      } else if (downwardAPI) {
        part = downwardPayload(pod, downwardAPI.items, mode, this.#deps.downward(pod));
      } else if (token) {
        const value = await tokens.get(pod, token.audience, token.expirationSeconds ?? tokenSeconds);
        part = tokenPayload(pod, token.path, value, mode);
      } else throw new Error(`projected volume source ${Object.keys(others)[0] ?? 'unknown'} is not supported on this node`);
      for (const [path, file] of part) payload.set(path, file);
    }
    return payload;
  }
}

async function orEmpty<T extends ConfigMap | Secret>(read: Promise<T>, optional: boolean | undefined): Promise<T> {
  try {
    return await read;
  } catch (error) {
    if (optional && isNotFound(error)) return { metadata: {} } as T;
    throw error;
  }
}
