// Where long work of a request pauses, so that one thread serves all.
import { createTurnstile, createTurns, type Turnstile } from '#host';
import type { Clock } from '#utils';
import { splitServiceAccountName } from './authentication/users.ts';
import type { ServerContext } from './endpoints/context.ts';
import type { WriteSettings } from './registry/generic/types.ts';

/**
 * Whose work it is. The service accounts of a namespace count as one, since whoever may make one there may make a thousand; those of
 * kube-system are the cluster's own and each for itself.
 */
export function flowOf(userName: string): string {
  const account = splitServiceAccountName(userName);
  return account && account.namespace !== 'kube-system' ? `namespace ${account.namespace}` : userName;
}

/**
 * Gives each request its pauses. What came over connections and what this process' own components ask for have each a share of every turn,
 * and steps of the former go on flow by flow: ten thousand writes of one do not come before a single one of another.
 */
export function restsOf(clock: Clock): Pick<ServerContext, 'restOf'> & Pick<WriteSettings, 'rest'> {
  const turnstile = (): Turnstile => createTurnstile({ clock, turns: createTurns(clock), overtaking: true });
  const [inside, outside] = [turnstile(), turnstile()];
  return {
    rest: () => inside(),
    restOf({ via, user }) {
      if (via === 'memory') return () => inside();
      const flow = flowOf(user.name);
      return () => outside(flow);
    },
  };
}
