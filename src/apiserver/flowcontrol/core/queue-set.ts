// The seats of one priority level and the queues before them (KEP-1040; k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing/queueset). Queues are
// served by start-time fair queuing: each has a virtual time up to which its work is paid for, and the one that would be through first is next.
// Pure: time is handed in.
import { Demand } from './demand.ts';
import { guessedServiceMs, handsMax, reliefSeatsShare, starvedMs } from './limits.ts';
import { deal, hashOf } from './shuffle.ts';

export interface Queuing {
  queues: number;
  handSize: number;
  queueLengthLimit: number;
}

/** The seats that one request takes. After its end it keeps `finalSeats` for `finalMs`, while its watchers are still served. */
export interface Work {
  seats: number;
  finalSeats: number;
  finalMs: number;
}

export type Refusal = 'queue-full' | 'concurrency-limit' | 'time-out' | 'cancelled';

interface Queue {
  index: number;
  waiting: Ticket[];
  executing: Set<Ticket>;
  /** Seats in use by its requests. */
  seats: number;
  /** Virtual time up to which its work is paid for. */
  paidUntil: number;
}

/** A request at a level: it waits, executes, or is over. */
export class Ticket {
  readonly work: Work;
  readonly schema: string;
  readonly flow: string;
  readonly arrivedMs: number;
  /** What dumps show of the request. */
  readonly about: unknown;
  readonly width: number;
  startedMs = 0;
  state: 'waiting' | 'executing' | 'over' = 'waiting';
  queue: Queue | undefined;
  /** Called when a request that waited gets its seats. */
  onDispatch: (() => void) | undefined;

  constructor(work: Work, at: { schema: string; flow: string; nowMs: number; about: unknown }) {
    this.work = work;
    this.width = Math.max(work.seats, work.finalSeats);
    this.schema = at.schema;
    this.flow = at.flow;
    this.arrivedMs = at.nowMs;
    this.about = at.about;
  }
}

export interface Counts {
  dispatched: number;
  rejected: number;
  timedOut: number;
  cancelled: number;
}

