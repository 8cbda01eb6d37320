// Where long work of a request pauses, so that one thread serves all.
import { createTurnstile, createTurns, type Turnstile } from '#host';
import type { Clock } from '#utils';
import { flowOf } from './authentication/users.ts';
import type { ServerContext } from './endpoints/context.ts';
import type { WriteSettings } from './registry/generic/types.ts';

/**
 * Gives each request its pauses. What came over connections and what this process' own components ask for have each a share of every turn,
 * and steps of the former go on flow by flow, those of the latter namespace by namespace: ten thousand writes of one, or for one, do not come before a single one of another. `charge` hears how many milliseconds each of these flows used.
 */
export function restsOf(
  clock: Clock,
  charge?: (flow: string, ms: number) => void,
): Pick<ServerContext, 'restOf'> & Pick<WriteSettings, 'rest'> {
  const turnstile = (onUsed?: typeof charge): Turnstile =>
    createTurnstile({ clock, turns: createTurns(clock), overtaking: true, ...(onUsed && { onUsed }) });
  const [inside, outside] = [turnstile(), turnstile(charge)];
  return {
    rest: () => inside(),
    restOf(request) {
      if (request.via === 'memory') {
        // Components work for everybody.
        const namespace = request.target?.namespace;
        return () => inside(namespace);
      }
      // Whose it is is read when it rests: a request is there before it is known who asks.
      let user: typeof request.user | undefined;
      let flow = '';
      return () => {
        if (request.user !== user) [user, flow] = [request.user, flowOf(request.user.name)];
        return outside(flow);
      };
    },
  };
}
