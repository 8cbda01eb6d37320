// The client of the cloud's HTTP API.
export {
  type CallOptions,
  type CloudClient,
  cloudClientOver,
  type CloudClientOptions,
  createCloudClient,
  type SendCall,
} from './client.ts';
export { CloudApiError, isNotFound } from './errors.ts';
export { listAll } from './list-all.ts';
