// A containerd of the test's own: private root, state, socket and CNI network in a temporary directory, torn down without a trace.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBusyboxImage, buildPauseImage, importImage, pauseImageReference } from '#cluster/images';
import { execCommand } from '#host';

const cniDirectory = '/usr/lib/cni';
const busyboxPath = '/usr/bin/busybox';
const needed = ['/usr/bin/containerd', '/usr/sbin/runc', `${cniDirectory}/bridge`, busyboxPath];

/** Why real containers cannot be run here; undefined when they can. */
export function missingForContainers(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  const missing = needed.filter((path) => !existsSync(path));
  return missing.length > 0 ? `missing ${missing.join(', ')}` : undefined;
}

export interface PrivateContainerd {
  readonly directory: string;
  readonly endpoint: string;
  readonly socket: string;
  /** Power off for containerd alone: its containers go on. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const config = (directory: string): string => `version = 2
root = "${directory}/root"
state = "${directory}/state"
[grpc]
  address = "${directory}/containerd.sock"
[ttrpc]
  address = "${directory}/containerd.sock.ttrpc"
[plugins."io.containerd.internal.v1.opt"]
  path = "${directory}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImageReference}"
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = true
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  disable_hugetlb_controller = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniDirectory}"
    conf_dir = "${directory}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        Root = "${directory}/runc"
        SystemdCgroup = false
`;

const network = (directory: string, bridge: string, subnet: string): unknown => ({
  cniVersion: '0.4.0',
  name: 'podnet',
  plugins: [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      ipMasq: false,
      ipam: {
        type: 'host-local',
        dataDir: `${directory}/ipam`,
        ranges: [[{ subnet }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true }, snat: true },
  ],
});

async function until(what: string, deadlineMs: number, check: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + deadlineMs;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function unmountAll(directory: string): Promise<void> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  const paths = table
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(`${directory}/`));
  for (const path of paths.sort((a, b) => b.length - a.length)) await execCommand('umount', ['-l', path]);
}

/** Ends the shims of containers that a failed test left behind. */
async function endShims(directory: string): Promise<void> {
  const { stdout } = await execCommand('pgrep', ['-f', `containerd-shim.*${directory}/containerd.sock`]);
  for (const pid of stdout.split('\n').filter((line) => line !== '')) {
    const children = await execCommand('pgrep', ['-P', pid]);
    for (const child of children.stdout.split('\n').filter((line) => line !== '')) await execCommand('kill', ['-9', child]);
    await execCommand('kill', ['-9', pid]);
  }
}

async function removeCgroups(name: string): Promise<void> {
  const { stdout } = await execCommand('find', ['/sys/fs/cgroup', '-depth', '-type', 'd', '-path', `*/${name}*`]);
  for (const path of stdout.split('\n').filter((line) => line !== '')) await execCommand('rmdir', [path]);
}

/** Starts it with the pause and busybox images. */
export async function startContainerd(subnet = '10.211.0.0/24'): Promise<PrivateContainerd> {
  const directory = await mkdtemp(join(tmpdir(), 'sagong-kubelet-e2e-'));
  const bridge = `sg${directory.slice(-8)}`;
  const socket = `${directory}/containerd.sock`;
  await mkdir(`${directory}/cni`);
  await writeFile(`${directory}/config.toml`, config(directory));
  await writeFile(`${directory}/cni/10-podnet.conflist`, JSON.stringify(network(directory, bridge, subnet)));
  let child: ChildProcess;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
    child.kill(signal);
    await exited;
  };
  const launch = async (): Promise<void> => {
    child = spawn('containerd', ['--config', `${directory}/config.toml`], { stdio: 'ignore' });
    await until('containerd is up', 60_000, async () => existsSync(socket));
    await until(
      'containerd answers',
      60_000,
      async () => (await execCommand('ctr', ['--address', socket, 'version'])).code === 0,
    );
  };
  const stop = async (): Promise<void> => {
    await end('SIGTERM');
    await endShims(directory);
    await unmountAll(directory);
    await execCommand('ip', ['link', 'delete', bridge]);
    await removeCgroups(directory.slice(directory.lastIndexOf('/') + 1));
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await launch();
    await importImage({ socket }, buildPauseImage());
    await importImage({ socket }, await buildBusyboxImage({ busyboxPath }));
  } catch (error) {
    await stop();
    throw error;
  }
  return { directory, socket, endpoint: `unix://${socket}`, kill: () => end('SIGKILL'), restart: launch, stop };
}

export { until };
