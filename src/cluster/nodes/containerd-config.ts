// containerd's configuration of a node (https://github.com/containerd/containerd/blob/main/docs/cri/config.md), version 2 of the
// format: 1.6 and 1.7 read it, 2.x migrates it in memory. Pure text.

export interface ContainerdPaths {
  dir: string;
  configFile: string;
  socket: string;
  /** The longest path of a socket that a node has. */
  ttrpcSocket: string;
  /** The pod network, for containerd to fill in the pod CIDR. */
  cniTemplate: string;
  pidFile: string;
  certsDir: string;
}

export const containerdPaths = (nodeDir: string): ContainerdPaths => {
  const dir = `${nodeDir}/containerd`;
  return {
    dir,
    configFile: `${dir}/config.toml`,
    socket: `${dir}/containerd.sock`,
    ttrpcSocket: `${dir}/containerd.sock.ttrpc`,
    cniTemplate: `${nodeDir}/cni.template`,
    pidFile: `${dir}/containerd.pid`,
    certsDir: `${nodeDir}/certs.d`,
  };
};

export interface ContainerdOptions {
  nodeDir: string;
  sandboxImage: string;
  cniBinDir: string;
  cniConfDir: string;
  /** Asked before the node's own folder; an empty text means that there is none. */
  registryHostsDir: string;
  /** Without CAP_SYS_RESOURCE, containers cannot get a lower oom_score_adj than containerd's own. */
  restrictOomScoreAdj: boolean;
  /** `none`: others make the pod network. Absent: the node does. */
  cni?: 'none';
  /** The MTU of the pods' cards; absent: the kernel's default. */
  podMtu?: number;
}

/** The name of the CNI configuration that containerd writes out of the template (cri/config.md). */
export const podNetworkFile = '10-containerd-net.conflist';

const quote = (text: string): string => JSON.stringify(text);

export function containerdConfig({
  nodeDir,
  sandboxImage,
  cniBinDir,
  cniConfDir,
  registryHostsDir,
  restrictOomScoreAdj,
  cni,
}: ContainerdOptions): string {
  const paths = containerdPaths(nodeDir);
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = ${quote(`${paths.dir}/root`)}
state = ${quote(`${paths.dir}/state`)}
[grpc]
  address = ${quote(paths.socket)}
[ttrpc]
  address = ${quote(paths.ttrpcSocket)}
[plugins."io.containerd.internal.v1.opt"]
  path = ${quote(`${paths.dir}/opt`)}
[${cri}]
  sandbox_image = ${quote(sandboxImage)}
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = ${restrictOomScoreAdj}
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  disable_hugetlb_controller = true
[${cri}.cni]
  bin_dir = ${quote(cniBinDir)}
  conf_dir = ${quote(cniConfDir)}
${cni === 'none' ? '' : `  conf_template = ${quote(paths.cniTemplate)}\n`}[${cri}.registry]
  config_path = ${quote([registryHostsDir, paths.certsDir].filter((path) => path !== '').join(':'))}
[${cri}.containerd]
  snapshotter = "overlayfs"
  default_runtime_name = "runc"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  Root = ${quote(`${paths.dir}/runc`)}
  SystemdCgroup = false
`;
}

export const podNetworkName = 'podnet';
export const podBridge = 'cni0';

/**
 * The pod network of one node (https://www.cni.dev/plugins/current/main/bridge/): a bridge, addresses from the node's pod CIDR, host ports. The
 * kubelet tells containerd the pod CIDR (UpdateRuntimeConfig), which writes the network with it.
 */
export function cniTemplate({ nodeDir, podMtu }: Pick<ContainerdOptions, 'nodeDir' | 'podMtu'>): string {
  return JSON.stringify({
    cniVersion: '0.4.0',
    name: podNetworkName,
    plugins: [
      {
        type: 'bridge',
        bridge: podBridge,
        isGateway: true,
        ipMasq: false,
        hairpinMode: true,
        ...(podMtu !== undefined && { mtu: podMtu }),
        ipam: {
          type: 'host-local',
          dataDir: `${nodeDir}/ipam`,
          ranges: [[{ subnet: '{{.PodCIDR}}' }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
    ],
  });
}
