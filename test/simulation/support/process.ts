// A process of a component, as far as others notice it: its calls to the apiserver and to the cloud. It can be killed, also between two steps of
// a change in the cloud, and cut off from the apiserver while the cloud still hears it.
import type { KubeObject } from '#apimachinery/meta';
import type { ApiCall, Transport, WatchStream } from '#apimachinery/transport';
import type { CloudProvider } from '#cloud-provider';
import type { VirtualClock } from '#testing';

/** Told what a process does. */
export interface ProcessObserver {
  /** A request has reached the apiserver. */
  onApiCall(process: SimulatedProcess, call: ApiCall): void;
  /** The apiserver has carried it out. */
  onApiAnswer(process: SimulatedProcess, call: ApiCall, answer: unknown): void;
  onCloudCall(process: SimulatedProcess, operation: string, args: readonly unknown[]): void;
  onCloudAnswer(process: SimulatedProcess, operation: string, args: readonly unknown[], error: unknown): void;
}

/** Cloud calls that change something. */
export const isCloudChange = (operation: string): boolean => /^(ensure|update|create|delete)/.test(operation);

const stopMaxMs = 60_000;

/** Waits for programs that were told to stop; what they still do may take time, but not long. */
export async function stopAll(clock: VirtualClock, stopping: readonly Promise<void>[]): Promise<void> {
  let stopped = false;
  const all = Promise.all(stopping).then(() => {
    stopped = true;
  });
  await clock.until(() => stopped, stopMaxMs);
  await all;
}

const dead = (): Error => new Error('the process is dead');
type CloudCall = (...args: unknown[]) => unknown;

/** The methods of a part, also of one that is the instance of a class. */
function methodsOf(part: Readonly<Record<string, CloudCall>>): [string, CloudCall][] {
  const names = new Set<string>();
  for (let at: object | null = part; at && at !== Object.prototype; at = Object.getPrototypeOf(at) as object | null)
    for (const name of Object.getOwnPropertyNames(at)) if (name !== 'constructor') names.add(name);
  return [...names].flatMap((name): [string, CloudCall][] => {
    const call = part[name];
    return typeof call === 'function' ? [[name, call.bind(part)]] : [];
  });
}

export class SimulatedProcess {
  readonly identity: string;
  /** Cloud changes under way. */
  changing = 0;
  readonly #observer: ProcessObserver;
  readonly #waiting = new Set<() => void>();
  readonly #streams = new Set<() => void>();
  #alive = true;
  #reachable = true;

  constructor(identity: string, observer: ProcessObserver) {
    this.identity = identity;
    this.#observer = observer;
  }
  get alive(): boolean {
    return this.#alive;
  }
  get reachable(): boolean {
    return this.#reachable;
  }
  /** From now on nothing of it reaches anybody; what it waited for ends. */
  kill(): void {
    this.#alive = false;
    this.heal();
  }
  /** Cuts it off from the apiserver: requests get no answer, watches are silent. */
  partition(): void {
    this.#reachable = false;
  }
  heal(): void {
    this.#reachable = true;
    for (const go of [...this.#waiting, ...this.#streams]) go();
    this.#waiting.clear();
    this.#streams.clear();
  }
  /** The way to the apiserver as the process has it. `inner` is the server's side of it. */
  transport(inner: Transport, network: (transport: Transport) => Transport): Transport {
    const server: Transport = {
      ...inner,
      call: async <T>(call: ApiCall, signal?: AbortSignal): Promise<T> => {
        this.#observer.onApiCall(this, call);
        const answer = await inner.call<T>(call, signal);
        this.#observer.onApiAnswer(this, call, answer);
        return answer;
      },
      watch: (call, signal) => inner.watch(call, signal),
      raw: (...request) => inner.raw(...request),
      close: () => inner.close(),
    };
    const far = network(server);
    return {
      call: async (call, signal) => {
        await this.#reach();
        return far.call(call, signal);
      },
      watch: async <T extends KubeObject>(call: Parameters<Transport['watch']>[0], signal?: AbortSignal) => {
        await this.#reach();
        return this.#silenced(await far.watch<T>(call, signal));
      },
      raw: async (...request) => {
        await this.#reach();
        return far.raw(...request);
      },
      close: () => far.close(),
    };
  }
  /** The cloud as the process has it. */
  cloud(provider: CloudProvider): CloudProvider {
    const parts = Object.entries(provider).map(([part, value]): [string, unknown] => [
      part,
      typeof value === 'object' && !Array.isArray(value) ? this.#cloudPart(value as Record<string, CloudCall>) : value,
    ]);
    return Object.fromEntries(parts) as unknown as CloudProvider;
  }

  #cloudPart(part: Readonly<Record<string, CloudCall>>): Record<string, CloudCall> {
    return Object.fromEntries(
      methodsOf(part).map(([operation, call]) => [
        operation,
        operation === 'getLoadBalancerName' ? call : (...args: unknown[]) => this.#callCloud(operation, call, args),
      ]),
    );
  }
  async #callCloud(operation: string, call: CloudCall, args: unknown[]): Promise<unknown> {
    if (!this.#alive) throw dead();
    const change = isCloudChange(operation) ? 1 : 0;
    this.changing += change;
    this.#observer.onCloudCall(this, operation, args);
    let failure: unknown;
    try {
      return await call(...args);
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      this.changing -= change;
      this.#observer.onCloudAnswer(this, operation, args, failure);
    }
  }
  async #reach(): Promise<void> {
    if (!this.#reachable) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
      throw new Error('connection timed out');
    }
    if (!this.#alive) throw dead();
  }
  /** While cut off, events are lost; the watch breaks when the network is back. */
  #silenced<T extends KubeObject>(stream: WatchStream<T>): WatchStream<T> {
    return {
      stop: () => stream.stop(),
      subscribe: (handler, end) => {
        let over = false;
        const finish = (error?: Error): void => {
          if (over) return;
          over = true;
          this.#streams.delete(broken);
          end(error);
        };
        const broken = (): void => {
          finish(new Error('connection timed out'));
          stream.stop();
        };
        stream.subscribe((event) => {
          if (over || !this.#alive) return;
          if (this.#reachable) handler(event);
          else this.#streams.add(broken);
        }, finish);
      },
    };
  }
}
