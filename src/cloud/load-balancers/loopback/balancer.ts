// One load balancer of the twin: a server on a free port of 127.0.0.1 for each TCP listener.
import { BlockList, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type { Clock } from '#utils';
import type { Listener, LoadBalancer } from '../../model/index.ts';
import { limits } from '../limits.ts';
import { createPicker, type Picker } from './pick.ts';
import { proxyHeader } from './proxy-header.ts';
import { relay } from './relay.ts';

/**
 * Connects to a port of an instance, or rejects. `address`: of `network` load balancers, the address that the connection is to; the instance is
 * to take it as its own.
 */
export type InstanceDial = (instanceId: string, port: number, address?: string) => Promise<Duplex>;

export interface LoopbackState {
  /** Ports of the machine by `protocol/port` of the listener. */
  ports: Record<string, number>;
  /** What is not served, and why. */
  reason: string | undefined;
}

export interface LoopbackBalancer {
  /** Follows `balancer`; `healthy`: instances that get connections. Gives the ports and why it fails, if it does. */
  apply(balancer: LoadBalancer, healthy: readonly string[]): Promise<LoopbackState>;
  close(): void;
}

const host = '127.0.0.1';
const keyOf = ({ protocol, port }: Listener): string => `${protocol}/${port}`;
export const noUdp = 'UDP listeners need real networks: load balancers on loopback serve TCP only';

function allowedBy(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', length = ''] = range.split('/');
    list.addSubnet(network, Number(length), 'ipv4');
  }
  return list;
}

async function listen(server: Server, wanted: number | undefined): Promise<number> {
  for (const port of wanted === undefined ? [0] : [wanted, 0]) {
    try {
      server.listen({ host, port });
      await once(server, 'listening');
      const address = server.address();
      return typeof address === 'object' && address ? address.port : 0;
    } catch (error) {
      if (port === 0) throw error;
    }
  }
  return 0;
}

interface Open {
  listener: Listener;
  server: Server;
  port: number;
}

export const createLoopbackBalancer = (dial: InstanceDial, clock: Clock): LoopbackBalancer => new Balancer(dial, clock);

class Balancer implements LoopbackBalancer {
  readonly #dial: InstanceDial;
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();
  readonly #connections = new Set<Socket>();
  #current: LoadBalancer | undefined;
  #healthy: readonly string[] = [];
  #allowed = new BlockList();
  #picker: { picker: Picker; seconds: number | undefined } | undefined;

  constructor(dial: InstanceDial, clock: Clock) {
    this.#dial = dial;
    this.#clock = clock;
  }

  async apply(balancer: LoadBalancer, targets: readonly string[]): Promise<LoopbackState> {
    this.#current = balancer;
    this.#healthy = targets;
    this.#allowed = allowedBy(balancer.sourceRanges);
    this.#setAffinity(balancer.affinityTimeoutSeconds);
    const wanted = new Map(balancer.listeners.filter(({ protocol }) => protocol === 'tcp').map((one) => [keyOf(one), one]));
    for (const [key, { server }] of this.#open) {
      if (wanted.has(key)) continue;
      server.close();
      this.#open.delete(key);
    }
    for (const [key, listener] of wanted) {
      const known = this.#open.get(key);
      if (known) known.listener = listener;
      else await this.#listen(listener, balancer.loopbackPorts?.[key]);
    }
    return {
      ports: Object.fromEntries([...this.#open].map(([key, { port }]) => [key, port])),
      reason: balancer.listeners.some(({ protocol }) => protocol === 'udp') ? noUdp : undefined,
    };
  }
  close(): void {
    for (const { server } of this.#open.values()) server.close();
    this.#open.clear();
    for (const socket of this.#connections) socket.destroy();
  }

  #setAffinity(seconds: number | undefined): void {
    if (this.#picker && this.#picker.seconds === seconds) return;
    const affinityMs = seconds === undefined ? undefined : seconds * 1000;
    this.#picker = { seconds, picker: createPicker(affinityMs, limits.affinityClientsMax) };
  }
  async #listen(listener: Listener, wanted: number | undefined): Promise<void> {
    const key = keyOf(listener);
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) =>
      this.#accept(client, this.#open.get(key)?.listener ?? listener),
    );
    const port = await listen(server, wanted);
    server.on('error', () => {});
    server.unref();
    this.#open.set(key, { listener, server, port });
  }
  #accept(client: Socket, listener: Listener): void {
    this.#connections.add(client);
    client.once('close', () => this.#connections.delete(client));
    client.on('error', () => {});
    this.#serve(client, listener).catch(() => client.resetAndDestroy());
  }
  async #serve(client: Socket, listener: Listener): Promise<void> {
    const balancer = this.#current;
    const { remoteAddress = '', remotePort = 0 } = client;
    const isFull = this.#connections.size > limits.loopbackConnectionsMax;
    const isWelcome = balancer && !isFull && this.#allowed.check(remoteAddress, 'ipv4');
    const target = isWelcome ? this.#picker?.picker.pick(remoteAddress, this.#healthy, this.#clock.monotonic()) : undefined;
    if (!balancer || target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const { kind, address, proxyProtocol } = balancer;
    const network = kind === 'network';
    const port = network ? listener.port : (listener.targetPort ?? listener.port);
    const backend = await dialed(this.#dial(target, port, network ? address : undefined), this.#clock);
    if (client.destroyed) {
      backend.destroy();
      return;
    }
    if (proxyProtocol !== 'none' && !network)
      backend.write(
        proxyHeader(proxyProtocol, {
          sourceAddress: remoteAddress,
          sourcePort: remotePort,
          destinationAddress: address,
          destinationPort: listener.port,
        }),
      );
    await relay(client, backend, this.#clock);
  }
}

/** A dial that takes too long is given up; what it still brings is closed. */
function dialed(dialing: Promise<Duplex>, clock: Clock): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = clock.setTimer(limits.loopbackDialTimeoutMs, () => {
      late = true;
      reject(new Error('the target does not answer'));
    });
    dialing.then(
      (stream) => {
        timer.cancel();
        stream.on('error', () => {});
        if (late) stream.destroy();
        else resolve(stream);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error);
      },
    );
  });
}
