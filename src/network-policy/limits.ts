// Bounds of the enforcement of network policies.

/** Changes within this window become one transaction. */
export const coalesceMs = 10;
/** All rules are written anew this often, in case somebody else changed them. */
export const fullSyncMs = 60_000;
/** Pause after a transaction that failed; doubled up to the maximum. */
export const retryMinMs = 500;
export const retryMaxMs = 30_000;
/** The longest time that one run of nft may take. */
export const applyTimeoutMs = 60_000;
/** How long the containers of a new pod wait for the rules about its address before the start is tried again. */
export const admitTimeoutMs = 10_000;
/** Pods looked at before others may have a turn. */
export const podsPerStep = 200;
/** Ports, in a count of pods, that are as much work as a pod. */
export const portsPerPod = 10;
/** Elements in one line of nft's input. */
export const elementsPerLine = 500;
/** Pods and peers that an explanation names. */
export const namesShownMax = 20;
