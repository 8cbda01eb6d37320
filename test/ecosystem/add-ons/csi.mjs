// A CSI driver with all of its sidecars, and the controller of snapshots, each by the manifests of its own repository.
import { basename, join } from 'node:path';
import { moduleOf, readManifests, repositories } from '../../conformance/csi/repositories.mjs';
import { loadImages } from '../lib/images.mjs';
import { loadApp, pod } from './pods.mjs';
import { addOnPrograms, csiPrograms } from './programs.mjs';

const repository = 'csi-driver-host-path';
/** What the driver's image has beside it. */
const tools = ['losetup', 'mount', 'umount', 'findmnt', 'blkid', 'blockdev', 'fallocate', 'cp', 'dd', 'tar', 'stat'];
const nameOf = (reference) => basename(reference).split(':')[0];

const imageOf = (bin) => (reference) => {
  const name = nameOf(reference);
  const beside = name === 'hostpathplugin' ? { beside: tools } : {};
  return { reference, programs: { [`/${name}`]: join(bin, name) }, config: { Entrypoint: [`/${name}`] }, ...beside };
};

export const csi = {
  what: `CSI: ${repository} with seven sidecars and the snapshot controller: a claim, a snapshot, a claim restored from it, growth, and all gone again`,
  version: repositories[repository].version,
  async run(context) {
    const { kubectl, apply, eventually } = context;
    const { bin, folderOf } = await addOnPrograms(context, csiPrograms);
    const { images, install } = await readManifests(folderOf);
    await loadImages(context, images.map(imageOf(bin)));
    await loadApp(context);
    await install(kubectl);
    const examples = join(await folderOf(moduleOf(repository)), 'examples');
    const example = (name) => kubectl('apply', '-f', join(examples, `csi-${name}.yaml`));
    for (const name of ['storageclass', 'pvc']) await example(name);
    const ready = (name) => kubectl('wait', `pod/${name}`, '--for=condition=Ready', '--timeout=120s');
    await apply(pod('writes', 'echo first > /data/file; sync; exec sleep 100000', { claim: 'csi-pvc' }));
    await ready('writes');
    await example('snapshot-v1');
    await kubectl('wait', 'volumesnapshot/new-snapshot-demo', '--for=jsonpath={.status.readyToUse}=true', '--timeout=120s');
    await kubectl('exec', 'writes', '--', 'sh', '-c', 'echo second > /data/file');
    await example('restore');
    await apply(pod('reads', 'exec sleep 100000', { claim: 'hpvc-restore' }));
    await ready('reads');
    const content = (await kubectl('exec', 'reads', '--', 'cat', '/data/file')).trim();
    if (content !== 'first') throw new Error(`the snapshot holds ${content}`);
    await kubectl('patch', 'pvc', 'csi-pvc', '-p', '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}');
    await kubectl('wait', 'pvc/csi-pvc', '--for=jsonpath={.status.capacity.storage}=2Gi', '--timeout=120s');
    await kubectl('delete', 'pod/reads', 'pod/writes', 'pvc/hpvc-restore', 'pvc/csi-pvc', 'volumesnapshot/new-snapshot-demo', '--timeout=120s');
    for (const kind of ['pv', 'volumeattachment', 'volumesnapshotcontent'])
      await eventually(`no ${kind} is left`, async () => (await kubectl('get', kind, '-o', 'name')).trim() === '');
    const restarts = await kubectl('get', 'pod', 'csi-hostpathplugin-0', '-o', 'jsonpath={.status.containerStatuses[*].restartCount}');
    if (!/^[0 ]+$/.test(restarts)) throw new Error(`containers of the driver were started again: ${restarts}`);
    return { result: 'works' };
  },
};
