// The folders of this machine in which a cluster keeps certificates. One on the disk of a node has beside the node's own what its pods have put there: were
// somebody else's certificate renewed for it, the node would have a key to be that somebody.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite, readFileIfExists } from '#host';
import { controlPlanesDir } from '../state/paths.ts';
import { namesOnDisk, readOnDisk, writeOnDisk } from '../nodes/disk.ts';
import { loadSettings } from '../state/settings.ts';
import { identities } from '../certificates/identities.ts';

export interface CertificateFolder {
  /** Below the data directory; '' for itself. */
  name: string;
  /** Whether others may have put files there, which then count as absent when they are not what is kept there. */
  shared: boolean;
  names(): Promise<string[]>;
  /** The text of a file; undefined where there is no such file. */
  read(file: string): Promise<string | undefined>;
  write(file: string, content: string, mode: number): Promise<void>;
  /** Whether the certificate of somebody of this name is kept there. */
  keeps(commonName: string): boolean;
}

const ownFolder = (dataDir: string, name: string): CertificateFolder => ({
  name,
  shared: false,
  names: () => readdir(join(dataDir, name)).catch(() => []),
  read: async (file) => (await readFileIfExists(join(dataDir, name, file)))?.toString('utf8'),
  write: (file, content, mode) => atomicWrite(join(dataDir, name, file), content, { mode }),
  keeps: () => true,
});

const programsOfNodes = [identities.kubeProxy, identities.dns, identities.networkPolicy].map(({ name }) => name);
const filesOfNodes = [
  'kubelet.crt',
  ...['kubelet', 'kube-proxy', 'coredns', 'network-policy'].map((name) => `${name}.kubeconfig`),
];

/** `folder`: below the node's own, where a machine of the control plane keeps more than a node has. */
const nodeFolder = (dataDir: string, node: string, folder = ''): CertificateFolder => {
  const disk = join(dataDir, 'nodes', node);
  const own = identities.node(node).name;
  return {
    name: join('nodes', node, folder),
    shared: true,
    names: async () => (folder === '' ? filesOfNodes : namesOnDisk(disk, folder)),
    read: (file) => readOnDisk(disk, folder, file),
    write: (file, content, mode) => writeOnDisk(disk, folder, file, content, mode),
    // The folder of a node whose name is a domain has the first part of it.
    keeps: (commonName) =>
      folder !== '' || commonName === own || commonName.startsWith(`${own}.`) || programsOfNodes.includes(commonName),
  };
};

const planeFolders = ['', 'pki', join('pki', 'etcd')];

/** Where certificates and kubeconfigs of the cluster and its machines are. */
export async function certificateFolders(dataDir: string): Promise<CertificateFolder[]> {
  const below = (dir: string): Promise<string[]> => readdir(dir).catch(() => []);
  const [nodes, planes] = await Promise.all([below(join(dataDir, 'nodes')), below(controlPlanesDir(dataDir))]);
  const { layout, controlPlanes = [] } = (await loadSettings(dataDir)) ?? {};
  const planesAmongNodes = layout === 'pods' ? nodes.filter((name) => controlPlanes.includes(name)) : [];
  return [
    ownFolder(dataDir, ''),
    ...nodes.map((node) => nodeFolder(dataDir, node)),
    ...planes.flatMap((plane) => planeFolders.map((folder) => ownFolder(dataDir, join('control-planes', plane, folder)))),
    ...planesAmongNodes.flatMap((node) => planeFolders.map((folder) => nodeFolder(dataDir, node, join('control-plane', folder)))),
  ];
}
