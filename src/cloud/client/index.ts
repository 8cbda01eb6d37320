// The client of the cloud's HTTP API.
export { type CallOptions, type CloudClient, type CloudClientOptions, createCloudClient } from './client.ts';
export { CloudApiError, isNotFound } from './errors.ts';
export { listAll } from './list-all.ts';
