// Command lines and configuration files as kubeadm v1.36 writes them (cmd/kubeadm/app/phases/controlplane, kubelet and addons/proxy;
// componentconfigs) are accepted, and mean what they say.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { kubeApiServerFlags } from '#apiserver/app';
import { type FlagTable, parseFlags } from '#component-base';
import { kubeControllerManagerFlags } from '#controller-manager';
import { kubeletFlags, kubeletSettings } from '#kubelet';
import { kubeProxyFlags, withConfiguration } from '#kube-proxy';
import { kubeSchedulerFlags } from '#scheduler';

const pki = '/etc/kubernetes/pki';
const lines: readonly (readonly [name: string, flags: FlagTable, argv: string])[] = [
  [
    'kube-apiserver',
    kubeApiServerFlags(),
    `--advertise-address=192.0.2.1 --allow-privileged=true --authorization-mode=Node,RBAC --client-ca-file=${pki}/ca.crt
    --enable-admission-plugins=NodeRestriction --enable-bootstrap-token-auth=true --etcd-cafile=${pki}/etcd/ca.crt
    --etcd-certfile=${pki}/apiserver-etcd-client.crt --etcd-keyfile=${pki}/apiserver-etcd-client.key --etcd-servers=https://127.0.0.1:2379
    --kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt --kubelet-client-key=${pki}/apiserver-kubelet-client.key
    --kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname --proxy-client-cert-file=${pki}/front-proxy-client.crt
    --proxy-client-key-file=${pki}/front-proxy-client.key --requestheader-allowed-names=front-proxy-client
    --requestheader-client-ca-file=${pki}/front-proxy-ca.crt --requestheader-extra-headers-prefix=X-Remote-Extra-
    --requestheader-group-headers=X-Remote-Group --requestheader-username-headers=X-Remote-User --secure-port=6443
    --service-account-issuer=https://kubernetes.default.svc.cluster.local --service-account-key-file=${pki}/sa.pub
    --service-account-signing-key-file=${pki}/sa.key --service-cluster-ip-range=10.96.0.0/12 --tls-cert-file=${pki}/apiserver.crt
    --tls-private-key-file=${pki}/apiserver.key`,
  ],
  [
    'kube-controller-manager',
    kubeControllerManagerFlags(),
    `--allocate-node-cidrs=true --authentication-kubeconfig=/etc/kubernetes/controller-manager.conf
    --authorization-kubeconfig=/etc/kubernetes/controller-manager.conf --bind-address=127.0.0.1 --client-ca-file=${pki}/ca.crt
    --cluster-cidr=10.244.0.0/16 --cluster-name=kubernetes --cluster-signing-cert-file=${pki}/ca.crt
    --cluster-signing-key-file=${pki}/ca.key --controllers=*,bootstrapsigner,tokencleaner
    --kubeconfig=/etc/kubernetes/controller-manager.conf --leader-elect=true --requestheader-client-ca-file=${pki}/front-proxy-ca.crt
    --root-ca-file=${pki}/ca.crt --service-account-private-key-file=${pki}/sa.key --service-cluster-ip-range=10.96.0.0/12
    --use-service-account-credentials=true`,
  ],
  [
    'kube-scheduler',
    kubeSchedulerFlags(),
    `--authentication-kubeconfig=/etc/kubernetes/scheduler.conf --authorization-kubeconfig=/etc/kubernetes/scheduler.conf
    --bind-address=127.0.0.1 --kubeconfig=/etc/kubernetes/scheduler.conf --leader-elect=true`,
  ],
  [
    'kubelet',
    kubeletFlags,
    `--kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml
    --container-runtime-endpoint=unix:///run/containerd/containerd.sock --hostname-override=node-1
    --register-with-taints=node-role.kubernetes.io/control-plane:NoSchedule`,
  ],
  ['kube-proxy', kubeProxyFlags, '--config=/var/lib/kube-proxy/config.conf --hostname-override=node-1'],
];

test.each(lines)('the command line of %s', (_, flags, argv) => {
  expect(parseFlags(flags, argv.split(/\s+/)).warnings).toEqual([]);
});

const kubelet = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication:
  anonymous: {enabled: false}
  webhook: {cacheTTL: 0s, enabled: true}
authorization:
  mode: Webhook
  webhook: {cacheAuthorizedTTL: 0s, cacheUnauthorizedTTL: 0s}
cgroupDriver: cgroupfs
clusterDNS: [10.96.0.10]
clusterDomain: cluster.local
containerRuntimeEndpoint: ""
cpuManagerReconcilePeriod: 0s
crashLoopBackOff: {}
evictionPressureTransitionPeriod: 0s
fileCheckFrequency: 0s
healthzBindAddress: 127.0.0.1
healthzPort: 10248
httpCheckFrequency: 0s
imageMaximumGCAge: 0s
imageMinimumGCAge: 0s
logging:
  flushFrequency: 0
  options:
    json: {infoBufferSize: "0"}
    text: {infoBufferSize: "0"}
  verbosity: 0
