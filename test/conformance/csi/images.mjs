// The images of csi-driver-host-path and its sidecars, by the names that its manifests give them.
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addBase, archiveOf } from '../images.mjs';

/** What the driver's image has beside it: util-linux for loop devices and mounts, coreutils, tar. Busybox knows less of each. */
const tools = ['losetup', 'mount', 'umount', 'findmnt', 'blkid', 'blockdev', 'fallocate', 'cp', 'dd', 'tar', 'stat'];

const nameOf = (reference) => basename(reference).split(':')[0];

/** Resolves with the path of an archive of the images `references`, whose programs are in `bin`. */
export async function driverImages(work, bin, references) {
  const programs = [...new Set(references.map(nameOf))];
  const layers = {
    base: async (rootfs) => {
      await addBase(rootfs, tools);
      for (const name of tools) await rootfs.program(`bin/${name}`, name);
      await rootfs.folders(['csi', 'csi-data-dir', 'registration']);
    },
    ...Object.fromEntries(programs.map((name) => [name, (rootfs) => rootfs.program(name, join(bin, name))])),
  };
  const images = references.map((reference) => [
    reference.replace(/^registry\.k8s\.io\//, ''),
    ['base', nameOf(reference)],
    { Entrypoint: [`/${nameOf(reference)}`] },
  ]);
  const stamp = (await readFile(fileURLToPath(import.meta.url), 'utf8')) + references.join();
  return archiveOf(work, 'csi-images', { layers, images, stamp });
}
