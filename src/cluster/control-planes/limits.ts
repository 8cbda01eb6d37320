// Bounds of control-plane machines.

/** How the load balancer looks at apiservers. One that has no answer twice is left out: after two and a half seconds at the latest. */
export const healthCheckMs = { intervalMs: 500, timeoutMs: 1_000, healthyThreshold: 1, unhealthyThreshold: 2 };
/** The longest wait until the first apiserver answers through the load balancer. */
export const readyTimeoutMs = 180_000;
/** How long the cluster's own process asks again when its connections are cut. */
export const patienceMs = 20_000;
export const readyPollMs = 100;
/** The time between two checks which apiservers of a managed control plane answer. */
export const endpointsLookMs = 500;
/** Between two looks at the routes into a customer's network, and while they cannot be made. */
export const customerSideMs = { look: 10_000, retry: 200 };
/** The time between two checks whether a program of the machine, for which others wait, accepts connections. */
export const acceptPollMs = 50;
/** The time between SIGTERM to a program and SIGKILL. */
export const stopPatienceMs = 10_000;
/** The pauses after a renewal of certificates: until all are written, and between the machines. */
export const renewalMs = { settle: 5_000, turn: 60_000 };
/** The time between two tries to join the other members of etcd. */
export const joinPollMs = 1_000;
/** How long a machine asks for before it says again why it cannot join. */
export const complaintMs = 10_000;
/** The time between two readings of etcd's list of members. */
export const membersLookMs = 60_000;
/** A member is not taken out of etcd while another has been back for less than five seconds: how long and how often it is tried. */
export const removalPatienceMs = 20_000;
export const removalPollMs = 500;
/** Longest saving or restoring of a snapshot of etcd. */
export const etcdSnapshotTimeoutMs = 10 * 60_000;
