// The apiserver: a function from request to response over the store and its watch cache (design: "Apiserver").
export { type ApiServer, type ApiServerOptions, createApiServer } from './server.ts';
export type { AdmissionChain } from './registry/generic/types.ts';
export { NoAnswerError } from './request/cancellation.ts';
export type * from './contracts.ts';
