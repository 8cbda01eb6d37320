// Images of programs that were built here: their own cannot be pulled. Each is busybox with the programs, and with what its makers' image has beside them.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildBusyboxImage, machinePrograms } from '#cluster/images';

/** A name as containerd has it: without a registry it is one of Docker's. */
const full = (reference) => (/^[^/]*[.:][^/]*\//.test(reference) ? reference : `docker.io/${reference.includes('/') ? '' : 'library/'}${reference}`);

/** The names of images in a manifest. */
export const imagesIn = (text) => [...new Set([...text.matchAll(/image: *"?([^\s"]+)/g)].map(([, name]) => name))];

/**
 * Makes images and loads them into the nodes of a cluster. `programs`: built ones, by their path in the image; `beside`: names of programs of this machine;
 * `config`: what runs.
 */
export const loadImages = (context, images) => loadArchives(context, archivesOf(images));

async function* archivesOf(images) {
  for (const { reference, programs = {}, beside = [], config } of images) {
    const built = Object.entries(programs).map(([path, from]) => ({ name: path.replace(/^\//, ''), mode: 0o755, content: readFileSync(from) }));
    const files = [...machinePrograms(beside), ...built];
    const options = { busyboxPath: '/bin/busybox', reference: full(reference), files, compressed: false };
    yield await buildBusyboxImage({ ...options, ...(config && { config }) });
  }
}

/** Loads archives that `docker save` could have written into the nodes of a cluster. `archives`: made one after the other, as they are asked for. */
export async function loadArchives({ work, must, sagong, place }, archives) {
  const files = [];
  for await (const archive of archives) {
    const file = join(work, `image-${files.length}.tar`);
    writeFileSync(file, archive);
    files.push(file);
  }
  await must(process.execPath, [sagong, 'load-image', ...place, ...files]);
  for (const file of files) rmSync(file);
}
