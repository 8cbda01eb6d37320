// The parts of the Container Storage Interface (csi.v1, https://github.com/container-storage-interface/spec/blob/master/spec.md) and of plugin registration
// (pluginregistration.Registration, https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins) that a kubelet calls, as gRPC definitions.
import { loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js';
import { fromJSON } from '@grpc/proto-loader';

type Field = { type: string; id: number; rule?: 'repeated'; keyType?: string };
type Fields = Record<string, Field>;

/** Fields by their numbers, as `name:type`; `*` stands for several, `@` for a map of texts. */
function message(fields: Record<number, string>, oneofs?: Record<string, { oneof: string[] }>): object {
  const all: Fields = {};
  for (const [id, text] of Object.entries(fields)) {
    const [name = '', type = 'string'] = text.split(':');
    if (type === '@') all[name] = { keyType: 'string', type: 'string', id: Number(id) };
    else if (type.startsWith('*')) all[name] = { rule: 'repeated', type: type.slice(1), id: Number(id) };
    else all[name] = { type, id: Number(id) };
  }
  return { fields: all, ...(oneofs && { oneofs }) };
}
const enumOf = (...names: string[]): object => ({ values: Object.fromEntries(names.map((name, number) => [name, number])) });
const service = (...names: string[]): object => ({
  methods: Object.fromEntries(names.map((name) => [name, { requestType: `${name}Request`, responseType: `${name}Response` }])),
});

const csi = {
  Node: service(
    'NodeStageVolume',
    'NodeUnstageVolume',
    'NodePublishVolume',
    'NodeUnpublishVolume',
    'NodeExpandVolume',
    'NodeGetVolumeStats',
    'NodeGetCapabilities',
    'NodeGetInfo',
  ),
  BlockVolume: message({}),
  MountVolume: message({ 1: 'fsType', 2: 'mountFlags:*string', 3: 'volumeMountGroup' }),
  Mode: enumOf(
    'UNKNOWN',
    'SINGLE_NODE_WRITER',
    'SINGLE_NODE_READER_ONLY',
    'MULTI_NODE_READER_ONLY',
    'MULTI_NODE_SINGLE_WRITER',
    'MULTI_NODE_MULTI_WRITER',
    'SINGLE_NODE_SINGLE_WRITER',
    'SINGLE_NODE_MULTI_WRITER',
  ),
  AccessMode: message({ 1: 'mode:Mode' }),
  VolumeCapability: message(
    { 1: 'block:BlockVolume', 2: 'mount:MountVolume', 3: 'accessMode:AccessMode' },
    { accessType: { oneof: ['block', 'mount'] } },
  ),
  CapacityRange: message({ 1: 'requiredBytes:int64', 2: 'limitBytes:int64' }),
  Topology: message({ 1: 'segments:@' }),
  NodeStageVolumeRequest: message({
    1: 'volumeId',
    2: 'publishContext:@',
    3: 'stagingTargetPath',
    4: 'volumeCapability:VolumeCapability',
    5: 'secrets:@',
    6: 'volumeContext:@',
  }),
  NodeStageVolumeResponse: message({}),
  NodeUnstageVolumeRequest: message({ 1: 'volumeId', 2: 'stagingTargetPath' }),
  NodeUnstageVolumeResponse: message({}),
  NodePublishVolumeRequest: message({
    1: 'volumeId',
    2: 'publishContext:@',
    3: 'stagingTargetPath',
    4: 'targetPath',
    5: 'volumeCapability:VolumeCapability',
    6: 'readonly:bool',
    7: 'secrets:@',
    8: 'volumeContext:@',
  }),
  NodePublishVolumeResponse: message({}),
  NodeUnpublishVolumeRequest: message({ 1: 'volumeId', 2: 'targetPath' }),
  NodeUnpublishVolumeResponse: message({}),
  NodeExpandVolumeRequest: message({
    1: 'volumeId',
    2: 'volumePath',
    3: 'capacityRange:CapacityRange',
    4: 'stagingTargetPath',
    5: 'volumeCapability:VolumeCapability',
    6: 'secrets:@',
  }),
  NodeExpandVolumeResponse: message({ 1: 'capacityBytes:int64' }),
  NodeGetVolumeStatsRequest: message({ 1: 'volumeId', 2: 'volumePath', 3: 'stagingTargetPath' }),
  NodeGetVolumeStatsResponse: message({ 1: 'usage:*VolumeUsage', 2: 'volumeCondition:VolumeCondition' }),
  VolumeUsage: message({ 1: 'available:int64', 2: 'total:int64', 3: 'used:int64', 4: 'unit:Unit' }),
  Unit: enumOf('UNKNOWN_UNIT', 'BYTES', 'INODES'),
  VolumeCondition: message({ 1: 'abnormal:bool', 2: 'message' }),
  CapabilityType: enumOf(
    'UNKNOWN_CAPABILITY',
    'STAGE_UNSTAGE_VOLUME',
    'GET_VOLUME_STATS',
    'EXPAND_VOLUME',
    'VOLUME_CONDITION',
    'SINGLE_NODE_MULTI_WRITER_CAPABILITY',
    'VOLUME_MOUNT_GROUP',
  ),
  RPC: message({ 1: 'type:CapabilityType' }),
  NodeServiceCapability: message({ 1: 'rpc:RPC' }),
  NodeGetCapabilitiesRequest: message({}),
  NodeGetCapabilitiesResponse: message({ 1: 'capabilities:*NodeServiceCapability' }),
  NodeGetInfoRequest: message({}),
  NodeGetInfoResponse: message({ 1: 'nodeId', 2: 'maxVolumesPerNode:int64', 3: 'accessibleTopology:Topology' }),
};

const registration = {
  Registration: {
    methods: {
      GetInfo: { requestType: 'InfoRequest', responseType: 'PluginInfo' },
      NotifyRegistrationStatus: { requestType: 'RegistrationStatus', responseType: 'RegistrationStatusResponse' },
    },
  },
  InfoRequest: message({}),
  PluginInfo: message({ 1: 'type', 2: 'name', 3: 'endpoint', 4: 'supportedVersions:*string' }),
  RegistrationStatus: message({ 1: 'pluginRegistered:bool', 2: 'error' }),
  RegistrationStatusResponse: message({}),
};

export interface PluginServices {
  Node: ServiceClientConstructor;
  Registration: ServiceClientConstructor;
}

let built: PluginServices | undefined;

/** The services of CSI and of plugin registration. They are built on first use, which takes some tens of milliseconds. */
export function pluginServices(): PluginServices {
  if (built) return built;
  const nested = { csi: { nested: { v1: { nested: csi } } }, pluginregistration: { nested: registration } };
  const options = { longs: String, enums: String, defaults: true, arrays: true, objects: true, oneofs: true };
  const root = loadPackageDefinition(fromJSON({ nested } as Parameters<typeof fromJSON>[0], options)) as unknown as {
    csi: { v1: { Node: ServiceClientConstructor } };
    pluginregistration: { Registration: ServiceClientConstructor };
  };
  built = { Node: root.csi.v1.Node, Registration: root.pluginregistration.Registration };
  return built;
}
