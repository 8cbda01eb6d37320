// What a start of a cluster is to be: the flags of this one, else the choices of the first, each checked before anything is started.
import type { ArgComponent, ComponentArgs } from '../flags/component-args.ts';
import { assertSecretKey } from '../certificates/secret-encryption.ts';
import { obstacles } from '../capabilities.ts';
import { addressesOfStart, emulatorOfStart, nodesOfStart } from '../cloud/emulator-choice.ts';
import { assertLayout, controlPlanesOfStart } from '../control-planes/choice.ts';
import { etcdOfStart } from '../store/etcd-location.ts';
import { keptOf, upDefaults } from '../flags/index.ts';
import { machineOfStart } from '../machines/choice.ts';
import { mountsOfStart } from '../state/mounts.ts';
import { parseRegistryMirror } from '../nodes/index.ts';
import type { Progress } from '../terminal/progress.ts';
import { type ClusterSettings, loadSettings, type RuntimeChoice } from '../state/settings.ts';
import { podCidrFor } from '../state/networks.ts';
import { clusterPaths } from '../state/paths.ts';
import { topologyOf } from '../state/topology.ts';
import type { UpOptions } from './types.ts';
import { silentLogger } from '#utils';

/** The port of the API of a control plane that machines join, which is kubeadm's default, too. */
const apiserverPort = 6443;

/** Chooses between real and simulated nodes; throws when real ones were asked for and cannot be had. */
async function chooseRuntime(
  wanted: NonNullable<UpOptions['runtime']>,
  before: RuntimeChoice | undefined,
  progress: Progress,
): Promise<RuntimeChoice> {
  if (wanted === 'simulated') return 'simulated';
  const why = await obstacles();
  if (why.length === 0) return wanted === 'auto' ? (before ?? 'containerd') : 'containerd';
  if (wanted === 'containerd') throw new Error(`real nodes cannot run here: ${why.join('; ')}`);
  if (before === 'containerd') throw new Error(`this cluster has real nodes, which cannot run here: ${why.join('; ')}`);
  progress.say(`   nodes are SIMULATED, pods are not real processes (${why.join('; ')})`);
  return 'simulated';
}

/** Throws a sentence for files of a start that could not be used: better said now than with half a cluster running. */
async function assertFiles({ dataDir, audit }: UpOptions, before: ClusterSettings | undefined): Promise<void> {
  if (before?.encryptSecrets) await assertSecretKey(clusterPaths(dataDir).pki);
  if (audit) await (await import('#apiserver/app')).loadAuditPolicy(audit.policyFile, silentLogger);
}

/** The settings of a start: what was said now, else what was chosen before. */
export async function settle(options: UpOptions, progress: Progress): Promise<ClusterSettings> {
  const before = await loadSettings(options.dataDir);
  await assertFiles(options, before);
  const machine = machineOfStart(options, before);
  assertLayout(options, before, machine !== undefined);
  const controlPlanes = machine ? undefined : controlPlanesOfStart(options, before);
  const cloudEmulator = await emulatorOfStart(options, before, { machines: machine !== undefined, controlPlanes });
  const nodes = machine ? [] : await nodesOfStart(options, before, cloudEmulator);
  const runtime =
    nodes.length === 0 && !controlPlanes
      ? (before?.runtime ?? 'simulated')
      : await chooseRuntime(
          controlPlanes ? 'containerd' : (options.runtime ?? upDefaults.runtime),
          before?.nodes.length ? before.runtime : undefined,
          progress,
        );
  const dnsUpstreams = [...(options.dnsUpstreams ?? before?.dnsUpstreams ?? [])];
  const registryPort = options.registryPort ?? before?.registryPort;
  const registryMirrors = [...(options.registryMirrors ?? before?.registryMirrors ?? [])];
  // Better said now than with half a cluster running.
  if (dnsUpstreams.length > 0) dnsUpstreams.forEach((await import('#dns')).parseUpstream);
  registryMirrors.forEach(parseRegistryMirror);
  if (registryPort !== undefined) {
    if (runtime === 'simulated' || controlPlanes || machine || (options.topology ?? before?.topology) === 'managed')
      throw new Error('--registry needs real nodes of this machine, with the control plane of one process among them');
    const { registryMirror, registryProgram } = await import('../add-ons/registry-addon.ts');
    registryProgram();
    const mirror = registryMirror(registryPort);
    if (!registryMirrors.includes(mirror)) registryMirrors.push(mirror);
  }
  const portMappings = options.portMappings ?? before?.portMappings;
  if (portMappings && (runtime === 'simulated' || machine))
    throw new Error('extraPortMappings need real nodes of the local cloud: nobody answers on others');
  const mounts = await mountsOfStart(options.mounts, before, runtime === 'simulated' || machine !== undefined);
  const etcd = etcdOfStart(options.etcd, before);
  const componentArgs = await argsOfStart(options, before, {
    machine: machine !== undefined,
    runtime,
    alone: controlPlanes !== undefined || machine?.controlPlane !== undefined,
  });
  const ofNodes = await nodeArgsOfStart(options, before, { nodes, componentArgs: componentArgs.args, runtime });
  for (const warning of new Set([...componentArgs.warnings, ...ofNodes.warnings])) progress.say(`   ${warning}`);
  const { topology, endpointAccess } = topologyOf(options, before, runtime);
  return {
    ...keptOf(options, before),
    name: before?.name ?? options.name,
    dataDir: options.dataDir,
    nodes,
    runtime,
    ...(controlPlanes && { controlPlanes }),
    ...(portMappings && { portMappings }),
    ...(mounts && { mounts }),
    podCidr: podCidrFor(nodes.length, before?.podCidr),
    port: options.port || (before?.port ?? (machine ? apiserverPort : 0)),
    dnsUpstreams,
    registryMirrors,
    ...(registryPort !== undefined && { registryPort }),
    ...(cloudEmulator && { cloudEmulator }),
    ...(!options.nodeAddresses && !before?.nodeAddresses && (await addressesOfStart(cloudEmulator))),
    // Volumes of the built-in provisioner are directories of this machine.
    ...(machine && !options.storage && !before?.storage && { storage: 'none' as const }),
    ...(machine && { machine }),
    ...(etcd && { etcd }),
    ...((options.encryptSecrets || before?.encryptSecrets) && { encryptSecrets: true }),
    ...(Object.keys(componentArgs.args).length > 0 && { componentArgs: componentArgs.args }),
    ...(Object.keys(ofNodes.args).length > 0 && { nodeArgs: ofNodes.args }),
    endpointAccess,
    topology,
  };
}

