// The way of a node to a control plane that is found by a name. A provider changes what the name means: with the mode of the endpoint, and when a zone is lost.
// Connections to an address that the name no longer means end, all others go on.
import type { Socket } from 'node:net';
import type { Clock, Rng } from '#utils';
import type { Dial } from '#wire';
import { connectTo } from './ways.ts';
import { nameLookMs } from './limits.ts';
import { addressesOf } from './name-lookup.ts';

interface Deps {
  clock: Clock;
  rng: Rng;
}

export class NamedWay {
  readonly #host: string;
  readonly #deps: Deps;
  readonly #lookup: (host: string) => Promise<string[]>;
  readonly #open = new Map<Socket, string>();
  readonly #over = new AbortController();

  constructor(host: string, deps: Deps, find: (host: string) => Promise<string[]> = (name) => addressesOf(name, deps.clock)) {
    this.#host = host;
    this.#deps = deps;
    this.#lookup = find;
    void this.#follow().catch(() => {});
  }
  /** Connects to any of the addresses: to the next one where nobody accepts. */
  readonly dial: Dial = async ({ port }, signal) => {
    const addresses = await this.#lookup(this.#host);
    const first = this.#deps.rng.int(Math.max(addresses.length, 1));
    let failure: unknown = new Error(`${this.#host} has no address`);
    for (const address of [...addresses.slice(first), ...addresses.slice(0, first)])
      try {
        const socket = await connectTo({ host: address, port }, this.#deps.clock, signal);
        this.#open.set(socket, address);
        socket.once('close', () => this.#open.delete(socket));
        return socket;
      } catch (error) {
        failure = error;
        if (signal?.aborted) break;
      }
    throw failure;
  };
  close(): void {
    this.#over.abort();
  }

  async #follow(): Promise<never> {
    for (;;) {
      await this.#deps.clock.sleep(nameLookMs, this.#over.signal);
      // A name server that does not answer says nothing about the apiservers.
      const meant: string[] = await this.#lookup(this.#host).catch(() => []);
      if (meant.length === 0) continue;
      for (const [socket, address] of this.#open) if (!meant.includes(address)) socket.destroy();
    }
  }
}
