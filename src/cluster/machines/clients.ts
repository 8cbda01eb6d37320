// Who the programs of a joined machine are: the kubelet comes by TLS bootstrap, the others by certificates that the kubelet asks for in their names.
// All of them are renewed while they are in use.
import type { EndpointSlice } from '#api/discovery/v1';
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
import type { Dial } from '#wire';
import { type Identity, identities } from '../certificates/identities.ts';
import type { NodeAgentConfig } from '../nodes/node-agent-config.ts';
import type { NodeClients } from '../nodes/clients.ts';
import { waysMs } from '../nodes/limits.ts';
import { type Way, Ways } from '../nodes/ways.ts';

interface Deps {
  clock: Clock;
  rng: Rng;
  logger: Logger;
}

const signerName = 'kubernetes.io/kube-apiserver-client';
const usages = ['digital signature', 'client auth'];

interface BesideOptions {
  /** The folder of the certificates. */
  dir: string;
  config: ClientConfig;
  /** The kubelet, which asks for the certificate. */
  asker: KubeClient;
  dial: Dial | undefined;
}

/** A program beside the kubelet, and its open connections. */
class Beside {
  readonly #transports = new Set<RestTransport>();
  readonly #manager: CertificateManager;
  readonly #config: ClientConfig;
  readonly #clock: Clock;
  readonly #name: string;
  readonly #dial: Dial | undefined;

  constructor(name: string, identity: Identity, { dir, config, asker, dial }: BesideOptions, deps: Deps) {
    this.#name = name;
    this.#dial = dial;
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
    const dial = this.#dial;
    const options = { config: this.#current(), clock: this.#clock, userAgent: userAgent(this.#name), ...(dial && { dial }) };
    const transport = createRestTransport(options);
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
  const { bootstrapKubeconfig = '', certificates: certDir = '', apiservers: file } = machine ?? {};
  const ways = file === undefined ? undefined : await Ways.open({ server: server.server, ca: server.ca ?? '', file }, deps);
  const dial = ways?.dial;
  const identity = await openIdentity({ nodeName, kubeconfig, bootstrapKubeconfig, certDir, rotate: true, dial }, deps);
  const shared = { dir: certDir, config: server, asker: identity.client, dial };
  const beside = {
    'kube-proxy': new Beside('kube-proxy', identities.kubeProxy, shared, deps),
    coredns: new Beside('coredns', identities.dns, shared, deps),
    'kube-network-policy': new Beside('kube-network-policy', identities.networkPolicyOf(nodeName), shared, deps),
  };
  await Promise.all(Object.values(beside).map((one) => one.start()));
  const learning = ways && learn(ways, beside['kube-proxy'].client(), deps);
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
      learning?.();
      ways?.close();
      for (const one of Object.values(beside)) one.close();
      identity.close();
    },
  };
}

const slices = { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' };

/** Asks again and again which apiservers there are. Gives what ends that. */
function learn(ways: Ways, client: KubeClient, { clock, logger }: Deps): () => void {
  const over = new AbortController();
  const loop = async (): Promise<never> => {
    for (;;) {
      try {
        const labelSelector = 'kubernetes.io/service-name=kubernetes';
        await ways.learn(apiserversIn((await client.resource<EndpointSlice>(slices, 'default').list({ labelSelector })).items));
      } catch (error) {
        logger.debug('the apiservers of the cluster are not known anew', { err: error });
      }
      await clock.sleep(waysMs.learn, over.signal);
    }
  };
  void loop().catch(() => {});
  return () => {
    over.abort();
    client.close();
  };
}

const apiserversIn = (items: readonly EndpointSlice[]): Way[] =>
  items.flatMap(({ endpoints, ports }) =>
    (endpoints ?? []).flatMap(({ addresses }) => addresses.map((host) => ({ host, port: ports?.[0]?.port ?? 443 }))),
  );

/** Nobody trusts it: it only lets the server begin. */
function temporary(nodeName: string, nodeIp: string): { cert: string; key: string } {
  const ca = createCertificateAuthority({ commonName: `${nodeName}-ca` });
  return issueCertificate({ ca, commonName: nodeName, dnsNames: [nodeName], ips: [nodeIp], usages: ['server auth'] });
}
