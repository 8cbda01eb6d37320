// Bytes between processes: HTTP/1.1 and HTTP/2 over TLS, WebSocket, SPDY/3.1, and the streaming protocols of Kubernetes on top of them.
export type { HeaderValue, ResponseHeaders, WireRequest, WireRequestHead, WireResponse, WireUpgrade } from './http/types.ts';
export { BodyTooLargeError, ClientGoneError } from './http/types.ts';
export type { PeerCertificate } from './http/peer.ts';
export type {
  ListenAddress,
  ListenTarget,
  ServeOptions,
  ServerLimits,
  ServerTls,
  ServingCertificate,
  WireServer,
} from './server/options.ts';
export { serve } from './server/serve.ts';
export { createWireClient } from './client/client.ts';
export {
  type ClientOptions,
  type ClientRequest,
  type ClientResponse,
  type ClientTls,
  type Dial,
  type UpgradedConnection,
  UpgradeRefusedError,
  type WireClient,
} from './client/options.ts';
