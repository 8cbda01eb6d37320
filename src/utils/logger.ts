// Structured logging as an argument; `#component-base` writes klog-like text or JSON.

/** Values are logged as given; never put secrets in them. */
export interface Logger {
  error(message: string, values?: Record<string, unknown>): void;
  warn(message: string, values?: Record<string, unknown>): void;
  info(message: string, values?: Record<string, unknown>): void;
  debug(message: string, values?: Record<string, unknown>): void;
  /** A logger that adds `values` to every line. */
  with(values: Record<string, unknown>): Logger;
}

/** Drops everything. The default of unit tests. */
export const silentLogger: Logger = {
  error() {},
  warn() {},
  info() {},
  debug() {},
  with: () => silentLogger,
};
