// The cloud provider of the local cloud.
export { clusterTag, serviceNameTag, serviceUidTag } from './annotations.ts';
export type { LocalCloudConfig } from './config.ts';
export { localCloud, localCloudProvider } from './provider.ts';
