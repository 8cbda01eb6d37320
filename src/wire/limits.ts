// Bounds of everything a peer can make us keep or wait for. Numbers follow upstream's servers where they have one
// (apiserver/pkg/server SecureServingInfo, net/http defaults).
export const limits = {
  /** Request line and headers together (http.DefaultMaxHeaderBytes). */
  headerBytesMax: 1024 * 1024,
  /** From the first byte of a connection, or of the next request, to the end of its headers. */
  headersTimeoutMs: 32_000,
  /** To the end of the request's body, HTTP/1.1, whether somebody reads it or not. */
  requestTimeoutMs: 300_000,
  /** To the end of a body that is collected, from the moment on that somebody wants it. */
  bodyTimeoutMs: 60_000,
  /** How long the peer may take nothing of an answer that has been ended. */
  stallTimeoutMs: 60_000,
  /** A large answer goes out in pieces of this size, so that what a peer does not take is not encrypted and kept for it. */
  answerPieceBytes: 64 * 1024,
  /** Connections at once: of a server, and from one remote address. */
  connectionsMax: 10_000,
  connectionsPerAddressMax: 5_000,
  /** At most one word in the log about too many of them in this time. */
  connectionsToldMs: 10_000,
  /** How often node:http looks for heads and bodies that are over their time. */
  timeoutCheckMs: 5_000,
  /** Server, HTTP/2: a peer that has said nothing for this long is asked, and given up when it is silent for as long again. */
  pingAfterSilenceMs: 45_000,
  /** Requests of all connections that are begun in one turn of the event loop. */
  requestsPerTurn: 16,
  /** TLS handshakes, of all addresses, that are begun in one turn. */
  handshakesPerTurn: 4,
  /** HTTP/1.1 requests that wait on one connection behind the answer to an earlier one. */
  queuedRequestsMax: 100,
  /** How long, and how much, is still read from a peer when the last answer has gone out (net/http rstAvoidanceDelay, maxPostHandlerReadBytes). */
  lingerMs: 1_000,
  lingerBytesMax: 4 * 1024 * 1024,
  /** A connection without any request. */
  idleTimeoutMs: 90_000,
  /** TLS handshake. */
  handshakeTimeoutMs: 30_000,
  /** Requests at once on one HTTP/2 connection. */
  concurrentStreamsMax: 250,
  /** A request that was reset before so many others came in the same turn of the event loop ends its HTTP/2 connection. */
  resetsInTurnMax: 100,
  /** The same once so many streams were made in the turn, by all connections together. */
  resetsInCrowdedTurnMax: 4,
  /** HTTP/2 receive window of one stream and of the connection. */
  streamWindowBytes: 256 * 1024,
  connectionWindowBytes: 1024 * 1024,
  /** Default of `readBody`; a resource write upstream may have 3 MiB. */
  bodyBytesMax: 3 * 1024 * 1024,
  /** A body may come in so many pieces; one of more ends its connection when they are smaller than `bodyPieceBytesMin` on average. */
  bodyPiecesMax: 10_000,
  bodyPieceBytesMin: 32,
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
  /** Client: informational answers before the one that counts (net/http max1xxResponses). */
  informationalMax: 5,
  /** Client: default of `bytes()` and `text()`. */
  responseBytesMax: 512 * 1024 * 1024,
  /** Client: body kept of a refused upgrade. */
  upgradeRefusalBytesMax: 1024 * 1024,
  /** Client, HTTP/2: silence before a ping, and how long its answer may take (client-go's defaults). */
  pingAfterIdleMs: 30_000,
  pingTimeoutMs: 15_000,
  /** Client, HTTP/2: how often a request the server did not process is sent. */
  http2Attempts: 3,
  /** SPDY: one control frame, one header block unpacked, headers in it, streams of a connection. */
  spdyControlBytesMax: 16 * 1024,
  spdyHeaderBytesMax: 16 * 1024,
  spdyHeadersMax: 256,
  spdyStreamsMax: 1_000,
  /** SPDY: payload of the data frames we send; receive window we announce; bytes buffered per stream before its writer or the peer must wait. */
  spdyDataFrameBytes: 32 * 1024,
  spdyWindowBytes: 256 * 1024,
  spdyStreamBufferBytes: 64 * 1024,
  /** SPDY: what waits for the readers of all streams of a connection, before the peer must wait. */
  spdyUnreadBytesMax: 4 * 1024 * 1024,
  /** Upgraded connections: how much is taken before the age of the turn is looked at; answers that wait to be read before no more is taken. */
  intakePieceBytes: 4 * 1024,
  unreadAnswerBytesMax: 64 * 1024,
  /**
   * Upgraded connections: how long a client may take to read what was written before we said good-bye: its reader may rest, as a pager does (kubelet's
   * StreamingConnectionIdleTimeout). Its connection is idle by then, and makes room for others.
   */
  unreadEndTimeoutMs: 4 * 3_600_000,
  /** WebSocket: a frame up to this size is handed on whole. */
  webSocketWholeFrameBytes: 64 * 1024,
  /** WebSocket: how long a server that has been sent everything may take to answer the close frame. */
  webSocketCloseTimeoutMs: 10_000,
  /** Remote command: how long the client may take to open its streams (kubelet's StreamCreationTimeout). */
  streamCreationTimeoutMs: 30_000,
  /** Remote command: how long a command may take to read what a client wrote that has hung up since, and to end. */
  abandonedCommandTimeoutMs: 30_000,
  /** Remote command: outcome on the error stream. */
  outcomeBytesMax: 1024 * 1024,
  clientStreamWindowBytes: 4 * 1024 * 1024,
  clientConnectionWindowBytes: 16 * 1024 * 1024,
};
