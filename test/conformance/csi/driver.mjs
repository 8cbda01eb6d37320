// Upstream's csi-driver-host-path with its sidecars: built, put into images, and installed from the manifests of their own repositories.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, step } from '../process.mjs';
import { driverImages } from './images.mjs';
import { clientModule, moduleOf, readManifests, repositories } from './repositories.mjs';

const goFolder = fileURLToPath(new URL('../go/', import.meta.url));

/**
 * A module that pins all of them beside what the suite is built from, so that packages of Kubernetes are compiled once. Checkouts in `given`/src take the place of
 * modules. Resolves with its folder.
 */
async function moduleWith(work, given) {
  const folder = join(work, 'csi', 'module');
  await mkdir(folder, { recursive: true });
  for (const name of ['go.mod', 'go.sum']) await copyFile(join(goFolder, name), join(folder, name));
  const edits = [];
  for (const [name, { path, version, module = version }] of Object.entries(repositories)) {
    const checkout = join(resolve(given), 'src', name);
    if (existsSync(join(checkout, 'go.mod'))) {
      edits.push(`-require=${moduleOf(name)}@${path === '' ? 'v1.0.0' : `${path.slice(1)}.0.0`}`, `-replace=${moduleOf(name)}=${checkout}`);
      if (existsSync(join(checkout, 'client/go.mod'))) edits.push(`-replace=${clientModule}=${checkout}/client`);
    } else edits.push(`-require=${moduleOf(name)}@${module}`);
  }
  // The driver asks for a newer Kubernetes than the suite is of.
  const kubernetes = /k8s\.io\/kubernetes (v\S+)/.exec(await readFile(join(folder, 'go.mod'), 'utf8'))?.[1];
  edits.push(`-replace=k8s.io/kubernetes=k8s.io/kubernetes@${kubernetes}`);
  await run('go', ['mod', 'edit', ...edits], { cwd: folder });
  return folder;
}

/** Builds what is not there yet. Resolves with the archive of its images, what it can do, and how to install it. */
export async function buildDriver(work, given) {
  const bin = join(work, 'csi', 'bin');
  await mkdir(bin, { recursive: true });
  const cwd = await moduleWith(work, given);
  const go = (...args) => run('go', args, { cwd, env: { GOFLAGS: '-mod=mod' } });
  for (const [name, { version, programs }] of Object.entries(repositories))
    for (const program of programs) {
      const out = join(bin, program);
      if (existsSync(out)) continue;
      const args = ['-trimpath', '-ldflags', `-s -w -X main.version=${version}`, '-o', out, `${moduleOf(name)}/cmd/${program}`];
      await step(`building ${program}`, () => go('build', ...args));
    }
  // Also where nothing was built, the module has to know of what its parts ask for.
  await go('list', '-deps', ...Object.entries(repositories).flatMap(([name, { programs }]) => programs.map((one) => `${moduleOf(name)}/cmd/${one}`)));
  const { images, testDriver, install } = await readManifests(async (module) => (await go('list', '-m', '-f', '{{.Dir}}', module)).trim());
  return {
    images: await driverImages(work, bin, images),
    testDriver,
    install: ({ bin: programs, kubeconfig }) => {
      const kubectl = (...args) => run(join(programs, 'kubectl'), ['--kubeconfig', kubeconfig, ...args]);
      return step('installing csi-driver-host-path', () => install(kubectl));
    },
  };
}
