// The control plane of a start: in this process, on machines of the cluster's cloud, or on this and other machines.
import { hostname } from 'node:os';
import { ownProcess } from '#component-base/failures';
import { type ClusterPki, openPki } from '../certificates/certificates.ts';
import { keepRenewing } from '../renewal/renewal.ts';
import { rewriteSecrets, secretEncryption } from '../certificates/secret-encryption.ts';
import type { ControlPlaneEndpoint } from '../endpoint/endpoint.ts';
import type { ClusterNodes } from '../cluster-nodes/cluster-nodes.ts';
import {
  type ControlPlane,
  type ControlPlaneDeps,
  type ControlPlaneOptions,
  type PlaneAccess,
  startControlPlane,
} from '../control-plane.ts';
import { ownControlPlane } from '../machines/own-plane.ts';
import { clusterPaths } from '../state/paths.ts';
import { type ClusterSettings, loadSettings } from '../state/settings.ts';
import { openEtcdLocation } from '../store/etcd-location.ts';
import type { Progress } from '../terminal/progress.ts';
import type { StartDeps, UpOptions } from './types.ts';

/** How long a start that an error has ended waits for what it began. */
const beginPatienceMs = 10_000;

/** The authorities and keys of the cluster; a first start makes them. */
export async function certificatesOf({ dataDir, machine }: ClusterSettings, progress: Progress): Promise<ClusterPki> {
  // Nobody else is a part of the control plane: it begins here, or it is in this process or on machines that start with it.
  const whole = machine?.controlPlane === undefined || (await ownControlPlane(dataDir)) === undefined;
  const pki = await openPki(clusterPaths(dataDir).pki, { whole });
  if (!pki.kubeletAuthority)
    progress.say(
      "   what kubelets serve with is signed by the cluster's own authority, as this cluster is older than one for kubelets alone (docs/security.md)",
    );
  return pki;
}

/** What a control plane in this process is started with. `nodes` gives those that the cluster has, once they are there. */
export function controlPlaneOptions(
  settings: ClusterSettings,
  pki: ClusterPki,
  endpoint: ControlPlaneEndpoint | undefined,
  nodes: () => ClusterNodes | undefined,
): ControlPlaneOptions {
  const { dataDir, port, topology, podCidr, metrics, machine, componentArgs } = settings;
  return {
    ...(componentArgs && { componentArgs }),
    dataDir,
    ...(metrics && { metrics }),
    nodeStats: (name) => nodes()?.stats(name),
    podCidr,
    pki,
    port,
    advertiseAddress: machine?.advertiseAddress ?? endpoint?.advertised.address ?? '127.0.0.1',
    ...(machine && { joinable: true, names: { dnsNames: [hostname()], ips: [] } }),
    ...(endpoint && { advertisePort: endpoint.advertised.port, names: endpoint.names }),
    ...(endpoint && topology === 'managed' && { socket: clusterPaths(dataDir).apiSocket }),
    ...(!machine && {
      dialKubelet: (target, signal) =>
        nodes()?.dial(target, signal) ??
        Promise.reject(new Error(settings.nodes.length > 0 ? 'the nodes have not started yet' : 'this cluster has no nodes')),
    }),
  };
}

interface Remote {
  settings: ClusterSettings;
  pki: ClusterPki;
  nodes: ClusterNodes | undefined;
  booted: Promise<void> | undefined;
  program: readonly string[];
}

/** The control plane on machines, once it answers. */
export async function remoteOf({ settings, pki, nodes, booted, program }: Remote, deps: StartDeps): Promise<PlaneAccess> {
  if (settings.machine) return (await import('../machines/first.ts')).startFirstPlane(settings, program, deps);
  const { startRemotePlane } = await import('../control-planes/start.ts');
  const { length } = settings.controlPlanes ?? [];
  return deps.progress.step(`control plane on ${length} machine${length === 1 ? '' : 's'}`, async () => {
    await booted;
    const { way, publicServer } = nodes?.endpoint ?? {};
    deps.undo.push(keepRenewing(settings.dataDir, undefined, deps));
    const at = { url: publicServer?.url ?? '', ...way };
    if (way) {
      const { hostname: host, port } = new URL(way.url);
      const { relay } = await import('../control-planes/relay.ts');
      const open = () => way.dial({ host, port: Number(port) || 443 });
      deps.undo.push(await relay(clusterPaths(settings.dataDir).apiSocket, open));
    }
    return startRemotePlane({ settings, pki, at, supervisor: deps.supervisor }, deps);
  });
}

type PlaneDeps = StartDeps & Pick<ControlPlaneDeps, 'alone' | 'onStray'>;

/**
 * The control plane of this process, once it answers. Nothing is followed until then to tell whose an error is: one that nobody caught ends the start.
 * What comes after is to be done outside of the apiserver's failure domain (`inDomain`).
 */
export async function startOwnPlane(
  base: ControlPlaneOptions,
  options: UpOptions,
  settings: ClusterSettings,
  deps: StartDeps,
): Promise<ControlPlane> {
  let onStray = (_: unknown): void => {};
  const stray = new Promise<never>((_, reject) => {
    onStray = reject;
  });
  deps.undo.push(() => ownProcess(undefined));
  const begun = beginOwnPlane(base, options, settings, { ...deps, alone: true, onStray: (error) => onStray(error) });
  try {
    return await Promise.race([begun, stray]);
  } catch (error) {
    // What is still beginning comes to its end first, and is undone with the rest; what takes too long is stopped when it has.
    let late = false;
    const settled = begun.then(
      (own) => (late ? own.stop() : undefined),
      () => {},
    );
    await Promise.race([settled, deps.clock.sleep(beginPatienceMs)]);
    late = true;
    throw error;
  } finally {
    onStray = () => {};
  }
}

async function beginOwnPlane(
  base: ControlPlaneOptions,
  options: UpOptions,
  settings: ClusterSettings,
  deps: PlaneDeps,
): Promise<ControlPlane> {
  const own = await startPlane(base, options, settings, deps);
  deps.undo.push(() => own.stop());
  deps.undo.push(keepRenewing(settings.dataDir, own, deps));
  await own.apiserver.started;
  if (settings.encryptSecrets) await rewriteSecrets(own.apiserver, deps.logger);
  return own;
}

/** The control plane over the store that the settings name. */
async function startPlane(
  base: ControlPlaneOptions,
  { audit, quotaBytes }: UpOptions,
  settings: ClusterSettings,
  deps: PlaneDeps,
): Promise<ControlPlane> {
  // The settings are written once the store is there.
  const storeMustExist = (await loadSettings(settings.dataDir)) !== undefined;
  const etcd = settings.etcd && (await openEtcdLocation(settings.etcd));
  const encryption = settings.encryptSecrets ? await secretEncryption(clusterPaths(settings.dataDir).pki) : undefined;
  const chosen = {
    storeMustExist,
    ...(quotaBytes && { quotaBytes }),
    ...(etcd && { etcd }),
    ...(audit && { audit }),
    ...(encryption && { encryption }),
  };
  return startControlPlane({ ...base, ...chosen }, deps);
}