export class QueueSet {
  readonly demand: Demand;
  readonly counts: Counts = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };
  #queuing: Queuing | undefined;
  #limit: number;
  #queues: Queue[] = [];
  readonly #nonEmpty = new Set<Queue>();
  readonly #loose = new Set<Ticket>();
  readonly #hands = new Map<string, readonly number[]>();
  #active = 0;
  #seatsInUse = 0;
  #seatsWaiting = 0;
  #waiting = 0;
  #executing = 0;
  /** Virtual time: how far a queue that is always busy has come. */
  #virtual = 0;
  #sinceMs: number;
  #robin = 0;

  /** `limit` Infinity: requests are never held back. */
  constructor(queuing: Queuing | undefined, limit: number, nowMs: number) {
    this.#limit = limit;
    this.#sinceMs = nowMs;
    this.demand = new Demand(nowMs);
    this.configure(queuing, limit, nowMs);
  }

  get waiting(): number {
    return this.#waiting;
  }
  get executing(): number {
    return this.#executing;
  }
  get seatsInUse(): number {
    return this.#seatsInUse;
  }
  get limit(): number {
    return this.#limit;
  }
  get idle(): boolean {
    return this.#waiting === 0 && this.#executing === 0;
  }

  /** Queues that are no longer wanted are kept until they are empty. */
  configure(queuing: Queuing | undefined, limit: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#queuing = queuing;
    this.#limit = limit;
    this.#hands.clear();
    for (let index = this.#queues.length; index < (queuing?.queues ?? 0); index++)
      this.#queues.push({ index, waiting: [], executing: new Set(), seats: 0, paidUntil: 0 });
    this.#dispatch(nowMs);
  }

  setLimit(limit: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#limit = limit;
    this.#dispatch(nowMs);
  }

  /** Lets a request execute or wait; undefined, or why it may not. */
  enter(ticket: Ticket, nowMs: number): Refusal | undefined {
    if (!this.#queuing) {
      if (!this.#fits(ticket.width)) return this.#refuse('concurrency-limit');
      this.#execute(ticket, nowMs);
      return undefined;
    }
    this.#advance(nowMs);
    const queue = this.#queueFor(ticket.flow, this.#queuing);
    const fits = this.#waiting === 0 && this.#fits(ticket.width);
    if (!fits && queue.waiting.length >= this.#queuing.queueLengthLimit) return this.#refuse('queue-full');
    if (queue.waiting.length === 0 && queue.executing.size === 0) {
      queue.paidUntil = this.#virtual;
      this.#active++;
    }
    ticket.queue = queue;
    if (fits) {
      this.#execute(ticket, nowMs);
      return undefined;
    }
    queue.waiting.push(ticket);
    this.#nonEmpty.add(queue);
    this.#waiting++;
    this.#seatsWaiting += ticket.width;
    this.demand.add(ticket.width, nowMs);
    this.#dispatch(nowMs);
    return undefined;
  }

  /** Looks again whether somebody has waited for too long. */
  relieve(nowMs: number): void {
    this.#advance(nowMs);
    this.#dispatch(nowMs);
  }

  /** A request that waits leaves without having been served. */
  giveUp(ticket: Ticket, why: 'time-out' | 'cancelled', nowMs: number): void {
    const { queue } = ticket;
    if (ticket.state !== 'waiting' || !queue) return;
    this.#advance(nowMs);
    ticket.state = 'over';
    queue.waiting.splice(queue.waiting.indexOf(ticket), 1);
    this.#unwait(ticket, queue);
    this.demand.add(-ticket.width, nowMs);
    this.#settle(queue);
    this.counts[why === 'time-out' ? 'timedOut' : 'cancelled']++;
    this.#dispatch(nowMs);
  }

  /** A request that executed is over, with what it keeps busy afterwards. */
  leave(ticket: Ticket, nowMs: number): void {
    if (ticket.state !== 'executing') return;
    this.#advance(nowMs);
    ticket.state = 'over';
    this.#executing--;
    this.#seatsInUse -= ticket.width;
    this.demand.add(-ticket.width, nowMs);
    const { queue } = ticket;
    if (queue) {
      queue.executing.delete(ticket);
      queue.seats -= ticket.width;
      // What it took in truth takes the place of the guess.
      queue.paidUntil += (nowMs - ticket.startedMs - guessedServiceMs) * ticket.width;
      this.#settle(queue);
    } else this.#loose.delete(ticket);
    this.#dispatch(nowMs);
  }

  dump(): {
    queues: { waiting: readonly Ticket[]; executing: readonly Ticket[]; seats: number; paidUntil: number }[];
    loose: Ticket[];
  } {
    return {
      queues: this.#queues.map(({ waiting, executing, seats, paidUntil }) => ({
        waiting,
        executing: [...executing],
        seats,
        paidUntil,
      })),
      loose: [...this.#loose],
    };
  }

  #refuse(why: Refusal): Refusal {
    this.counts.rejected++;
    return why;
  }

  /** One that is wider than the level has it for itself. */
  #fits(width: number): boolean {
    return width > this.#limit ? this.#seatsInUse === 0 : this.#seatsInUse + width <= this.#limit;
  }

  #execute(ticket: Ticket, nowMs: number): void {
    ticket.state = 'executing';
    ticket.startedMs = nowMs;
    this.#executing++;
    this.counts.dispatched++;
    this.#seatsInUse += ticket.width;
    this.demand.add(ticket.width, nowMs);
    const { queue } = ticket;
    if (!queue) return void this.#loose.add(ticket);
    queue.executing.add(ticket);
    queue.seats += ticket.width;
    queue.paidUntil += guessedServiceMs * ticket.width;
  }

  #dispatch(nowMs: number): void {
    while (this.#waiting > 0) {
      const queue = this.#served(nowMs);
      const ticket = queue?.waiting.shift();
      if (!queue || !ticket) return;
      this.#unwait(ticket, queue);
      this.demand.add(-ticket.width, nowMs);
      this.#robin = queue.index + 1;
      this.#execute(ticket, nowMs);
      ticket.onDispatch?.();
    }
  }

  /** The queue that is served next, where there is room for its request. */
  #served(nowMs: number): Queue | undefined {
    const widthOf = (queue: Queue): number => queue.waiting[0]?.width ?? 0;
    const next = this.#next(() => true);
    if (next && this.#fits(widthOf(next))) return next;
    const starved = this.#next(({ waiting: [first], executing }) => {
      return executing.size === 0 && first !== undefined && first.arrivedMs + starvedMs <= nowMs;
    });
    const room = this.#limit + Math.max(1, Math.ceil(this.#limit * reliefSeatsShare));
    return starved && this.#seatsInUse + widthOf(starved) <= room ? starved : undefined;
  }

  #unwait(ticket: Ticket, queue: Queue): void {
    this.#waiting--;
    this.#seatsWaiting -= ticket.width;
    if (queue.waiting.length === 0) this.#nonEmpty.delete(queue);
  }

  /** The queue whose request is served next, of those that count; among equals, the next one in the round. */
  #next(counts: (queue: Queue) => boolean): Queue | undefined {
    let best: Queue | undefined;
    let earliest = Number.POSITIVE_INFINITY;
    const distance = ({ index }: Queue): number => (index - this.#robin + this.#queues.length) % this.#queues.length;
    for (const queue of this.#nonEmpty) {
      if (!counts(queue)) continue;
      const through = queue.paidUntil + guessedServiceMs * (queue.waiting[0]?.width ?? 0);
      if (through < earliest || (through === earliest && best && distance(queue) < distance(best))) {
        earliest = through;
        best = queue;
      }
    }
    return best;
  }

  #settle(queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing.size === 0) this.#active--;
  }

  /** The queue of the flow's hand with the least work before it. */
  #queueFor(flow: string, { queues, handSize }: Queuing): Queue {
    let hand = this.#hands.get(flow);
    if (!hand) {
      if (this.#hands.size >= handsMax) this.#hands.clear();
      hand = deal(hashOf(flow), queues, handSize);
      this.#hands.set(flow, hand);
    }
    let best = this.#queues[hand[0] ?? 0] as Queue;
    let least = Number.POSITIVE_INFINITY;
    for (const index of hand) {
      const queue = this.#queues[index] as Queue;
      const load = queue.seats + queue.waiting.length * 1_000;
      if (load < least) [least, best] = [load, queue];
    }
    return best;
  }

  /** Every busy queue comes forward by an equal share of the seats that are wanted and there. */
  #advance(nowMs: number): void {
    const took = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (took <= 0 || this.#active === 0) return;
    const wanted = Math.min(this.#seatsInUse + this.#seatsWaiting, this.#limit);
    this.#virtual += (took * wanted) / this.#active;
  }
}
