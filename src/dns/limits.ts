// Bounds of the DNS server.

/** Time to live of records of the cluster, in seconds (CoreDNS's default). */
export const clusterTtlSeconds = 5;
/** Largest answer over UDP without EDNS (RFC 1035), and the largest size a client may ask for. */
export const udpPayloadBytes = 512;
export const udpPayloadBytesMax = 4096;
/** The longest wait for the answer of an upstream server. */
export const forwardTimeoutMs = 2_000;
export const forwardAttempts = 2;
/** Questions waiting for an upstream server at the same time; further ones get SERVFAIL. */
export const forwardsMax = 1_000;
/** The most answers of upstream servers that are kept. */
export const forwardCacheMax = 4_096;
export const forwardCacheSecondsMax = 30;
/** Connections over TCP at the same time, and how long one may be idle. */
export const tcpConnectionsMax = 200;
export const tcpIdleMs = 10_000;
/** Answers over TCP that wait for a client to read them. */
export const tcpUnreadBytesMax = 256 * 1024;
/** The most records in one answer. */
export const recordsMax = 1_000;
