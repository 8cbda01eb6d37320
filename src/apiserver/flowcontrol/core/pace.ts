// What flows owe for the time of the one thread that they have used beyond their share of it. Pure: time comes in with every call.
import {
  paceAllowanceMs,
  paceBusy,
  paceDebtMaxMs,
  paceFlowsMax,
  paceGrowthPerSecond,
  paceRecentMs,
  paceShareMin,
} from './limits.ts';

interface Account {
  /** Used beyond the share, in milliseconds, as of when so much time had been paid. */
  debtMs: number;
  paidMs: number;
  /** What one request took of late, and what has been charged since the last one ended. */
  typicalMs: number;
  chargedMs: number;
  running: number;
}

/** The part of the newest request in what is typical. */
const newestPart = 0.25;

export class Pace {
  #accounts = new Map<string, Account>();
  /** Those of the time before the last generation was full. Whom nobody has charged for a whole one is forgotten. */
  #older = new Map<string, Account>();

  /** The part of the thread's time that each flow may use, since when, and how much time that has paid each flow until then. */
  #share = 1;
  #adjustedMs = 0;
  #paidMs = 0;

  /** The flow that was charged last, and the other one before it. */
  #last: string | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #before: string | undefined;
  #beforeMs = Number.NEGATIVE_INFINITY;

  /** Flows that are remembered. */
  get size(): number {
    return this.#accounts.size + this.#older.size;
  }

  /** The part of the thread's time that each flow may use, 0 to 1. */
  get share(): number {
    return this.#share;
  }

  /**
   * Moves the share to where the thread keeps time for who comes next. `utilization`: the part of the time since the last call in which the thread had
   * work, 0 to 1. Whoever uses less than the share does not notice, so it is those who use most that make room, and the work that others have
   * with what they made, of controllers and of the collector of garbage, counts too.
   */
  adjust(utilization: number, nowMs: number): void {
    const growth = paceGrowthPerSecond ** ((nowMs - this.#adjustedMs) / 1_000);
    const factor = utilization > 0 ? Math.min(paceBusy / utilization, growth) : growth;
    const share = Math.min(1, Math.max(paceShareMin, this.#share * factor));
    this.#paidMs = this.#paidUntil(nowMs);
    this.#adjustedMs = nowMs;
    this.#share = share;
  }

  /** Enters time that was spent on the flow. */
  charge(flow: string, ms: number, nowMs: number): void {
    if (ms <= 0) return;
    const account = this.#settled(flow, nowMs);
    account.debtMs = Math.min(account.debtMs + ms, paceDebtMaxMs);
    account.chargedMs += ms;
    if (flow !== this.#last) [this.#before, this.#beforeMs] = [this.#last, this.#lastMs];
    [this.#last, this.#lastMs] = [flow, nowMs];
  }

  began(flow: string, nowMs: number): void {
    this.#settled(flow, nowMs).running++;
  }

  ended(flow: string): void {
    const account = this.#find(flow);
    if (!account) return;
    account.running = Math.max(0, account.running - 1);
    account.typicalMs += (account.chargedMs - account.typicalMs) * newestPart;
    account.chargedMs = 0;
  }

  /** In how many milliseconds the flow may begin its next request. Those that run are taken to cost what is typical of the flow. */
  delayMs(flow: string, nowMs: number): number {
    if (this.#share === 1 || !this.#find(flow)) return 0;
    const { debtMs, running, typicalMs } = this.#settled(flow, nowMs);
    const owedMs = Math.min(debtMs + running * typicalMs, paceDebtMaxMs);
    return Math.max(0, (owedMs - paceAllowanceMs) / this.#share);
  }

  /** Whether any other flow has been served of late. */
  hasOthers(flow: string, nowMs: number): boolean {
    if (this.#last !== flow && nowMs - this.#lastMs < paceRecentMs) return true;
    return this.#before !== flow && nowMs - this.#beforeMs < paceRecentMs;
  }

  /** How much time has paid each flow in all. */
  #paidUntil(nowMs: number): number {
    return this.#paidMs + (nowMs - this.#adjustedMs) * this.#share;
  }

  #find(flow: string): Account | undefined {
    const account = this.#accounts.get(flow);
    if (account) return account;
    const older = this.#older.get(flow);
    if (older) this.#keep(flow, older);
    return older;
  }

  #keep(flow: string, account: Account): void {
    if (this.#accounts.size >= paceFlowsMax) {
      this.#older = this.#accounts;
      this.#accounts = new Map();
    }
    this.#accounts.set(flow, account);
  }

  #settled(flow: string, nowMs: number): Account {
    const known = this.#find(flow);
    const paidMs = this.#paidUntil(nowMs);
    if (known) {
      known.debtMs = Math.max(0, known.debtMs - (paidMs - known.paidMs));
      known.paidMs = paidMs;
      return known;
    }
    const account = { debtMs: 0, paidMs, typicalMs: 0, chargedMs: 0, running: 0 };
    this.#keep(flow, account);
    return account;
  }
}
