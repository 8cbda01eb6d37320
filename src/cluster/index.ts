// Assembly: a whole cluster from the rooms, on this machine.
export { clusterFlags, clusterMark, clusterPaths, dataDirOf } from './state/paths.ts';
export { type EtcdFlags, etcdFromFlags } from './store/etcd-location.ts';
export { embeddedStorePath } from './store/embedded-place.ts';
export { migrateToEmbedded, migrateToEtcd } from './store/store-migrate.ts';
export { wordOf } from './flags/component-args.ts';
export { createProgress, type Progress } from './terminal/progress.ts';
export { down, stop } from './down.ts';
export {
  claimRunState,
  readRunState,
  removeRunState,
  runningProcess,
  runStatePath,
  type RunState,
  writeRunState,
} from './state/run-state.ts';
export { loadSettings, type ClusterSettings, type RuntimeChoice } from './state/settings.ts';
export { podCidrFor } from './state/networks.ts';
export { up } from './start/up.ts';
export type { RunningCluster, UpOptions } from './start/types.ts';
export { startControlPlane, type ControlPlane } from './control-plane.ts';
export { certificateTables, renewCertificates } from './renewal/certificates-check.ts';
export { serviceUnit, type ServiceUnit } from './service-unit.ts';
export { identities, type Identity } from './certificates/identities.ts';
export { assertOwnSnapshot } from './state/snapshot-origin.ts';
export {
  type ClusterPki,
  ephemeralPki,
  keysOf,
  kubeletTrust,
  openPki,
  pkiFrom,
  type PkiKeys,
} from './certificates/certificates.ts';
export { isNodeReady, waitFor } from './state/wait.ts';
export { SimulatedNodes } from './nodes/simulated-nodes.ts';
export { startCloudControllerManager } from './cloud/controller.ts';
export { startStorage } from './add-ons/storage-addon.ts';
export { Machines } from './cloud/machines.ts';
export { type ClusterNetwork, ensureNetwork } from './cloud/network.ts';
export { createSimulatedInstances } from './cloud/simulated-instances.ts';
export type { NodeAgentConfig } from './nodes/node-agent-config.ts';
export type { ControlPlaneConfig } from './control-planes/config.ts';
export { ControlPlaneAgent } from './control-planes/agent.ts';
export { runNodeAgent } from './node-agent/agent.ts';
export { type NodeCommands, nodeCommands } from './cluster-nodes/node-commands.ts';
export { nameServices } from './cloud/name-service.ts';
export { type CloudProcessSettings, runCloudProcess } from './cloud/service.ts';
export { runDemo, type DemoOptions } from './demo.ts';
export { type Explained, explain } from './explain/explain.ts';
export { explanationText } from './explain/text.ts';
export { objectNamed } from './explain/find.ts';
export { askCluster } from './control-socket.ts';
export type { DefragmentAnswer, SavedSnapshotAnswer } from './store/store-control.ts';
export { textTable } from './terminal/text-table.ts';
export { describeCluster, describedTable } from './status/describe.ts';
export { type EndpointAccess, endpointAccessOf, type Topology } from './flags/endpoint-access.ts';
export { buildProgramImage } from './images/index.ts';
export { listClusters, listedText } from './status/list.ts';
export { adminClient, drainNode, removeNode } from './machines/nodes-away.ts';
export {
  createToken,
  deleteToken,
  listTokens,
  newCertificateKey,
  parseCertificateKey,
  publishJoining,
  startJoiningLoops,
  tokenColumns,
  uploadCertificates,
} from './joining/index.ts';
export { authorityHashes } from './machines/cluster-info.ts';
export { join, type JoinOptions } from './machines/join.ts';
export { restoreEtcdSnapshot, saveEtcdSnapshot } from './control-planes/etcd-snapshot.ts';
export { saveOfAny, localPlanes } from './control-planes/local-snapshot.ts';
export { leave } from './machines/leave.ts';
export type { MachineSettings } from './machines/machine.ts';
export { machineStatus } from './machines/status.ts';
export { ownControlPlane } from './machines/own-plane.ts';
export { joinable } from './machines/joinable.ts';
export { loadImage } from './images/load-image.ts';
export { type ImageProgram, withLocalImage } from './images/local-image.ts';
export { nodeShell } from './nodes/node-shell.ts';
export { clusterStatus, summary } from './status/summary.ts';
