// Why a control plane does not start, in the words of whoever typed the command.

/** The error of a start, as a sentence where the reason is the machine's and not the cluster's. */
export function startFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, cause, code, port } = error as NodeJS.ErrnoException & { port?: number };
  if (name === 'NoSpaceError' && cause instanceof Error)
    return new Error(`the data of the cluster finds no room: ${cause.message}`, { cause: error });
  if (code === 'EADDRINUSE' && port !== undefined)
    return new Error(`port ${port} of 127.0.0.1 is taken; choose another with --port`, { cause: error });
  return error;
}
