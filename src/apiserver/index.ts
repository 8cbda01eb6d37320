// The apiserver: a function from request to response over the store and its watch cache (design: "Apiserver").
export { createApiServer } from './server.ts';
export type { ApiServer, ApiServerOptions } from './server-options.ts';
export type { Refusal } from './chain/refusals.ts';
export type { AdmissionChain } from './registry/generic/types.ts';
export { NoAnswerError } from './request/cancellation.ts';
export type * from './authentication/types.ts';
export type * from './authorization/types.ts';
export type * from './endpoints/published-document.ts';
export type * from './registry/generic/admission.ts';
export type * from './registry/generic/storage-hook.ts';
export type * from './registry/special.ts';
export type * from './registry/start-hook.ts';
export type * from './registry/writer.ts';
export type * from './storage/read-only-cluster.ts';
export type { AddAnnotation } from './request/notes.ts';
export type { Attributes, Credentials, Target, UserInfo } from './request/request.ts';
