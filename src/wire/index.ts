// Bytes between processes: HTTP/1.1 and HTTP/2 over TLS, WebSocket, SPDY/3.1, and the streaming protocols of Kubernetes on top of them.
export type { HeaderValue, ResponseHeaders, WireRequest, WireRequestHead, WireResponse, WireUpgrade } from './http/types.ts';
export { BodyTimeoutError, BodyTooLargeError, ClientGoneError } from './http/types.ts';
export { distinctHeaders } from './http/distinct.ts';
export { gathered, gathering } from './http/gather.ts';
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
export { assertServable } from './server/tls.ts';
export { createWireClient } from './client/client.ts';
export { boundInformational } from './client/informational.ts';
export { dialErrorText, isReset } from './client/dial-error.ts';
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
export { SpdyConnection, type SpdyOptions } from './spdy/connection.ts';
export { SpdyError } from './spdy/errors.ts';
export type { SpdyHeaders } from './spdy/headers.ts';
export type { SpdyStream } from './spdy/stream.ts';
export { WebSocketConnection, type WebSocketOptions } from './websocket/connection.ts';
export { WebSocketError } from './websocket/frames.ts';
export { acceptWebSocket, dialWebSocket, isWebSocketRequest, offeredSubprotocols } from './websocket/handshake.ts';
export { sendOverWebSocket } from './websocket/reader.ts';
export { webSocketTunnel } from './websocket/tunnel.ts';
export { dialRemoteCommand, type RemoteCommandClientSession, type RemoteCommandRequest } from './remotecommand/client.ts';
export { acceptSpdyUpgrade, dialSpdy, isSpdyRequest } from './remotecommand/negotiate.ts';
export {
  acceptPortForward,
  dialPortForward,
  type ForwardedConnection,
  type PortForwardClientSession,
  type PortForwardOptions,
  type PortForwardServerSession,
} from './remotecommand/port-forward.ts';
export {
  type CommandOutcome,
  type CommandStreamOptions,
  portForwardProtocol,
  portForwardTunnelProtocol,
  spdyCommandProtocols,
  type TerminalSize,
  webSocketCommandProtocols,
} from './remotecommand/protocol.ts';
export { acceptRemoteCommand, type RemoteCommandServerSession } from './remotecommand/server.ts';
export { cutOff, joinUpgraded, pipeDuplex } from './proxy/pipe.ts';
export {
  forwardableHeaders,
  proxyUpgrade,
  translateRemoteCommand,
  tunnelPortForward,
  type UpgradeTarget,
} from './proxy/upgrade.ts';
