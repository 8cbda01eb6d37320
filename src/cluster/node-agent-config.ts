// What a node's agent process is told: written by `sagong up` into the node's folder, read by `sagong node`.
export interface NodeAgentConfig {
  nodeName: string;
  nodeIp: string;
  kubeletKubeconfig: string;
  kubeProxyKubeconfig: string;
  containerRuntimeEndpoint: string;
  rootDir: string;
  podLogsDir: string;
  clusterDns: string;
  clusterDomain: string;
  clusterCidr: string;
  tlsCertFile: string;
  tlsPrivateKeyFile: string;
  clientCaFile: string;
  podInfraImage: string;
}
