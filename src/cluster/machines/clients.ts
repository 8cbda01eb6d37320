// Who the programs of a joined machine are: the kubelet comes by TLS bootstrap, the others by certificates that the kubelet asks for in their names.
// All of them are renewed while they are in use.
import {
  CertificateManager,
  type ClientConfig,
  createClient,
  createRestTransport,
  type KubeClient,
  readCurrent,
  type RestTransport,
} from '#client';
import { userAgent } from '#component-base';
import { type KubeletHandle, openIdentity, renewServing } from '#kubelet';
import { createCertificateAuthority, issueCertificate } from '#pki';
import type { Clock, Logger, Rng } from '#utils';
import { type Identity, identities } from '../identities.ts';
import type { NodeAgentConfig } from '../node-agent-config.ts';
import type { NodeClients } from '../nodes/clients.ts';

interface Deps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

const signerName = 'kubernetes.io/kube-apiserver-client';
const usages = ['digital signature', 'client auth'];

/** A program beside the kubelet, and its open connections. */
class Beside {
  readonly #transports = new Set<RestTransport>();
  readonly #manager: CertificateManager;
  readonly #config: ClientConfig;
  readonly #clock: Clock;
  readonly #name: string;

  constructor(name: string, identity: Identity, dir: string, config: ClientConfig, asker: KubeClient, deps: Deps) {
    this.#name = name;
    this.#config = config;
    this.#clock = deps.clock;
    const organizations = identity.groups.filter((group) => group !== 'system:authenticated');
    this.#manager = new CertificateManager(
      {
        ...{ dir, name, signerName, usages },
        subject: () => ({ commonName: identity.name, organizations }),
        client: () => asker,
        onChange: () => {
          for (const transport of this.#transports) transport.use(this.#current());
        },
      },
      deps,
    );
  }
  start(): Promise<void> {
    return this.#manager.start();
  }
  client(): KubeClient {
    const transport = createRestTransport({ config: this.#current(), clock: this.#clock, userAgent: userAgent(this.#name) });
    this.#transports.add(transport);
    const client = createClient(transport);
    return {
      ...client,
      close: () => {
        this.#transports.delete(transport);
        client.close();
      },
    };
  }
  close(): void {
    this.#manager.close();
  }

  #current(): ClientConfig {
    const { server, ca } = this.#config;
    const pair = this.#manager.current;
    return { server, ...(ca && { ca }), ...(pair && { certificate: pair.cert, key: pair.key }) };
  }
}

/** Resolves when every program has its certificate. */
export async function machineClients(config: NodeAgentConfig, server: ClientConfig, deps: Deps): Promise<NodeClients> {
  const { nodeName, nodeIp, kubeletKubeconfig: kubeconfig, machine } = config;
  const { bootstrapKubeconfig = '', certificates: certDir = '' } = machine ?? {};
  const identity = await openIdentity({ nodeName, kubeconfig, bootstrapKubeconfig, certDir, rotate: true }, deps);
  const beside = {
    'kube-proxy': new Beside('kube-proxy', identities.kubeProxy, certDir, server, identity.client, deps),
    coredns: new Beside('coredns', identities.dns, certDir, server, identity.client, deps),
    'kube-network-policy': new Beside('kube-network-policy', identities.networkPolicy, certDir, server, identity.client, deps),
  };
  await Promise.all(Object.values(beside).map((one) => one.start()));
  return {
    // The kubelet's connections are shared by its lives: its certificate is renewed whether or not it runs.
    client: (component) => (component === 'kubelet' ? { ...identity.client, close: () => {} } : beside[component].client()),
    serving: async () => (await readCurrent(certDir, 'kubelet-server')) ?? temporary(nodeName, nodeIp),
    serves: ({ kubelet, server: wire }: KubeletHandle, tls) => {
      if (!wire) return { close: () => {} };
      const { client } = identity;
      const addresses = (): readonly string[] => kubelet.parts.state.hostIPs();
      return renewServing({ nodeName, hostname: nodeName, certDir, addresses, client, server: wire, tls }, deps);
    },
    close() {
      for (const one of Object.values(beside)) one.close();
      identity.close();
    },
  };
}

/** Nobody trusts it: it only lets the server begin. */
function temporary(nodeName: string, nodeIp: string): { cert: string; key: string } {
  const ca = createCertificateAuthority({ commonName: `${nodeName}-ca` });
  return issueCertificate({ ca, commonName: nodeName, dnsNames: [nodeName], ips: [nodeIp], usages: ['server auth'] });
}
