// The node's own answer to the names of the cluster: a name server at the node's address, for the pods of this node first. It goes on with what it
// knew last while the apiserver is away.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { createInformerFactory, type KubeClient } from '#client';
import { runDns, upstreamsOf } from '#dns';
import type { Clock, Logger, Rng } from '#utils';

const port = 53;

export interface NameServerOptions {
  /** The node's address. */
  address: string;
  /** `cluster.local`. */
  domain: string;
  client: KubeClient;
  /** Absent: it serves everybody who reaches it. */
  serves?: (address: string) => boolean;
}

async function bindUdp(address: string): Promise<Socket> {
  const socket = createSocket('udp4');
  socket.bind(port, address);
  await once(socket, 'listening');
  return socket;
}

async function listenTcp(address: string): Promise<Server> {
  const server = createServer();
  server.listen(port, address);
  await once(server, 'listening');
  return server;
}

/** Starts it. Rejects when the address or port cannot be had. Gives what ends it. */
export async function startNameServer(
  { address, domain, client, serves }: NameServerOptions,
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<() => void> {
  const resolvConf = await readFile('/etc/resolv.conf', 'utf8').catch(() => '');
  const udp = await bindUdp(address);
  const tcp = await listenTcp(address).catch((error: unknown) => {
    // The next try must find the port free.
    udp.close();
    throw error;
  });
  const informers = createInformerFactory({ ...deps, client });
  const dns = runDns({
    sockets: { udp, tcp },
    informers,
    clock: deps.clock,
    domain,
    // Names outside the cluster are the network's business.
    upstreams: upstreamsOf(resolvConf, [address]),
    ...(serves && { serves }),
  });
  informers.start();
  return () => {
    informers.stop();
    dns.close();
  };
}
