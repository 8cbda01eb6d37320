// How many seats a level is asked for over a time: mean, deviation and peak, weighted by how long each number stood
// (k8s.io/apiserver/pkg/util/flowcontrol/fairqueuing, Integrator). Pure.
import { demandSmoothing } from './limits.ts';

export interface DemandStats {
  average: number;
  deviation: number;
  highWatermark: number;
  /** Falls slowly, so that seats are not taken back from a level that asks in bursts. */
  smoothed: number;
}

export class Demand {
  #value = 0;
  #sinceMs: number;
  #startMs: number;
  #sum = 0;
  #squares = 0;
  #max = 0;
  #stats: DemandStats = { average: 0, deviation: 0, highWatermark: 0, smoothed: 0 };

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
    this.#startMs = nowMs;
  }

  get value(): number {
    return this.#value;
  }

  get stats(): DemandStats {
    return this.#stats;
  }

  add(by: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#value += by;
    if (this.#value > this.#max) this.#max = this.#value;
  }

  /** Ends a period and says what it was like. */
  close(nowMs: number): DemandStats {
    this.#advance(nowMs);
    const took = nowMs - this.#startMs;
    const highWatermark = Math.round(this.#max);
    this.#max = this.#value;
    if (took > 0) {
      const average = this.#sum / took;
      const deviation = Math.sqrt(Math.max(0, this.#squares / took - average * average));
      const envelope = average + deviation;
      const smoothed = Math.max(envelope, demandSmoothing * this.#stats.smoothed + (1 - demandSmoothing) * envelope);
      this.#stats = { average, deviation, highWatermark, smoothed };
      [this.#sum, this.#squares, this.#startMs] = [0, 0, nowMs];
    } else this.#stats = { ...this.#stats, highWatermark };
    return this.#stats;
  }

  #advance(nowMs: number): void {
    const took = nowMs - this.#sinceMs;
    if (took <= 0) return;
    this.#sum += this.#value * took;
    this.#squares += this.#value * this.#value * took;
    this.#sinceMs = nowMs;
  }
}
