// Bounds and times of the cloud loops.

/** Cloud calls of the route controller in flight at once. */
export const routeCallsMax = 200;
/** Tries of a route whose making met a conflict, and the time between them: up to twice as long. */
export const routeConflictTries = 5;
export const routeConflictDelayMs = 100;
/** Time between tries to initialise a Node that others write to (upstream's UpdateNodeSpecBackoff). */
export const nodeConflictDelayMs = 50;
/** Back-off of the service controller after a failure. */
export const serviceBackoffBaseMs = 5_000;
export const serviceBackoffMaxMs = 300_000;
/** How many Nodes an event about several names. */
export const nodeNamesMax = 20;
/** Nodes whose instances are asked for at once by the lifecycle controller. */
export const lifecycleConcurrency = 10;
/** How long the manager waits for the apiserver's /healthz before it starts the loops. */
export const apiserverWaitMs = 10_000;
export const apiserverPollMs = 500;
