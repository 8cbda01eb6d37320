// Root file systems of images as mounts, by containerd's own service of snapshots (containerd api/services/snapshots/v1): what is in an image, for
// reading, without a container.
import { Metadata } from '@grpc/grpc-js';
import { callUnary, type ServiceClient } from '#wire/grpc';
import { criError, isAlreadyExists, isNotFound } from './errors.ts';
import { callTimeoutMs } from './limits.ts';
import type { ImageService, RuntimeService, SnapshotMount, SnapshotService } from './types.ts';

const defaultSnapshotter = 'overlayfs';
/** Where containerd keeps what is Kubernetes'. */
const namespace = 'k8s.io';

interface MountsAnswer {
  mounts: SnapshotMount[];
}

export interface SnapshotDeps {
  snapshots: ServiceClient;
  images: ImageService;
  runtime: RuntimeService;
  now(): number;
}

export function snapshotService({ snapshots, images, runtime, now }: SnapshotDeps): SnapshotService {
  const metadata = new Metadata();
  metadata.set('containerd-namespace', namespace);
  const call = async <T>(method: string, request: object): Promise<T> => {
    try {
      return await callUnary<T>({ client: snapshots, method, request, deadlineMs: now() + callTimeoutMs, metadata });
    } catch (error) {
      throw criError(error);
    }
  };
  let known: Promise<string> | undefined;
  const snapshotter = (): Promise<string> => {
    known ??= runtime.config().then(({ containerd }) => containerd?.snapshotter || defaultSnapshotter);
    return known;
  };
  const existing = async (key: string): Promise<SnapshotMount[]> =>
    (await call<MountsAnswer>('Mounts', { snapshotter: await snapshotter(), key })).mounts;
  return {
    async view(key, image) {
      const { chainID = '' } = await images.imageInfo({ image });
      if (chainID === '') throw new Error(`the container runtime does not say what image ${image} is made of`);
      // Kept by its label, with all layers below it, until it is removed here.
      const labels = { 'containerd.io/gc.root': new Date(now()).toISOString() };
      try {
        const request = { snapshotter: await snapshotter(), key, parent: chainID, labels };
        return (await call<MountsAnswer>('View', request)).mounts;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        return existing(key);
      }
    },
    async remove(key) {
      try {
        await call('Remove', { snapshotter: await snapshotter(), key });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    },
  };
}
