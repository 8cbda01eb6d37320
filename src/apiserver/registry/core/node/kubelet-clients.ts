// Connections to kubelets (pkg/kubelet/client): which address and port of a node, and a kept client for each.
import type { Node } from '#api/core/v1';
import { notFound, plainError } from '#apimachinery/errors';
import { type ClientTls, createWireClient, type Dial, type WireClient } from '#wire';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';

export interface KubeletConnectionOptions {
  /** `--kubelet-preferred-address-types`. */
  preferredAddressTypes?: readonly string[];
  /** `--kubelet-client-certificate`, `--kubelet-client-key`, `--kubelet-certificate-authority` (without it no check). Asked for every connection. */
  tls(): ClientTls;
  /** Opens connections to kubelets and pods, e.g. inside the nodes' network; default: from this process. */
  dialKubelet?: Dial;
}

export const defaultAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'];
const defaultPort = 10250;

export interface KubeletAddress {
  host: string;
  port: number;
}

export const hostPort = (host: string, port: number): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`);

/** Where the node's kubelet answers. Throws a plain 500 when no address is of a preferred type. */
export function kubeletAddress(node: Node, preferred: readonly string[]): KubeletAddress {
  const addresses = node.status?.addresses ?? [];
  for (const type of preferred) {
    const found = addresses.find((address) => address.type === type);
    if (!found) continue;
    const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
    return { host: found.address, port: port > 0 ? port : defaultPort };
  }
  const known = addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw plainError(`no preferred addresses found; known addresses: [${known}]`);
}

/** The port of a service that names none. */
export const defaultPortOf = (scheme: string): number => (scheme === 'https' ? 443 : 80);

export interface KubeletClients {
  /** Throws 404 for a node that is not there. */
  of(nodeName: string): { client: WireClient; address: KubeletAddress; hostPort: string };
  /** A client for another address, for proxying; close it when done. */
  to(scheme: string, host: string, port: number | undefined): WireClient;
  close(): void;
}

/** Clients by address; those of a node that goes are closed. */
export function createKubeletClients(cluster: ReadOnlyCluster, options: KubeletConnectionOptions): KubeletClients {
  const { preferredAddressTypes = defaultAddressTypes, tls, dialKubelet } = options;
  const clients = new Map<string, WireClient>();
  const connect = (address: string): WireClient =>
    createWireClient({ baseUrl: `https://${address}`, tls, ...(dialKubelet && { dial: dialKubelet }) });
  const forget = (node: Node): void => {
    for (const { address } of node.status?.addresses ?? []) {
      for (const [key, client] of clients) {
        if (!key.startsWith(`${address.includes(':') ? `[${address}]` : address}:`)) continue;
        client.closeIdle();
        clients.delete(key);
      }
    }
  };
  const stop = cluster.onChange<Node>('', 'nodes', (now, before) => {
    if (!now && before) forget(before);
  });
  return {
    of(nodeName) {
      const node = cluster.get<Node>('', 'nodes', '', nodeName);
      if (!node) throw notFound({ group: '', resource: 'nodes' }, nodeName);
      const address = kubeletAddress(node, preferredAddressTypes);
      const key = hostPort(address.host, address.port);
      const client = clients.get(key) ?? connect(key);
      clients.set(key, client);
      return { client, address, hostPort: key };
    },
    to(scheme, host, port) {
      const secure = scheme === 'https';
      return createWireClient({
        baseUrl: `${secure ? 'https' : 'http'}://${hostPort(host, port ?? defaultPortOf(scheme))}`,
        // Pods and services have certificates of their own making.
        tls: { insecureSkipVerify: true },
        ...(dialKubelet && { dial: dialKubelet }),
      });
    },
    close() {
      stop();
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}
