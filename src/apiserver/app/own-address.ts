// Where this server is reached, by whom. It is made before everything else; the port is learned when the server listens, for it may be given by the system.
import { hostPort } from '../outbound/service-resolver.ts';
import { networkInterfaces } from '../platform/network.ts';
import type { KubeApiServerOptions } from './options.ts';

const isAnyAddress = (address: string): boolean => address === '0.0.0.0' || address === '::' || address === '';
export const isLoopback = (address: string): boolean =>
  address.startsWith('127.') || address === '::1' || address === 'localhost';

/** The address at which pods reach this server: the configured one, the bind address, or the first address of this machine that others can reach. */
export function advertiseAddress({ advertiseAddress: given, bindAddress }: KubeApiServerOptions): string {
  if (given !== '') return given;
  if (!isAnyAddress(bindAddress) && !isLoopback(bindAddress)) return bindAddress;
  for (const addresses of Object.values(networkInterfaces())) {
    for (const { family, internal, address } of addresses ?? []) if (family === 'IPv4' && !internal) return address;
  }
  return '127.0.0.1';
}

export class OwnAddress {
  /** The address at which pods reach this server. */
  readonly advertised: string;
  readonly #options: KubeApiServerOptions;
  #port: number;

  constructor(options: KubeApiServerOptions) {
    this.#options = options;
    this.#port = options.securePort;
    this.advertised = advertiseAddress(options);
  }
  learnPort(port: number): void {
    this.#port = port;
  }

  /** The port at which others reach this server: behind something that forwards to it, another one than it listens on. */
  get advertisedPort(): number {
    return this.#options.advertisePort || this.#port;
  }
  /** Where other servers of the cluster reach this one. */
  get ofPeers(): string {
    return hostPort(this.advertised, this.advertisedPort);
  }
  /** Where this process reaches itself. */
  get loopback(): string {
    return hostPort('127.0.0.1', this.#port);
  }
  /** What discovery names as this server's address. */
  get ofDiscovery(): string {
    return `${this.#name}:${this.#port}`;
  }
  /** Where clients find the server. */
  get ofClients(): string {
    return `${this.#name}:${this.advertisedPort}`;
  }
  get #name(): string {
    return this.#options.externalHostname || this.advertised;
  }
  /** Where programs of this machine find the server. */
  get url(): string {
    const { bindAddress } = this.#options;
    return `https://${hostPort(isAnyAddress(bindAddress) ? '127.0.0.1' : bindAddress, this.#port)}`;
  }
}
