// What those who are refused are told to wait: longer while many are, and shorter again (k8s.io/apiserver/pkg/util/flowcontrol,
// DroppedRequestsTracker). Pure.
import { retryAfterMaxSeconds } from './limits.ts';

export class RetryAfter {
  #second = 0;
  #count = 0;
  #raisedAt = 0;
  #history: { second: number; count: number }[] = [];
  seconds = 1;

  refused(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) {
      this.#count++;
      return;
    }
    const oldest = second - Math.min(2 * this.seconds, retryAfterMaxSeconds);
    this.#history = [...this.#history, { second: this.#second, count: this.#count }].filter((one) => one.second >= oldest);
    [this.#second, this.#count] = [second, 1];
    this.#adjust(second);
  }

  #adjust(second: number): void {
    const recent = this.#history.filter((one) => second - one.second <= this.seconds).reduce((sum, { count }) => sum + count, 0);
    if (second - this.#raisedAt >= this.seconds && recent >= 3 * this.seconds) {
      this.seconds = Math.min(this.seconds * 2, retryAfterMaxSeconds);
      this.#raisedAt = second;
    } else if (recent < this.seconds && this.seconds > 1) this.seconds--;
  }
}
