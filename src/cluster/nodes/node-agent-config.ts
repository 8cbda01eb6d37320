// The configuration of a node's agent process. `sagong up` writes it into the node's folder, and `sagong node` reads it.
import type { ProxyMode } from '#kube-proxy';
import type { RegistryMirror } from './index.ts';

export interface NodeAgentConfig {
  nodeName: string;
  nodeIp: string;
  /** Everything the node keeps: containerd's data, logs, volumes. */
  nodeDir: string;
  /** The node has a root of its own: its programs keep their things where upstream's do. Nodes of earlier versions have not, and keep all in `nodeDir`. */
  ownRoot?: boolean;
  kubeletKubeconfig: string;
  kubeProxyKubeconfig: string;
  /** The kubeconfig of the node's name server. */
  dnsKubeconfig: string;
  /** `none`: others make the pod network. Absent: the node does. */
  cni?: 'none';
  /** The cluster's own programs are pods: their image, as an archive, and (on a machine of the control plane) its configuration. */
  pods?: { image: string; controlPlane?: string; tainted?: boolean };
  /** The mode of kube-proxy; absent: iptables. */
  proxyMode?: ProxyMode;
  /** A user's flags of these, as words of a command line. */
  kubeletArgs?: readonly string[];
  kubeProxyArgs?: readonly string[];
  /** The kubeconfig of the program that enforces network policies; absent where nothing does. */
  networkPolicyKubeconfig?: string;
  /** Where the apiserver answers, as the node sees it: the components wait for it. */
  apiserver: { host: string; port: number };
  cniBinDir: string;
  /** Without CAP_SYS_RESOURCE, containers cannot get a lower oom_score_adj than containerd's own. */
  restrictOomScoreAdj: boolean;
  registryMirrors: readonly RegistryMirror[];
  clusterDns: string;
  clusterDomain: string;
  clusterCidr: string;
  tlsCertFile: string;
  tlsPrivateKeyFile: string;
  clientCaFile: string;
  /** `external`: a cloud-controller-manager completes the Node, and routes to its pods come from the cloud. */
  cloudProvider: '' | 'external';
  /** A machine of its own, and no instance of the cluster's cloud: it asks the cluster for its certificates and keeps its own pod network. */
  machine?: {
    bootstrapKubeconfig: string;
    /** Where the certificates are kept. */
    certificates: string;
    cgroupRoot: string;
    /** File of the apiservers that are asked when the one at `apiserver` does not answer; absent: no other is. */
    apiservers?: string;
  };
}
