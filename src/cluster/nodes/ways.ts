// The ways of a machine to its cluster: the endpoint by which it joined, and every apiserver that the cluster names, so that the machine outlives any one of
// them. The programs of a node share one way; it is asked for its health all the time, and left with all connections when it does not answer.
import { connect, type Socket } from 'node:net';
import { atomicWrite, readFileIfExists } from '#host';
import type { Clock, Logger } from '#utils';
import { createWireClient, type Dial, type WireClient } from '#wire';
import { waysFailuresMax, waysMs } from './limits.ts';

export interface Way {
  host: string;
  port: number;
}

const nameOf = ({ host, port }: Way): string => `${host}:${port}`;

export function wayTo(server: string): Way {
  const { hostname, port } = new URL(server);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) };
}

/** All ways to the control plane, each once and its endpoint first. */
export const waysOf = (server: string, apiservers: readonly Way[]): Way[] => [
  ...new Map([wayTo(server), ...apiservers].map((way) => [nameOf(way), way])).values(),
];

const isWay = (value: unknown): value is Way => {
  const { host, port } = (value ?? {}) as Partial<Way>;
  return typeof host === 'string' && host !== '' && Number.isInteger(port) && (port as number) > 0 && (port as number) < 65_536;
};

/** The addresses of apiservers as they were last written to a file. A file with any other content is ignored, and they are learned again. */
export async function keptWays(path: string, logger?: Logger): Promise<Way[]> {
  const text = (await readFileIfExists(path))?.toString('utf8') ?? '[]';
  try {
    const kept: unknown = JSON.parse(text);
    if (Array.isArray(kept) && kept.every(isWay)) return kept;
    throw new Error('it is no list of hosts and ports');
  } catch (error) {
    logger?.warn('the file in which the apiservers are kept is left alone', { path, err: error });
    return [];
  }
}

/** Rejects when nobody answers in time. */
export function connectTo({ host, port }: Way, clock: Clock, signal?: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (error: Error): void => {
      done();
      socket.destroy();
      reject(error);
    };
    const aborted = (): void => fail(new Error('aborted'));
    const timer = clock.setTimer(waysMs.connect, () => fail(new Error(`connect ETIMEDOUT ${host}:${port}`)));
    const done = (): void => {
      timer.cancel();
      socket.removeListener('error', fail);
      socket.on('error', () => {});
      signal?.removeEventListener('abort', aborted);
    };
    socket.once('error', fail);
    signal?.addEventListener('abort', aborted, { once: true });
    socket.once('connect', () => {
      done();
      resolve(socket.setNoDelay(true).setKeepAlive(true, waysMs.keepAlive));
    });
  });
}

/** Takes the first of some ways by which somebody accepts connections. */
export const dialFirst =
  (ways: () => Promise<readonly Way[]>, clock: Clock): Dial =>
  async (_, signal) => {
    let failure: unknown = new Error('there is no way to the cluster');
    for (const way of await ways())
      try {
        return await connectTo(way, clock, signal);
      } catch (error) {
        failure = error;
      }
    throw failure;
  };

/** Whether somebody listens at one of them. */
export const anyAccepts = (ways: readonly Way[], clock: Clock): Promise<boolean> =>
  Promise.any(ways.map((way) => connectTo(way, clock).then((socket) => socket.destroy()))).then(
    () => true,
    () => false,
  );

export interface WaysOptions {
  /** `https://host:port`: its name is that of which every apiserver has a certificate. */
  server: string;
  ca: string;
  /** Where the apiservers are kept for the next start. */
  file: string;
}

export class Ways {
  readonly #options: WaysOptions;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #open = new Map<string, Set<Socket>>();
  readonly #asking = new Map<string, WireClient>();
  readonly #over = new AbortController();
  #known: Way[];
  #current: Way;

  private constructor(options: WaysOptions, apiservers: readonly Way[], { clock, logger }: { clock: Clock; logger: Logger }) {
    this.#options = options;
    this.#clock = clock;
    this.#logger = logger;
    this.#known = waysOf(options.server, apiservers);
    this.#current = wayTo(options.server);
  }
  static async open(options: WaysOptions, deps: { clock: Clock; logger: Logger }): Promise<Ways> {
    const ways = new Ways(options, await keptWays(options.file, deps.logger), deps);
    void ways.#watch().catch(() => {});
    return ways;
  }
  get current(): Way {
    return this.#current;
  }
  /** Connects by the address that all connections share; when nobody accepts there, by another one, which is shared from then on. */
  readonly dial: Dial = async (_, signal) => {
    let failure: unknown;
    for (const way of [this.#current, ...this.#others()])
      try {
        const socket = await connectTo(way, this.#clock, signal);
        this.#track(way, socket);
        this.#take(way);
        return socket;
      } catch (error) {
        failure = error;
        if (signal?.aborted) break;
      }
    throw failure;
  };
  /** The cluster says which apiservers it has. */
  async learn(apiservers: readonly Way[]): Promise<void> {
    if (apiservers.length === 0) return;
    const before = JSON.stringify(this.#known);
    this.#known = waysOf(this.#options.server, apiservers);
    if (JSON.stringify(this.#known) !== before)
      await atomicWrite(this.#options.file, JSON.stringify(apiservers), { mode: 0o600 });
  }
  close(): void {
    this.#over.abort();
    for (const client of this.#asking.values()) client.close();
  }

  #others(): Way[] {
    return this.#known.filter((way) => nameOf(way) !== nameOf(this.#current));
  }
  #track(way: Way, socket: Socket): void {
    const open = this.#open.get(nameOf(way)) ?? new Set();
    this.#open.set(nameOf(way), open.add(socket));
    socket.once('close', () => open.delete(socket));
  }
  /** Who has connections elsewhere begins again. */
  #take(way: Way): void {
    const before = nameOf(this.#current);
    if (before === nameOf(way)) return;
    this.#logger.warn('the apiserver does not answer: this machine asks another one', { before, now: nameOf(way) });
    this.#current = way;
    for (const socket of this.#open.get(before) ?? []) socket.destroy();
  }
  async #watch(): Promise<never> {
    for (let failures = 0; ; ) {
      await this.#clock.sleep(waysMs.look, this.#over.signal);
      const others = this.#others();
      failures = others.length === 0 || (await this.#answers(this.#current)) ? 0 : failures + 1;
      if (failures < waysFailuresMax) continue;
      const answers = await Promise.all(others.map((way) => this.#answers(way)));
      const better = others.find((_, index) => answers[index]);
      if (better) this.#take(better);
    }
  }
  async #answers(way: Way): Promise<boolean> {
    const client = this.#asking.get(nameOf(way)) ?? this.#asker(way);
    this.#asking.set(nameOf(way), client);
    try {
      const response = await client.request({ path: '/readyz', signal: AbortSignal.timeout(waysMs.answer) });
      await response.bytes();
      // One that refuses to say is there.
      return response.status < 500;
    } catch {
      client.close();
      this.#asking.delete(nameOf(way));
      return false;
    }
  }
  #asker(way: Way): WireClient {
    const { server, ca } = this.#options;
    return createWireClient({ baseUrl: server, tls: { ca }, dial: (_, signal) => connectTo(way, this.#clock, signal) });
  }
}
