// The name server of a VPC on this machine: what the cloud knows (private zones, instances, public zones), and the machine's name servers for
// all else. Beside it the cloud's API answers, so that programs on instances and in pods reach it by its name, as they do with vendors.
import type { Server } from 'node:net';
import { readFile } from 'node:fs/promises';
import type { NameServiceStart } from '#cloud/server';
import { type Answer, parseUpstream, type Resource, serveNames, type Upstream, upstreamsOf } from '#dns';
import { joinNetns } from '#host';
import type { Clock } from '#utils';

const apiPort = 443;
const apiTtlSeconds = 60;

export interface NameServicesOptions {
  /** Shown in the command line of the helper in each namespace. */
  mark: string;
  clock: Clock;
  /** The name servers for all other names, as this machine reaches them. Without them the machine's own are used. */
  dnsUpstreams?: readonly string[];
  /** Name of the cloud's API inside its networks, and what serves it on a listening socket. */
  api?: { name: string; serve(handle: Server): Promise<unknown> };
}

const upstreamsFor = async (given: readonly string[], address: string): Promise<Upstream[]> =>
  given.length > 0
    ? given.map(parseUpstream)
    : upstreamsOf(await readFile('/etc/resolv.conf', 'utf8').catch(() => ''), [address]);

export const nameServices =
  ({ mark, clock, dnsUpstreams = [], api }: NameServicesOptions): NameServiceStart =>
  async ({ netns, address, resolve, forward }) => {
    const sockets = await joinNetns(netns, mark);
    try {
      const [udp, tcp] = await Promise.all([sockets.bindUdp(address, 53), sockets.listen(address, 53)]);
      // The world outside has no business with the API.
      const here = forward ? api : undefined;
      if (here) await here.serve(await sockets.listen(address, apiPort));
      const upstreams = forward ? await upstreamsFor(dnsUpstreams, address) : [];
      const own: Answer = {
        rcode: 'NOERROR',
        answers: here ? [{ type: 'A', name: here.name, ttl: apiTtlSeconds, data: address }] : [],
        additionals: [],
      };
      const server = serveNames({
        sockets: { udp, tcp },
        domain: 'internal',
        upstreams,
        clock,
        resolve(name, type): Answer | undefined {
          if (name.toLowerCase() === here?.name) return type === 'A' ? own : { ...own, answers: [] };
          const found = resolve({ name, type });
          if (found === 'forward') return undefined;
          return { rcode: found.rcode, zone: found.zone, answers: found.answers as Resource[], additionals: [] };
        },
      });
      return {
        close() {
          server.close();
          sockets.close();
        },
      };
    } catch (error) {
      sockets.close();
      throw error;
    }
  };
