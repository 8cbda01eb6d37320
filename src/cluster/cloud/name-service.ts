// The name server of a VPC on this machine: what the cloud knows (private zones, instances, public zones), and the machine's name servers for
// all else.
import { readFile } from 'node:fs/promises';
import type { NameServiceStart } from '#cloud/server';
import { type Answer, type Resource, serveNames, upstreamsOf } from '#dns';
import { joinNetns } from '#host';
import type { Clock } from '#utils';

/** `mark` is shown in the command line of the helper in each namespace. */
export const nameServices =
  (mark: string, clock: Clock): NameServiceStart =>
  async ({ netns, address, resolve, forward }) => {
    const sockets = await joinNetns(netns, mark);
    try {
      const [udp, tcp] = await Promise.all([sockets.bindUdp(address, 53), sockets.listen(address, 53)]);
      const upstreams = !forward ? [] : upstreamsOf(await readFile('/etc/resolv.conf', 'utf8').catch(() => ''), [address]);
      const server = serveNames({
        sockets: { udp, tcp },
        domain: 'internal',
        upstreams,
        clock,
        resolve(name, type): Answer | undefined {
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
