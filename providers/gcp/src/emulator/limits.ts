// Bounds of the emulated API.

/** How far the clock of one who signs may be off. */
export const skewSeconds = 300;
/** How long a token may be valid: an hour, as Google's. */
export const lifetimeSecondsMax = 3_600;
export const keyBits = 2_048;
/** Ports of a forwarding rule that are looked at one by one. */
export const portsOfRuleMax = 1_000;
