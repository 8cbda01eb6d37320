// Bounds of what is read from providers.

/** Size of a `--cloud-config` file. */
export const configBytesMax = 1_048_576;
