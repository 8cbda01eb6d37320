// Nodes whose pods are not processes: whole kubelets over the simulated runtime, in this process. One server on loopback stands for the
// kubelets' APIs, so that logs and exec get the simulated runtime's own answer.
import { connect } from 'node:net';
import { createEventRecorder } from '#client';
import { createSimulatedNode, type Kubelet, serveSimulatedNodes } from '#kubelet';
import type { Clock, Logger, Rng } from '#utils';
import type { Dial } from '#wire';
import type { ClusterPki } from './certificates.ts';
import type { ControlPlane } from './control-plane.ts';
import { identities } from './identities.ts';

export interface SimulatedNodes {
  readonly kubelets: ReadonlyMap<string, Kubelet>;
  /** Reaches the kubelets by the addresses of their Node objects; nothing else is there to be reached. */
  readonly dial: Dial;
  stop(): Promise<void>;
}

/** Unique for 65,536 nodes; never used on a wire. */
const addressOf = (index: number): string => `10.64.${(index >> 8) & 255}.${index & 255}`;

export async function startSimulatedNodes(
  plane: ControlPlane,
  names: readonly string[],
  { pki, ...deps }: { clock: Clock; rng: Rng; logger: Logger; pki: ClusterPki },
): Promise<SimulatedNodes> {
  const kubelets = new Map<string, Kubelet>();
  names.forEach((name, index) => {
    const client = plane.client(identities.node(name), 'kubelet');
    const logger = deps.logger.with({ component: 'kubelet', node: name });
    const recorder = createEventRecorder({ client, clock: deps.clock, logger, component: 'kubelet', host: name });
    const node = { name, nodeIP: addressOf(index + 1), podCIDR: null };
    kubelets.set(name, createSimulatedNode(node, { ...deps, client, logger, recorder }));
  });
  const { server, dial } = await serveKubelets(plane, kubelets, pki, deps);
  await Promise.all([...kubelets.values()].map((kubelet) => kubelet.start()));
  return {
    kubelets,
    dial,
    async stop() {
      for (const kubelet of kubelets.values()) kubelet.close();
      await server.close({ graceMs: 0 });
    },
  };
}

async function serveKubelets(
  plane: ControlPlane,
  kubelets: ReadonlyMap<string, Kubelet>,
  pki: ClusterPki,
  { clock, logger }: { clock: Clock; logger: Logger },
): Promise<{ server: Awaited<ReturnType<typeof serveSimulatedNodes>>; dial: Dial }> {
  const addresses = new Set([...kubelets.values()].flatMap(({ options }) => options.nodeIPs));
  const server = await serveSimulatedNodes(
    () => kubelets.values(),
    {
      tls: { ...pki.serving('system:node:simulated', { ips: [...addresses] }), ca: pki.authority.cert, requestClientCert: true },
      listen: { host: '127.0.0.1', port: 0 },
      anonymous: false,
      tokenReview: true,
      authorization: 'Webhook',
    },
    { client: plane.client(identities.admin, 'kubelet'), clock, logger },
  );
  const servedPort = server.port;
  const dial: Dial = ({ host, port }) =>
    new Promise((resolve, reject) => {
      if (!addresses.has(host)) {
        reject(new Error(`${host}:${port} cannot be reached: the nodes are simulated, their pods are not real processes`));
        return;
      }
      const socket = connect({ host: '127.0.0.1', port: servedPort });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.removeListener('error', reject);
        resolve(socket);
      });
    });
  return { server, dial };
}
