// Time as an argument (design: "Time: Clock and Rng are arguments everywhere").

/** A pending timer. `cancel` after it fired, or twice, does nothing. */
export interface Timer {
  cancel(): void;
}

/** Reads and schedules time. The real one is made in `cmd` by `#host`, a virtual one by `#testing`. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may step when the machine's clock is set. */
  now(): number;
  /** Milliseconds from an arbitrary origin; never goes back. For measuring durations. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs` (values below 0 count as 0). An unref'd timer never keeps the process alive. */
  setTimer(delayMs: number, callback: () => void): Timer;
  /** Resolves after `delayMs`; rejects with `signal.reason` when aborted before. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}
