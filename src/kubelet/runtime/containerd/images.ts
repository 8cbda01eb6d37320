// Images through the CRI.
import type { Pod } from '#api/core/v1';
import type { CriClient, Image } from '#cri';
import type { ImageInfo, ImageService, RegistryAuth } from '../../container/runtime.ts';

const info = ({ id, repoTags, repoDigests, size, pinned, uid, username }: Image): ImageInfo => ({
  id,
  repoTags,
  repoDigests,
  sizeBytes: Number(size),
  pinned,
  user: { ...(uid && { uid: Number(uid.value) }), ...(username !== '' && { name: username }) },
});

export function criImages({ images }: CriClient): ImageService {
  return {
    status: async (image) => {
      const found = await images.imageStatus({ image });
      return found && info(found);
    },
    pull: (image: string, _pod: Pod, auth?: RegistryAuth) => images.pullImage({ image }, auth),
    list: async () => (await images.listImages()).map(info),
    remove: (image) => images.removeImage({ image }),
    usage: async () => {
      const [first] = await images.imageFsInfo();
      return first && { usedBytes: Number(first.usedBytes?.value ?? 0), mountpoint: first.fsId?.mountpoint ?? '' };
    },
  };
}
