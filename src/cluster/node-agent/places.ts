// Where the programs of a node keep their things. A node with a root of its own has them where upstream's kubelet, kubeadm and CNI look; any other keeps all in
// its folder, which may be on a machine that has more to do.
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '#host';
import type { Exec } from '#utils';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';
import { containerdPaths } from '../nodes/containerd-config.ts';
import { mountTimeoutMs } from './limits.ts';

export interface NodePlaces {
  kubeletDir: string;
  podLogsDir: string;
  /** What `/logs/` of the kubelet's server shows. */
  systemLogsDir: string;
  /** The folder of static pods; an empty text means that there are none. */
  manifestsDir: string;
  cniConfDir: string;
  cniBinDir: string;
  /** Where agents of other people say how registries are reached; an empty text means that nobody is asked. */
  registryHostsDir: string;
}

const ownPlaces: NodePlaces = {
  kubeletDir: '/var/lib/kubelet',
  podLogsDir: '/var/log/pods',
  systemLogsDir: '/var/log',
  manifestsDir: '/etc/kubernetes/manifests',
  cniConfDir: '/etc/cni/net.d',
  cniBinDir: '/opt/cni/bin',
  registryHostsDir: '/etc/containerd/certs.d',
};

type About = Pick<NodeAgentConfig, 'nodeDir' | 'ownRoot' | 'cniBinDir'>;

export const nodePlaces = ({ nodeDir, ownRoot = false, cniBinDir }: About): NodePlaces =>
  ownRoot
    ? ownPlaces
    : {
        kubeletDir: join(nodeDir, 'kubelet'),
        podLogsDir: join(nodeDir, 'pod-logs'),
        systemLogsDir: join(nodeDir, 'logs'),
        manifestsDir: '',
        cniConfDir: join(nodeDir, 'cni'),
        cniBinDir,
        registryHostsDir: '',
      };

/** Makes the folders of a node with a root of its own; to be called in that root. */
export async function prepareOwnRoot(config: About, exec: Exec): Promise<void> {
  const { cniBinDir, ...folders } = ownPlaces;
  for (const path of [cniBinDir, ...Object.values(folders)]) await mkdir(path, { recursive: true });
  if (config.cniBinDir !== cniBinDir) await showPlugins(config, exec);
  const runtimeSocket = '/run/containerd/containerd.sock';
  await mkdir(dirname(runtimeSocket), { recursive: true });
  // Where crictl and other programs look for it.
  await symlink(containerdPaths(config.nodeDir).socket, runtimeSocket).catch((error: unknown) => {
    if (!isErrno(error, 'EEXIST')) throw error;
  });
}

/** Network add-ons put their plugins beside those of the machine and expect the common ones there. An overlay serves both without copies. */
async function showPlugins({ nodeDir, cniBinDir }: About, exec: Exec): Promise<void> {
  const seen = ownPlaces.cniBinDir;
  const mounts = await readFile('/proc/self/mountinfo', 'utf8');
  if (mounts.split('\n').some((line) => line.split(' ')[4] === seen)) return;
  const parts = ['upper', 'work'].map((part) => join('changes/cni-plugins', part));
  for (const part of parts) await mkdir(join(nodeDir, part), { recursive: true });
  const options = `lowerdir=${cniBinDir},upperdir=${parts[0]},workdir=${parts[1]}`;
  // Relative to the disk: the text of an option could not carry every path.
  const words = ['-c', 'cd "$0" && exec mount -t overlay sagong-overlay -o "$1" "$2"', nodeDir, options, seen];
  const { code, stderr } = await exec('sh', words, { timeoutMs: mountTimeoutMs });
  if (code !== 0) throw new Error(`the CNI plugins of ${cniBinDir} cannot be shown in ${seen}: ${stderr.trim()}`);
}
