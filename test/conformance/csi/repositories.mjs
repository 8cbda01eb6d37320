// Upstream's csi-driver-host-path and its sidecars: what each is built from, and the manifests of their own repositories that install them as its deploy.sh does.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Repository by name: the end of its module's path, version, programs with the packages they are in. The versions are those that the driver's manifests name.
 * `module`: the version as Go knows it, where its tags are of another major version than the module's path says.
 */
export const repositories = {
  'csi-driver-host-path': { path: '', version: 'v1.18.0', programs: ['hostpathplugin'] },
  'external-attacher': { path: '/v4', version: 'v4.12.0', programs: ['csi-attacher'] },
  'external-provisioner': { path: '/v6', version: 'v6.3.0', programs: ['csi-provisioner'] },
  'external-resizer': { path: '/v2', version: 'v2.2.0', programs: ['csi-resizer'] },
  'external-snapshotter': { path: '/v8', version: 'v8.6.0', programs: ['csi-snapshotter', 'snapshot-controller'] },
  'external-health-monitor': { path: '', version: 'v0.18.0', programs: ['csi-external-health-monitor-controller'] },
  'node-driver-registrar': { path: '', version: 'v2.17.0', module: 'v0.0.0-20260521145649-c5794c45f34c', programs: ['csi-node-driver-registrar'] },
  livenessprobe: { path: '', version: 'v2.19.0', module: 'v0.0.0-20260521143650-d2d15a5e8217', programs: ['livenessprobe'] },
};

export const moduleOf = (name) => `github.com/kubernetes-csi/${name}${repositories[name].path}`;

// `kubernetes-latest` is a link to it, and modules have no links.
const deployment = 'csi-driver-host-path/deploy/kubernetes-1.34';

/** Files by what they hold, in the order in which they are applied; each begins with the name of its repository. */
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

/** What the driver can do, as it says itself. */
const testDriver = `${deployment}/test-driver.yaml`;

/** The definitions of snapshots are in a module of their own. */
const clientOfSnapshots = 'external-snapshotter/client';
export const clientModule = `github.com/kubernetes-csi/${clientOfSnapshots}/v8`;

/**
 * Finds the manifests: `folderOf(module)` resolves with a module's folder. Resolves with the images that they name, the description of the driver, and
 * `install(kubectl)`.
 */
export async function readManifests(folderOf) {
  const pathOf = async (file) => {
    const isClient = file.startsWith(`${clientOfSnapshots}/`);
    const [name] = file.split('/');
    const start = isClient ? clientOfSnapshots : name;
    return join(await folderOf(isClient ? clientModule : moduleOf(name)), file.slice(start.length + 1));
  };
  const paths = {};
  for (const [kind, files] of Object.entries(manifests)) paths[kind] = await Promise.all(files.map(pathOf));
  const texts = await Promise.all(paths.programs.map((path) => readFile(path, 'utf8')));
  const images = [...new Set(texts.flatMap((text) => [...text.matchAll(/image: *(\S+)/g)].map(([, name]) => name)))];
  return { images, testDriver: await pathOf(testDriver), install: (kubectl) => install(kubectl, paths) };
}

async function install(kubectl, { definitions, rights, programs, classes }) {
  const apply = (files) => kubectl('apply', ...files.flatMap((file) => ['-f', file]));
  await apply(definitions);
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  await apply(rights);
  await apply(programs);
  await apply(classes);
  await kubectl('rollout', 'status', 'statefulset/csi-hostpathplugin', '--timeout=300s');
  await kubectl('-n', 'kube-system', 'rollout', 'status', 'deployment/snapshot-controller', '--timeout=300s');
}
