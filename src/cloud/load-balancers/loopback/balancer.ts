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

export interface LoopbackBalancer {
  /** Follows `balancer`; `healthy`: instances that get connections. Gives the ports and why it fails, if it does. */
  apply(
    balancer: LoadBalancer,
    healthy: readonly string[],
  ): Promise<{ ports: Record<string, number>; reason: string | undefined }>;
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

export function createLoopbackBalancer(dial: InstanceDial, clock: Clock): LoopbackBalancer {
  const open = new Map<string, Open>();
  const connections = new Set<Socket>();
  let current: LoadBalancer | undefined;
  let healthy: readonly string[] = [];
  let allowed = new BlockList();
  let picker: { picker: Picker; seconds: number | undefined } | undefined;

  const serve = async (client: Socket, listener: Listener): Promise<void> => {
    const balancer = current;
    const { remoteAddress = '', remotePort = 0 } = client;
    if (!balancer || connections.size > limits.loopbackConnectionsMax || !allowed.check(remoteAddress, 'ipv4')) {
      client.resetAndDestroy();
      return;
    }
    const { kind, address, proxyProtocol } = balancer;
    const target = picker?.picker.pick(remoteAddress, healthy, clock.monotonic());
    if (target === undefined) {
      client.resetAndDestroy();
      return;
    }
    const network = kind === 'network';
    const backend = await dialed(
      dial(target, network ? listener.port : (listener.targetPort ?? listener.port), network ? address : undefined),
      clock,
    );
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
    await relay(client, backend, clock);
  };

  const accept = (client: Socket, listener: Listener): void => {
    connections.add(client);
    client.once('close', () => connections.delete(client));
    client.on('error', () => {});
    serve(client, listener).catch(() => client.resetAndDestroy());
  };

  const start = async (listener: Listener, wanted: number | undefined): Promise<void> => {
    const key = keyOf(listener);
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) =>
      accept(client, open.get(key)?.listener ?? listener),
    );
    const port = await listen(server, wanted);
    server.on('error', () => {});
    server.unref();
    open.set(key, { listener, server, port });
  };

  return {
    async apply(balancer, targets) {
      current = balancer;
      healthy = targets;
      allowed = allowedBy(balancer.sourceRanges);
      const seconds = balancer.affinityTimeoutSeconds;
      if (!picker || picker.seconds !== seconds)
        picker = { seconds, picker: createPicker(seconds === undefined ? undefined : seconds * 1000, limits.affinityClientsMax) };
      const wanted = new Map(balancer.listeners.filter(({ protocol }) => protocol === 'tcp').map((one) => [keyOf(one), one]));
      for (const [key, { server }] of open) {
        if (wanted.has(key)) continue;
        server.close();
        open.delete(key);
      }
      for (const [key, listener] of wanted) {
        const known = open.get(key);
        if (known) known.listener = listener;
        else await start(listener, balancer.loopbackPorts?.[key]);
      }
      return {
        ports: Object.fromEntries([...open].map(([key, { port }]) => [key, port])),
        reason: balancer.listeners.some(({ protocol }) => protocol === 'udp') ? noUdp : undefined,
      };
    },
    close() {
      for (const { server } of open.values()) server.close();
      open.clear();
      for (const socket of connections) socket.destroy();
    },
  };
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
