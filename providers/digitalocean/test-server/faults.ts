// Failures on request, for tests.

export interface Fault {
  /** 'POST'; absent: any. */
  method?: string;
  /** Of the path behind /v2; absent: any. */
  path?: RegExp;
  status: number;
  message?: string;
  headers?: Readonly<Record<string, string>>;
  /** True: the request is carried out, and only its answer is lost to the failure. */
  afterwards?: boolean;
  /** How many requests it hits. Default 1. */
  times?: number;
}

export class Faults {
  #faults: (Fault & { left: number })[] = [];

  add(fault: Fault): void {
    this.#faults.push({ ...fault, left: fault.times ?? 1 });
  }
  clear(): void {
    this.#faults = [];
  }
  /** The fault that hits this request, if any; it is used up by it. */
  take(method: string, path: string): Fault | undefined {
    const hit = this.#faults.find(
      (fault) => fault.left > 0 && (fault.method ?? method) === method && (fault.path?.test(path) ?? true),
    );
    if (hit) hit.left -= 1;
    return hit;
  }
}
