// Bounds of what is read from providers.

/** The most bytes of a file that `--cloud-config` names. */
export const configBytesMax = 1_048_576;
