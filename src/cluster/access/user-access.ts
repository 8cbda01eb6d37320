// How people reach the apiserver of a running cluster. It is written where they and other commands look: into the cluster's own kubeconfig, the
// user's, and the record of the process that runs the cluster. A managed control plane changes it while it runs.
import { kubeconfigFor, writeKubeconfig } from '#client';
import type { Clock } from '#utils';
import type { ControlPlaneEndpoint } from '../endpoint/endpoint.ts';
import type { PlaneAccess } from '../control-plane.ts';
import { identities } from '../certificates/identities.ts';
import { addressesOf } from '../nodes/index.ts';
import { clusterPaths } from '../state/paths.ts';
import { writeRunState } from '../state/run-state.ts';
import type { ClusterSettings } from '../state/settings.ts';
import { keepPreviousContext } from './previous-context.ts';
import { addUserContext } from './user-kubeconfig.ts';

export interface Access {
  server: string;
  /** The name in the apiserver's certificate, where the URL has an address. */
  serverName?: string;
}

/**
 * The URL of an endpoint: with its name where this machine can look it up, otherwise with its address, and the name for TLS beside it. A private
 * endpoint is found by its name alone, from inside the cluster's network.
 */
export async function accessBy(
  { publicServer, server }: Pick<ControlPlaneEndpoint, 'publicServer' | 'server'>,
  meansHere: (name: string) => Promise<readonly string[]>,
): Promise<Access> {
  const byName = { server: `https://${server.host}:${server.port}` };
  if (!publicServer) return byName;
  const { hostname: address } = new URL(publicServer.url);
  const known = await meansHere(server.host).catch((): readonly string[] => []);
  return known.includes(address) ? byName : { server: publicServer.url, serverName: publicServer.serverName };
}

export interface UserAccessOptions {
  settings: Pick<ClusterSettings, 'name' | 'dataDir'>;
  plane: PlaneAccess;
  startedAtMs: number;
  /** Leave the user's kubeconfig alone. */
  keepKubeconfig: boolean;
  env: Record<string, string | undefined>;
}

export class UserAccess {
  readonly #options: UserAccessOptions;
  readonly #clock: Clock;
  #access: Access;
  #ready = false;
  #contextTrouble: string | undefined;

  constructor(options: UserAccessOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#access = { server: options.plane.server };
  }
  /** Why the user's kubeconfig has no context of the cluster, where it was to have one. */
  get contextTrouble(): string | undefined {
    return this.#contextTrouble;
  }
  /** Where people find the apiserver now. */
  get server(): string {
    return this.#access.server;
  }
  async tell(access: Access = this.#access): Promise<void> {
    this.#access = access;
    const { settings, plane, keepKubeconfig, env } = this.#options;
    await this.#writeState();
    const config = plane.clientConfig(identities.admin, access.server);
    const kubeconfig = kubeconfigFor(settings.name, {
      ...config,
      ...(access.serverName !== undefined && { serverName: access.serverName }),
    });
    await writeKubeconfig(clusterPaths(settings.dataDir).kubeconfig, kubeconfig);
    // Somebody else's file that cannot be written is no reason to go without a cluster.
    if (!keepKubeconfig)
      this.#contextTrouble = await addUserContext(kubeconfig, settings.dataDir, env).then(
        (previous) => this.#keepPrevious(previous),
        (error: unknown) => (error as Error).message,
      );
  }
  /** Writes the new endpoint of a managed control plane everywhere. */
  async tellEndpoint(endpoint: ControlPlaneEndpoint): Promise<void> {
    await this.tell(await accessBy(endpoint, (name) => addressesOf(name, this.#clock)));
  }
  /** Tells other commands that the cluster is ready. */
  announce(): Promise<void> {
    this.#ready = true;
    return this.#writeState();
  }

  /** Keeps the context that was current, so that `down` can select it again. */
  async #keepPrevious(context: string | undefined): Promise<undefined> {
    if (context !== undefined) await keepPreviousContext(this.#options.settings.dataDir, context);
  }
  #writeState(): Promise<void> {
    const { settings, startedAtMs } = this.#options;
    return writeRunState(settings.dataDir, { pid: process.pid, startedAtMs, server: this.server, ready: this.#ready });
  }
}
