export type * from './types.ts';
export { createClient } from './client.ts';
export { createInformerFactory, type InformerDeps } from './informer.ts';
export { createWorkQueue, type WorkQueueOptions } from './work-queue.ts';
export { createEventRecorder, type EventRecorderOptions } from './event-recorder.ts';
export { runLeaderElection, type LeaderElectionOptions } from './leader-election.ts';
export { serviceAccountToken } from './service-account-token.ts';
export { createRestTransport, type RestTransportOptions } from './rest-transport.ts';
export * from './kubeconfig.ts';
