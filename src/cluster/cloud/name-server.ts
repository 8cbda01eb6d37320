// Cluster DNS, served by this process inside the nodes' network.
import { readFile } from 'node:fs/promises';
import { createInformerFactory } from '#client';
import { parseUpstream, runDns, upstreamsOf } from '#dns';
import type { NetnsSockets } from '#host';
import type { Clock, Logger, Rng } from '#utils';
import type { ControlPlane } from '../control-plane.ts';
import { grantDns, publishDns } from '../dns-addon.ts';
import { identities } from '../identities.ts';
import { clusterNetworks } from '../settings.ts';

export interface NameServerOptions {
  plane: ControlPlane;
  /** Sockets in the namespace that has `address`. */
  sockets: NetnsSockets;
  address: string;
  /** For names outside the cluster; empty: the machine's. */
  upstreams: readonly string[];
}

/** Starts it and publishes it as the Service `kube-dns`. Gives what ends it. */
export async function startNameServer(
  { plane, sockets, address, upstreams }: NameServerOptions,
  deps: { clock: Clock; rng: Rng; logger: Logger },
): Promise<() => void> {
  const admin = plane.client(identities.admin, 'sagong');
  await grantDns(admin);
  const informers = createInformerFactory({ ...deps, client: plane.client(identities.dns, 'coredns') });
  const [udp, tcp] = await Promise.all([sockets.bindUdp(address, 53), sockets.listen(address, 53)]);
  const dns = runDns({
    sockets: { udp, tcp },
    informers,
    clock: deps.clock,
    domain: clusterNetworks.domain,
    upstreams:
      upstreams.length > 0
        ? upstreams.map(parseUpstream)
        : upstreamsOf(await readFile('/etc/resolv.conf', 'utf8').catch(() => ''), [address]),
  });
  informers.start();
  await publishDns(admin, address);
  return () => {
    informers.stop();
    dns.close();
  };
}