memorySwap: {}
nodeStatusReportFrequency: 0s
nodeStatusUpdateFrequency: 0s
rotateCertificates: true
runtimeRequestTimeout: 0s
shutdownGracePeriod: 0s
shutdownGracePeriodCriticalPods: 0s
staticPodPath: /etc/kubernetes/manifests
streamingConnectionIdleTimeout: 0s
syncFrequency: 0s
volumeStatsAggPeriod: 0s
`;

const dir = mkdtempSync(join(tmpdir(), 'sagong-kubeadm-'));
afterAll(() => rmSync(dir, { recursive: true }));

async function settings(text: string, ...argv: string[]) {
  const path = join(dir, 'config.yaml');
  writeFileSync(path, text);
  const { values, changed } = parseFlags(kubeletFlags, [`--config=${path}`, ...argv]);
  return kubeletSettings(values, changed);
}

describe('KubeletConfiguration', () => {
  test('as kubeadm writes it: zeros are defaults, the client certificate is renewed', async () => {
    const { options, healthz, serving, certificates, warnings } = await settings(kubelet);
    expect(options).toMatchObject({
      nodeStatusUpdateMs: 10_000,
      nodeStatusReportMs: 300_000,
      imageAgeMsMin: 120_000,
      imageAgeMsMax: 0,
      containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
      podManifestPath: '/etc/kubernetes/manifests',
      clusterDNS: ['10.96.0.10'],
    });
    expect(healthz).toEqual({ host: '127.0.0.1', port: 10_248 });
    expect(serving).toMatchObject({ anonymous: false, tokenReview: true, authorization: 'Webhook' });
    expect(certificates).toEqual({ dir: '/var/lib/kubelet/pki', rotateClient: true, serving: false });
    expect(warnings).toEqual([]);
  });

  test.each([
    ['cpuManagerPolicy: static', 'cpuManagerPolicy of the KubeletConfiguration is not supported'],
    ['readOnlyPort: 10255', 'readOnlyPort of the KubeletConfiguration is not supported'],
    ['nonsense: 1', 'unknown field "nonsense"'],
    ['featureGates: {ContainerStopSignals: true}', 'cannot set feature gate ContainerStopSignals to true'],
    ['featureGates: {Nonsense: true}', 'unrecognized feature gate: Nonsense'],
  ])('%s', async (line, message) => {
    await expect(settings(`${kubelet}${line}\n`)).rejects.toThrow(message);
  });

  test('flags win over the file, and what is default in it is no matter', async () => {
    const text = `${kubelet}enableServer: true\nfailSwapOn: true\nkubeReserved: {cpu: 100m}\n`;
    const { options, serving } = await settings(text, '--kube-reserved=cpu=200m', '--enable-server=false', '--seccomp-default');
    expect(options).toMatchObject({ reserved: { cpu: '200m' }, seccompDefault: true });
    expect(serving).toBeUndefined();
  });
});

const proxy = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection: {acceptContentTypes: "", burst: 0, contentType: "", kubeconfig: /var/lib/kube-proxy/kubeconfig.conf, qps: 0}
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack: {maxPerCore: null, min: null, tcpBeLiberal: false, tcpCloseWaitTimeout: null, tcpEstablishedTimeout: null, udpStreamTimeout: 0s, udpTimeout: 0s}
detectLocal: {bridgeInterface: "", interfaceNamePrefix: ""}
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
iptables: {localhostNodePorts: null, masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s}
ipvs: {excludeCIDRs: null, minSyncPeriod: 0s, scheduler: "", strictARP: false, syncPeriod: 0s, tcpFinTimeout: 0s, tcpTimeout: 0s, udpTimeout: 0s}
logging: {flushFrequency: 0, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
metricsBindAddress: ""
mode: ""
nftables: {masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s}
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
winkernel: {enableDSR: false, forwardHealthCheckVip: false, networkName: "", rootHnsEndpointName: "", sourceVip: ""}
`;

describe('KubeProxyConfiguration', () => {
  const { values: flags } = parseFlags(kubeProxyFlags, ['--hostname-override=node-1']);

  test('as kubeadm writes it', () => {
    const { values, warnings } = withConfiguration(flags, proxy);
    expect(warnings).toEqual([]);
    expect(values).toMatchObject({
      kubeconfig: '/var/lib/kube-proxy/kubeconfig.conf',
      clusterCidr: '10.244.0.0/16',
      hostnameOverride: 'node-1',
      healthzBindAddress: '0.0.0.0:10256',
      masqueradeBit: 14,
    });
  });

  test.each([
    ['mode: ""', 'mode: ipvs', 'mode "ipvs" of the KubeProxyConfiguration is not supported'],
    ['detectLocalMode: ""', 'detectLocalMode: NodeCIDR', 'detectLocalMode of the KubeProxyConfiguration is not supported'],
    ['nodePortAddresses: null', 'nodePortAddresses: [192.0.2.0/24]', 'nodePortAddresses of the KubeProxyConfiguration is'],
    ['portRange: ""', 'nonsense: 1', 'unknown field "nonsense"'],
  ])('%s -> %s', (from, to, message) => {
    expect(() => withConfiguration(flags, proxy.replace(from, to))).toThrow(message);
  });
});
