// Removes images that nobody needs when the disk fills up, or when they are old (upstream pkg/kubelet/images/image_gc_manager.go).
import type { Clock, Logger } from '#utils';
import type { PodRecord } from '../container/types.ts';
import type { Observation } from '../eviction/thresholds.ts';
import type { KubeletOptions } from '../options.ts';
import type { PodRuntime } from '../container/runtime.ts';
import { type ImageUse, imagesToRemove } from './garbage.ts';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export interface ImageCollectorDeps {
  options: Pick<KubeletOptions, 'imageGcHighPercent' | 'imageGcLowPercent' | 'imageAgeMsMin' | 'imageAgeMsMax' | 'podInfraImage'>;
  runtime: PodRuntime;
  clock: Clock;
  logger: Logger;
  /** The disk that images are on. */
  disk(): Promise<Observation | undefined>;
  /** Tells of the node. */
  warn(reason: string, message: string): void;
}

export class ImageCollector {
  readonly #deps: ImageCollectorDeps;
  readonly #uses = new Map<string, ImageUse>();
  #failedBefore = false;

  constructor(deps: ImageCollectorDeps) {
    this.#deps = deps;
  }

  /** Collects once. A failure becomes an event of the node when the round before failed, too. */
  async collect(): Promise<void> {
    try {
      await this.#collect();
      this.#failedBefore = false;
    } catch (error) {
      if (this.#failedBefore) this.#deps.warn('ImageGCFailed', messageOf(error));
      this.#failedBefore = true;
      throw error;
    }
  }
  async #collect(): Promise<void> {
    const { options, runtime, warn } = this.#deps;
    const { imageGcHighPercent, imageGcLowPercent, imageAgeMsMax } = options;
    await this.#track(await runtime.list());
    if (imageAgeMsMax > 0) await this.free(0);
    const disk = await this.#deps.disk();
    if (disk === undefined) return;
    if (disk.capacity === 0) {
      const message = 'invalid capacity 0 on image filesystem';
      warn('InvalidDiskCapacity', message);
      throw new Error(message);
    }
    const usedPercent = 100 - (100 * disk.available) / disk.capacity;
    if (usedPercent < imageGcHighPercent) return;
    const wanted = Math.floor((disk.capacity * (100 - imageGcLowPercent)) / 100 - disk.available);
    const freed = await this.free(wanted);
    if (freed >= wanted) return;
    const message =
      'Failed to garbage collect required amount of images. ' +
      `Attempted to free ${wanted} bytes, but only found ${freed} bytes eligible to free.`;
    warn('FreeDiskSpaceFailed', message);
    throw new Error(message);
  }
  async #track(records: readonly PodRecord[]): Promise<Set<string>> {
    const now = this.#deps.clock.now();
    const images = await this.#deps.runtime.images.list();
    const refs = new Set(records.flatMap(({ containers }) => containers.map(({ imageRef }) => imageRef)));
    const inUse = new Set(
      images.filter(({ id, repoDigests }) => refs.has(id) || repoDigests.some((name) => refs.has(name))).map(({ id }) => id),
    );
    for (const { id } of images) {
      const known = this.#uses.get(id) ?? { firstSeenAtMs: now, lastUsedAtMs: now };
      this.#uses.set(id, inUse.has(id) ? { ...known, lastUsedAtMs: now } : known);
    }
    for (const id of this.#uses.keys()) if (!images.some((image) => image.id === id)) this.#uses.delete(id);
    return inUse;
  }
  /**
   * Removes images of nobody, the longest unused first, until that much is free; those past their age in any case. Resolves with the bytes that it freed; rejects
   * when an image could not be removed, after it has tried the others.
   */
  async free(bytesToFree: number): Promise<number> {
    const { runtime, clock, logger, options } = this.#deps;
    const inUse = await this.#track(await runtime.list());
    const chosen = imagesToRemove({
      images: await runtime.images.list(),
      uses: this.#uses,
      inUse,
      spared: [options.podInfraImage],
      bytesToFree,
      now: clock.now(),
      ageMsMin: options.imageAgeMsMin,
      ageMsMax: options.imageAgeMsMax,
    });
    let freed = 0;
    const failures: string[] = [];
    for (const { id, sizeBytes } of chosen)
      try {
        await runtime.images.remove(id);
        freed += sizeBytes;
        logger.info('Image garbage collection removed an image', { image: id });
      } catch (error) {
        failures.push(messageOf(error));
      }
    if (failures.length === 0) return freed;
    const wanted = `wanted to free ${bytesToFree} bytes, but freed ${freed} bytes space`;
    throw new Error(`${wanted} with errors in image deletion: [${failures.join(', ')}]`);
  }
}