interface Shape {
  machine: boolean;
  runtime: RuntimeChoice;
  /** The control plane's components are processes of their own. */
  alone: boolean;
}

/** Simulated nodes take no flags. What every component is given, as the feature gates of a configuration, is for the others there. Throws for all else. */
function withoutNodes({ kubelet = [], 'kube-proxy': kubeProxy = [], ...others }: ComponentArgs): ComponentArgs {
  const ofAll = others['kube-apiserver'] ?? [];
  if ([...kubelet, ...kubeProxy].some((word) => !ofAll.includes(word)))
    throw new Error('--kubelet-arg and --kube-proxy-arg are for real nodes of the local cloud');
  return others;
}

/** A user's flags of components: those of this start replace those of the component that were given before. Throws what the component would say. */
async function argsOfStart(
  { componentArgs: given = {} }: UpOptions,
  before: ClusterSettings | undefined,
  { machine, runtime, alone: processes }: Shape,
): Promise<{ args: ComponentArgs; warnings: string[] }> {
  const ofStart = machine || runtime === 'simulated' ? withoutNodes(given) : given;
  const args: ComponentArgs = { ...before?.componentArgs, ...ofStart };
  if (Object.keys(args).length === 0) return { args, warnings: [] };
  const { checkComponentArgs } = await import('../component-args/tables.ts');
  const alone = (component: ArgComponent): boolean => processes && component !== 'kubelet' && component !== 'kube-proxy';
  return { args, warnings: await checkComponentArgs(args, alone) };
}

/** Further flags of single nodes' kubelets. Throws what the kubelet would say. */
async function nodeArgsOfStart(
  { nodeArgs: given }: UpOptions,
  before: ClusterSettings | undefined,
  { nodes, componentArgs, runtime }: Pick<ClusterSettings, 'nodes' | 'runtime'> & { componentArgs: ComponentArgs },
): Promise<{ args: Record<string, readonly string[]>; warnings: string[] }> {
  if (given === undefined) return { args: { ...before?.nodeArgs }, warnings: [] };
  if (given.length > 0 && (runtime === 'simulated' || nodes.length === 0))
    throw new Error('kubeletExtraArgs are for real nodes of the local cloud');
  const args = Object.fromEntries(nodes.flatMap((name, index) => (given[index]?.length ? [[name, given[index]]] : [])));
  const warnings: string[] = [];
  for (const words of Object.values(args)) {
    const { checkComponentArgs } = await import('../component-args/tables.ts');
    warnings.push(...(await checkComponentArgs({ kubelet: [...(componentArgs.kubelet ?? []), ...words] }, () => false)));
  }
  return { args, warnings };
}
