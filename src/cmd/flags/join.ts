// The flags of `sagong join`. Their names are kubeadm's.
import { upFlags } from '#cluster/flags';
import { flag } from '#component-base/flags';

export const machineDir = flag.string({
  name: 'data-dir',
  default: '',
  usual: '~/.sagong/machine',
  help: 'Where everything of the node is kept.',
});

export const joinFlags = {
  token: flag.string({ name: 'token', default: '', help: 'A bootstrap token of the cluster; for discovery and TLS bootstrap.' }),
  discoveryTokenCaCertHash: flag.strings({
    name: 'discovery-token-ca-cert-hash',
    default: [],
    help: 'Public key of the authority that the cluster must have: sha256:<hex>.',
  }),
  discoveryTokenUnsafeSkipCaVerification: flag.bool({
    name: 'discovery-token-unsafe-skip-ca-verification',
    default: false,
    help: 'Believe whoever knows the token.',
  }),
  nodeName: flag.string({ name: 'node-name', default: '', usual: "the machine's host name", help: 'Name of the node.' }),
  nodeIp: flag.string({
    name: 'node-ip',
    default: '',
    usual: 'the one that reaches the endpoint',
    help: 'Address of the node.',
  }),
  registryMirrors: { ...upFlags.registryMirrors, section: undefined },
  controlPlane: flag.bool({
    name: 'control-plane',
    default: false,
    help: 'Become a further control plane: etcd member, kube-apiserver and managers.',
  }),
  certificateKey: flag.string({
    name: 'certificate-key',
    default: '',
    help: 'Of the certificates that were uploaded (sagong certs upload).',
  }),
  config: flag.string({
    name: 'config',
    default: '',
    help: "A file with a JoinConfiguration in kubeadm's words (kubeadm.k8s.io/v1beta4); flags win over it.",
  }),
  dataDir: machineDir,
  detach: flag.bool({ name: 'detach', default: false, help: 'Return when the node is Ready and leave it running.' }),
};
