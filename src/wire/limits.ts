// Bounds of everything a peer can make us keep or wait for. Numbers follow upstream's servers where they have one
// (apiserver/pkg/server SecureServingInfo, net/http defaults).
export const limits = {
  /** Request line and headers together (http.DefaultMaxHeaderBytes). */
  headerBytesMax: 1024 * 1024,
  /** From the first byte of a connection, or of the next request, to the end of its headers. */
  headersTimeoutMs: 32_000,
  /** To the end of the request's body, HTTP/1.1. */
  requestTimeoutMs: 300_000,
  /** A connection without any request. */
  idleTimeoutMs: 90_000,
  /** TLS handshake. */
  handshakeTimeoutMs: 30_000,
  /** Requests at once on one HTTP/2 connection. */
  concurrentStreamsMax: 250,
  /** HTTP/2 receive window of one stream and of the connection. */
  streamWindowBytes: 256 * 1024,
  connectionWindowBytes: 1024 * 1024,
  /** Default of `readBody`; a resource write upstream may have 3 MiB. */
  bodyBytesMax: 3 * 1024 * 1024,
  /** How long `close` lets running requests go on. */
  shutdownGraceMs: 60_000,
  /** Contexts kept for server names. */
  sniContextsMax: 1_000,
  /** Client: connecting, TLS handshake included. */
  connectTimeoutMs: 30_000,
  /** First keep-alive probe on a silent TCP connection. */
  keepAliveProbeMs: 30_000,
  /** Client: HTTP/1.1 connections kept without a request (client-go keeps 25). */
  idleConnectionsMax: 25,
  /** Client: default of `bytes()` and `text()`. */
  responseBytesMax: 512 * 1024 * 1024,
  /** Client: body kept of a refused upgrade. */
  upgradeRefusalBytesMax: 1024 * 1024,
  /** Client, HTTP/2: silence before a ping, and how long its answer may take (client-go's defaults). */
  pingAfterIdleMs: 30_000,
  pingTimeoutMs: 15_000,
  /** Client, HTTP/2: how often a request the server did not process is sent. */
  http2Attempts: 3,
  clientStreamWindowBytes: 4 * 1024 * 1024,
  clientConnectionWindowBytes: 16 * 1024 * 1024,
};
