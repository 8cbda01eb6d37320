import { describe, expect, it, test } from 'vitest';
import { documentsIn as documents, fromJoinConfig, fromKubeadmConfig } from './kubeadm-config.ts';

const facts = { podCidr: '10.244.0.0/16', serviceCidr: '10.96.0.0/16', domain: 'cluster.local', version: 'v1.36.2' };
const up = (text: string) => fromKubeadmConfig(documents(text), facts);
const v4 = 'apiVersion: kubeadm.k8s.io/v1beta4';
const cluster = `${v4}\nkind: ClusterConfiguration\n`;
const joining = `${v4}\nkind: JoinConfiguration\n`;

describe('a cluster in the words of kubeadm', () => {
  it('becomes flags', () => {
    const init = `${v4}\nkind: InitConfiguration\nlocalAPIEndpoint: { advertiseAddress: 10.0.0.1, bindPort: 6443 }\n---\n`;
    const networking = 'networking: { podSubnet: 10.244.0.0/16, serviceSubnet: 10.96.0.0/16, dnsDomain: cluster.local }\n';
    const more =
      'clusterName: prod\ncontrolPlaneEndpoint: kube.example:6443\nkubernetesVersion: v1.36.2\netcd: { local: { dataDir: /var/lib/etcd } }\n';
    const args = 'apiServer: { extraArgs: [{ name: event-ttl, value: 2h }] }\ncontrollerManager: { extraArgs: { v: "4" } }\n';
    const proxy = '---\napiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\n';
    expect(up(`${init}${cluster}${more}${networking}${args}${proxy}`)).toEqual({
      name: 'prod',
      advertiseAddress: '10.0.0.1',
      port: 6443,
      controlPlanes: 1,
      controlPlaneEndpoint: 'kube.example:6443',
      proxyMode: 'nftables',
      args: { apiserverArg: ['event-ttl=2h'], controllerManagerArg: ['v=4'] },
    });
  });
  it('may keep its data in an etcd of somebody else', () => {
    const external = 'external: { endpoints: ["https://10.0.0.9:2379"], caFile: /a, certFile: /b, keyFile: /c }';
    expect(up(`${cluster}etcd:\n  ${external}\n`)).toEqual({
      etcdServers: ['https://10.0.0.9:2379'],
      etcdCafile: '/a',
      etcdCertfile: '/b',
      etcdKeyfile: '/c',
      args: {},
    });
  });
  test.each([
    [`${cluster}imageRepository: example\n`, 'ClusterConfiguration.imageRepository has no counterpart'],
    [`${cluster}networking: { podSubnet: 10.1.0.0/16 }\n`, 'pods are in 10.244.0.0/16'],
    [`${cluster}apiServer: { extraArgs: [{ value: x }] }\n`, 'must have a name and a value'],
    [`${cluster}apiServer: { certSANs: [a] }\n`, 'ClusterConfiguration.apiServer.certSANs has no counterpart'],
    [`${cluster}kubernetesVersion: v1.35.0\n`, 'this is v1.36.2'],
    [`${cluster}clusterName: [a]\n`, 'ClusterConfiguration.clusterName must be a text'],
    [`${cluster}---\n${cluster}`, 'two documents of the kind ClusterConfiguration'],
    ['apiVersion: kubeadm.k8s.io/v1beta2\nkind: ClusterConfiguration\n', 'must be kubeadm.k8s.io/v1beta4 or'],
    [`${joining}`, 'kind "JoinConfiguration" has no counterpart'],
  ])('is refused: %j', (text, why) => {
    expect(() => up(text)).toThrow(why);
  });
});

describe('a join in the words of kubeadm', () => {
  it('becomes flags', () => {
    const token = 'token: abcdef.0123456789abcdef\n    apiServerEndpoint: 10.0.0.1:6443\n    caCertHashes: ["sha256:00"]\n';
    const node =
      'nodeRegistration:\n  name: near\n  taints: [{ key: a, value: b, effect: NoSchedule }, { key: c, effect: NoExecute }]\n';
    const args = '  kubeletExtraArgs: [{ name: node-ip, value: 10.0.0.2 }, { name: node-labels, value: tier=front }]\n';
    const plane = 'controlPlane: { certificateKey: aa, localAPIEndpoint: { advertiseAddress: 10.0.0.3, bindPort: 6443 } }\n';
    expect(fromJoinConfig(documents(`${joining}discovery:\n  bootstrapToken:\n    ${token}${node}${args}${plane}`))).toEqual({
      endpoint: '10.0.0.1:6443',
      token: 'abcdef.0123456789abcdef',
      discoveryTokenCaCertHash: ['sha256:00'],
      nodeName: 'near',
      nodeIp: '10.0.0.3',
      controlPlane: true,
      certificateKey: 'aa',
      kubeletArgs: ['node-labels=tier=front', 'register-with-taints=a=b:NoSchedule,c:NoExecute'],
    });
  });
  test.each([
    [`${cluster}`, 'kind "ClusterConfiguration" has no counterpart'],
    ['', 'holds no JoinConfiguration'],
    [`${joining}discovery: { file: { kubeConfigPath: /x } }\n`, 'JoinConfiguration.discovery.file has no counterpart'],
    [`${joining}nodeRegistration: { taints: [{ key: a, effect: Never }] }\n`, 'taints[0] must have a key, and the effect'],
    [`${joining}nodeRegistration: { criSocket: unix:///x }\n`, 'JoinConfiguration.nodeRegistration.criSocket has no counterpart'],
    [`${joining}controlPlane: { localAPIEndpoint: { bindPort: 7443 } }\n`, 'are at port 6443'],
  ])('is refused: %j', (text, why) => {
    expect(() => fromJoinConfig(documents(text))).toThrow(why);
  });
});
