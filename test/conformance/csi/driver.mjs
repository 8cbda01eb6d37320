// Upstream's csi-driver-host-path with its sidecars: built, put into images, and installed from the manifests of their own repositories as its deploy.sh does.
import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run, step } from '../process.mjs';
import { driverImages } from './images.mjs';

const goFolder = fileURLToPath(new URL('../go/', import.meta.url));

/** Repository by name: module, version, programs with the packages they are in. The versions are those that the driver's manifests name. */
const repositories = {
  'csi-driver-host-path': { path: '', version: 'v1.17.1', programs: ['hostpathplugin'] },
  'external-attacher': { path: '/v4', version: 'v4.12.0', programs: ['csi-attacher'] },
  'external-provisioner': { path: '/v6', version: 'v6.3.0', programs: ['csi-provisioner'] },
  'external-resizer': { path: '/v2', version: 'v2.2.1', programs: ['csi-resizer'] },
  'external-snapshotter': { path: '/v8', version: 'v8.6.0', programs: ['csi-snapshotter', 'snapshot-controller'] },
  'external-health-monitor': { path: '', version: 'v0.18.0', programs: ['csi-external-health-monitor-controller'] },
  'node-driver-registrar': { path: '', version: 'v2.17.0', programs: ['csi-node-driver-registrar'] },
  livenessprobe: { path: '', version: 'v2.19.0', programs: ['livenessprobe'] },
};

const deployment = 'csi-driver-host-path/deploy/kubernetes-latest';
const manifests = {
  definitions: ['groupsnapshotclasses', 'groupsnapshotcontents', 'groupsnapshots']
    .map((kind) => `groupsnapshot.storage.k8s.io_volume${kind}`)
    .concat(['snapshotclasses', 'snapshotcontents', 'snapshots'].map((kind) => `snapshot.storage.k8s.io_volume${kind}`))
    .map((name) => `external-snapshotter/client/config/crd/${name}.yaml`),
  rights: [
    ...['provisioner', 'attacher', 'resizer'].map((name) => `external-${name}/deploy/kubernetes/rbac.yaml`),
    'external-snapshotter/deploy/kubernetes/csi-snapshotter/rbac-csi-snapshotter.yaml',
    'external-snapshotter/deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml',
    'external-health-monitor/deploy/kubernetes/external-health-monitor-controller/rbac.yaml',
  ],
  programs: [
    'external-snapshotter/deploy/kubernetes/snapshot-controller/setup-snapshot-controller.yaml',
    ...['driverinfo', 'plugin'].map((name) => `${deployment}/hostpath/csi-hostpath-${name}.yaml`),
  ],
  classes: [`${deployment}/hostpath/csi-hostpath-snapshotclass.yaml`],
};

const moduleOf = (name) => `github.com/kubernetes-csi/${name}${repositories[name].path}`;

/**
 * A module that pins all of them beside what the suite is built from, so that packages of Kubernetes are compiled once. Checkouts in `given`/src take the place of
 * modules. Resolves with its folder.
 */
async function moduleWith(work, given) {
  const folder = join(work, 'csi', 'module');
  await mkdir(folder, { recursive: true });
  for (const name of ['go.mod', 'go.sum']) await copyFile(join(goFolder, name), join(folder, name));
  const edits = [];
  for (const [name, { path, version }] of Object.entries(repositories)) {
    const checkout = join(resolve(given), 'src', name);
    if (existsSync(join(checkout, 'go.mod'))) {
      edits.push(`-require=${moduleOf(name)}@${path === '' ? 'v1.0.0' : `${path.slice(1)}.0.0`}`, `-replace=${moduleOf(name)}=${checkout}`);
      if (existsSync(join(checkout, 'client/go.mod'))) edits.push(`-replace=github.com/kubernetes-csi/${name}/client${path}=${checkout}/client`);
    } else edits.push(`-require=${moduleOf(name)}@${version}`);
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
  const sources = {};
  for (const [name, { version, programs }] of Object.entries(repositories)) {
    for (const program of programs) {
      const out = join(bin, program);
      if (existsSync(out)) continue;
      const args = ['-trimpath', '-ldflags', `-s -w -X main.version=${version}`, '-o', out, `${moduleOf(name)}/cmd/${program}`];
      await step(`building ${program}`, () => go('build', ...args));
    }
    sources[name] = (await go('list', '-m', '-f', '{{.Dir}}', moduleOf(name))).trim();
  }
  const pathOf = (file) => join(sources[file.split('/')[0]], file.slice(file.indexOf('/') + 1));
  const texts = await Promise.all(manifests.programs.map((file) => readFile(pathOf(file), 'utf8')));
  const references = [...new Set(texts.flatMap((text) => [...text.matchAll(/image: *(\S+)/g)].map(([, name]) => name)))];
  return {
    images: await driverImages(work, bin, references),
    // What the driver can do, as it says itself.
    testDriver: pathOf(`${deployment}/test-driver.yaml`),
    install: (cluster) => step('installing csi-driver-host-path', () => install(cluster, pathOf)),
  };
}

async function install({ bin, kubeconfig }, pathOf) {
  const kubectl = (...args) => run(join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, ...args]);
  const apply = (files) => kubectl('apply', ...files.flatMap((file) => ['-f', pathOf(file)]));
  await apply(manifests.definitions);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  await apply(manifests.rights);
  await apply(manifests.programs);
  await apply(manifests.classes);
  await kubectl('rollout', 'status', 'statefulset/csi-hostpathplugin', '--timeout=300s');
  await kubectl('-n', 'kube-system', 'rollout', 'status', 'deployment/snapshot-controller', '--timeout=300s');
}
