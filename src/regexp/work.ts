// What a run has left to spend, so that one pattern, rule or object cannot hold the process.
import { workUnitsMax } from './limits.ts';

/** The work would take longer than its caller allows. */
export class WorkError extends Error {}

/** A purse of units, of about 10 ns each, that several runs may share. */
export class Work {
  left: number;

  constructor(units = workUnitsMax) {
    this.left = units;
  }

  /** Throws `WorkError` once nothing is left. */
  spend(units: number): void {
    this.left -= units;
    if (this.left < 0) throw new WorkError('the pattern takes more work than one request may cause');
  }
}
