// How many seats a request takes, by what it makes the server do (k8s.io/apiserver/pkg/util/flowcontrol/request). Pure.
import type { RequestData, Target } from '../../request/request.ts';
import {
  bytesPerSeat,
  listBytesHeldMax,
  listSeatsMax,
  mutatingSeatsMax,
  unknownObjectBytes,
  watchersPerSeat,
  watcherWorkMs,
} from './limits.ts';
import type { Work } from './queue-set.ts';

/** What is known of a stored resource. */
export interface ResourceStats {
  objects: number;
  /** The size of an object on average; 0: unknown. */
  bytes: number;
}

export interface Facts {
  stats(group: string, resource: string): ResourceStats | undefined;
  /** How many hear of a change of that object. */
  watchers(target: Target): number;
}

const one: Work = Object.freeze({ seats: 1, finalSeats: 0, finalMs: 0 });

const seatsOf = (seats: number): Work => (seats === 1 ? one : { seats, finalSeats: 0, finalMs: 0 });

const mutating = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** `levelMax`: seats that the level gives to one request; 0: any. */
export function estimate(request: RequestData, facts: Facts, levelMax: number): Work {
  const { verb, target } = request;
  if (!target || verb === 'get') return one;
  if (verb === 'list' || verb === 'watch') return seatsOf(listSeats(request, facts, levelMax));
  return mutating.has(verb) && target.subresource !== 'token' ? changeWork(target, facts, levelMax) : one;
}

function listSeats({ verb, target, options }: RequestData, facts: Facts, levelMax: number): number {
  const { resourceVersion = '', sendInitialEvents = false, continue: token = '', resourceVersionMatch = '', limit = 0 } = options;
  // A watch that goes on from a revision sends nothing at first.
  if (verb === 'watch' && !sendInitialEvents && resourceVersion !== '' && resourceVersion !== '0') return 1;
  const stats = facts.stats(target?.group ?? '', target?.resource ?? '');
  if (!stats) return 1;
  const limited = limit > 0 ? Math.min(limit, stats.objects) : stats.objects;
  const fromMemory = verb === 'watch' || (token === '' && resourceVersionMatch !== 'Exact');
  const selects = (options.fieldSelector ?? '') !== '' || (options.labelSelector ?? '') !== '';
  const loaded = target?.name ? 1 : !fromMemory && selects ? Math.max(limited, stats.objects / 2) : limited;
  const bytes = loaded * (stats.bytes > 0 ? stats.bytes : unknownObjectBytes);
  const seats = Math.ceil((fromMemory ? Math.min(bytes, listBytesHeldMax) : bytes) / bytesPerSeat);
  const max = levelMax === 0 || levelMax > listSeatsMax ? listSeatsMax : levelMax;
  return Math.max(1, Math.min(seats, max));
}

/** Whoever watches is served after the answer: many watchers keep seats busy for a moment. */
function changeWork(target: Target, facts: Facts, levelMax: number): Work {
  const watchers = facts.watchers(target);
  if (watchers < watchersPerSeat) return one;
  const wanted = Math.ceil(watchers / watchersPerSeat);
  const max = levelMax === 0 || levelMax > mutatingSeatsMax ? mutatingSeatsMax : levelMax;
  const finalSeats = Math.min(wanted, max);
  return { seats: 1, finalSeats, finalMs: (watcherWorkMs * wanted) / finalSeats };
}
