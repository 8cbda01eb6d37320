// Which images go when the disk fills up (upstream pkg/kubelet/images/image_gc_manager.go). Pure; the oldest use goes first.
import type { ImageInfo } from '../container/runtime.ts';

export interface ImageUse {
  /** When a container last used it, or when it was first seen. */
  lastUsedAtMs: number;
  firstSeenAtMs: number;
}

export interface CollectInput {
  images: readonly ImageInfo[];
  uses: ReadonlyMap<string, ImageUse>;
  /** Ids of images that containers use now. */
  inUse: ReadonlySet<string>;
  /** Names never to remove: the sandbox image. */
  spared: readonly string[];
  bytesToFree: number;
  now: number;
  ageMsMin: number;
  /** Unused for longer, an image goes in any case; 0: never. */
  ageMsMax?: number;
}

export function imagesToRemove({
  images,
  uses,
  inUse,
  spared,
  bytesToFree,
  now,
  ageMsMin,
  ageMsMax = 0,
}: CollectInput): ImageInfo[] {
  const removable = images.filter(
    ({ id, pinned, repoTags }) =>
      !pinned &&
      !inUse.has(id) &&
      !repoTags.some((tag) => spared.includes(tag)) &&
      now - (uses.get(id)?.firstSeenAtMs ?? now) >= ageMsMin,
  );
  removable.sort((a, b) => (uses.get(a.id)?.lastUsedAtMs ?? 0) - (uses.get(b.id)?.lastUsedAtMs ?? 0));
  const chosen: ImageInfo[] = [];
  let freed = 0;
  for (const image of removable) {
    const tooOld = ageMsMax > 0 && now - (uses.get(image.id)?.lastUsedAtMs ?? now) > ageMsMax;
    if (freed >= bytesToFree && !tooOld) break;
    chosen.push(image);
    freed += image.sizeBytes;
  }
  return chosen;
}
