// Why a cluster does not start, in words for the user who typed the command.
import { byWhom } from '../port-holder.ts';

type ListenError = Error & { code?: string; port?: number; address?: string };

/** The error of a start, as a sentence where the reason is the machine's and not the cluster's. `port`: that of the apiserver, which `--port` chooses. */
export async function startFailure(error: unknown, port: number): Promise<unknown> {
  if (!(error instanceof Error)) return error;
  const { name, cause, code, port: taken, address = '127.0.0.1' } = error as ListenError;
  if (name === 'NoSpaceError' && cause instanceof Error)
    return new Error(`there is no room for the data of the cluster: ${cause.message}`, { cause: error });
  if (code !== 'EADDRINUSE' || taken === undefined) return error;
  const what = `port ${taken} of ${address} is taken${await byWhom(taken)}`;
  const way =
    taken === port ? 'choose another with --port, or end what listens there' : 'end what listens there, and start again';
  return new Error(`${what}; ${way}`, { cause: error });
}
