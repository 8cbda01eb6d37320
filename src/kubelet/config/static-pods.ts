// Static pods: manifests in a directory of the node, run whether or not there is an API; the API gets a mirror of each
// (upstream pkg/kubelet/config file.go, common.go and pkg/kubelet/pod mirror_client.go).
import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '#api/core/v1';
import { podDefaults } from '#api/core/pod';
import { parseYaml } from '#apimachinery/codec';
import { isNotFound } from '#apimachinery/errors';
import {
  configHashAnnotation,
  configMirrorAnnotation,
  configSeenAnnotation,
  configSourceAnnotation,
  podFullName,
} from '#component-helpers/pod';
import type { KubeClient } from '#client';
import type { Clock, Logger, Timer } from '#utils';
import type { NodeState } from '../node/state.ts';
import type { PodWorkers } from '../workers/pod-workers.ts';
import { manifestPollMs, mirrorCheckMs } from '../limits.ts';

const pods = { group: '', version: 'v1', resource: 'pods' };

/** The pod of a manifest, with what the kubelet adds. Throws an Error for what is no pod. */
function staticPod(text: string, path: string, nodeName: string, nowMs: number): Pod {
  const pod = structuredClone(parseYaml(text).value) as Pod;
  if (typeof pod !== 'object' || pod?.kind !== 'Pod' || pod.apiVersion !== 'v1' || !pod.metadata?.name)
    throw new Error('invalid pod: a v1 Pod with a name is needed');
  const uid =
    pod.metadata.uid ?? createHash('md5').update(JSON.stringify(pod)).update(`host:${nodeName}file:${path}`).digest('hex');
  pod.metadata.uid = uid;
  pod.metadata.name = `${pod.metadata.name}-${nodeName.toLowerCase()}`;
  pod.metadata.namespace ||= 'default';
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [configHashAnnotation]: uid,
    [configSeenAnnotation]: new Date(nowMs).toISOString(),
    [configSourceAnnotation]: 'file',
  };
  pod.spec ??= { containers: [] };
  pod.spec.nodeName = nodeName;
  const everything = { operator: 'Exists', effect: 'NoExecute' };
  const known = pod.spec.tolerations?.some(
    ({ key, operator, effect }) => !key && operator === 'Exists' && effect === 'NoExecute',
  );
  if (!known) pod.spec.tolerations = [...(pod.spec.tolerations ?? []), everything];
  podDefaults(pod);
  pod.status = { phase: 'Pending' };
  return pod;
}

export interface StaticPodsDeps {
  nodeName: string;
  client: KubeClient;
  state: Pick<NodeState, 'node'>;
  workers: Pick<PodWorkers, 'mirrorOf' | 'mirrors' | 'pods' | 'remove' | 'update'>;
  directory: string;
  clock: Clock;
  logger: Logger;
}

export class StaticPods {
  readonly #deps: StaticPodsDeps;
  #pods = new Map<string, Pod>();
  #watcher: FSWatcher | undefined;
  #timers: Timer[] = [];
  #busy = false;
  #again = false;
  #closed = false;

  constructor(deps: StaticPodsDeps) {
    this.#deps = deps;
  }
  /** Reads the directory and keeps reading it. Resolves when its pods are under way. */
  async start(): Promise<void> {
    try {
      this.#watcher = watch(this.#deps.directory, { persistent: false }, () => void this.#read());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = undefined;
    }
    await this.#read();
    this.#every(manifestPollMs, () => this.#read());
    this.#every(mirrorCheckMs, () => this.#mirror());
  }
  close(): void {
    this.#closed = true;
    this.#watcher?.close();
    for (const timer of this.#timers) timer.cancel();
  }

  #every(periodMs: number, work: () => Promise<void>): void {
    if (this.#closed) return;
    const timer = this.#deps.clock.setTimer(periodMs, () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
      void work().finally(() => this.#every(periodMs, work));
    });
    this.#timers.push(timer);
  }

  async #read(): Promise<void> {
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    while (this.#again && !this.#closed) {
      this.#again = false;
      await this.#readOnce().catch((error: unknown) => {
        this.#deps.logger.error('Unable to read manifest directory', { path: this.#deps.directory, error: String(error) });
      });
    }
    this.#busy = false;
  }
  async #readOnce(): Promise<void> {
    const { directory, nodeName, workers, clock, logger } = this.#deps;
    const found = new Map<string, Pod>();
    for (const name of (await readdir(directory)).filter((file) => !file.startsWith('.')).sort()) {
      const path = join(directory, name);
      try {
        const pod = staticPod(await readFile(path, 'utf8'), path, nodeName, clock.now());
        found.set(pod.metadata.uid ?? '', pod);
      } catch (error) {
        logger.error('Could not process manifest file', { path, error: String(error) });
      }
    }
    for (const [uid, pod] of this.#pods) if (!found.has(uid)) workers.remove(pod);
    const names = new Map(workers.pods().map((pod) => [podFullName(pod), pod.metadata.uid]));
    for (const [uid, pod] of found) {
      if (this.#pods.has(uid)) continue;
      const other = names.get(podFullName(pod));
      if (other !== undefined && other !== uid) {
        // The version before is still being ended; the next reading starts this one.
        found.delete(uid);
        this.#timers.push(clock.setTimer(mirrorCheckMs, () => void this.#read()));
      } else workers.update(pod);
    }
    this.#pods = found;
    await this.#mirror();
  }

  /** Makes and removes mirrors until there is one, of the right version, for each static pod. */
  async #mirror(): Promise<void> {
    const { state, workers, logger } = this.#deps;
    const { node } = state;
    if (node?.metadata.uid === undefined) return;
    const wanted = new Map([...this.#pods.values()].map((pod) => [podFullName(pod), pod]));
    const hashOf = (pod: Pod): string => pod.metadata.annotations?.[configHashAnnotation] ?? '';
    for (const mirror of workers.mirrors()) {
      const pod = wanted.get(podFullName(mirror));
      const right = pod && mirror.metadata.annotations?.[configMirrorAnnotation] === hashOf(pod);
      if (!right || mirror.metadata.deletionTimestamp !== undefined) await this.#delete(mirror).catch(() => {});
    }
    for (const pod of wanted.values()) {
      if (workers.mirrorOf(pod) !== undefined) continue;
      await this.#create(pod, node.metadata.uid).catch((error: unknown) => {
        if (!this.#closed) logger.debug('Failed creating a mirror pod', { pod: pod.metadata.name, error: String(error) });
      });
    }
  }
  async #create(pod: Pod, nodeUid: string): Promise<void> {
    const { uid = '', annotations, ...metadata } = pod.metadata;
    const owner = { apiVersion: 'v1', kind: 'Node', name: this.#deps.nodeName, uid: nodeUid, controller: true };
    const hash = annotations?.[configHashAnnotation] ?? uid;
    await this.#deps.client.resource<Pod>(pods, metadata.namespace).create({
      ...pod,
      metadata: { ...metadata, annotations: { ...annotations, [configMirrorAnnotation]: hash }, ownerReferences: [owner] },
    });
  }
  async #delete({ metadata }: Pod): Promise<void> {
    try {
      const client = this.#deps.client.resource<Pod>(pods, metadata.namespace);
      await client.delete(metadata.name ?? '', { gracePeriodSeconds: 0, preconditions: { uid: metadata.uid } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}
