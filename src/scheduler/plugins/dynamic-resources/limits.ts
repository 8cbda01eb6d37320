// Limits of the allocation of devices.

/** Devices that one claim may have (resource.k8s.io AllocationResultsMaxSize). */
export const resultsMax = 32;

/** Alternatives of one request (resource.k8s.io FirstAvailableDeviceRequestMaxSize): the first one scores as much. */
export const alternativesMax = 8;

/** Devices that are tried for one pod on all nodes together; who needs more is tried again later, because nothing else is scheduled meanwhile. */
export const triesMax = 50_000;

/** A choice that is taken back counts as so many tries, because it costs as much. */
export const triesOfReturn = 25;

/** The most compiled selectors that are remembered. */
export const programsMax = 256;

/** How long a pod waits for the binding conditions of its devices (upstream's default of bindingTimeout), in milliseconds. */
export const bindingTimeoutMs = 600_000;
