// HAProxy's configuration as a function of what is to be balanced (HAProxy 2.6 configuration manual). One instance of HAProxy for each VPC, living in
// its router: so its workers need no right at all (entering other namespaces would take CAP_SYS_ADMIN), and addresses that two VPCs
// have in common are no matter. Pure.
import { limits } from '../limits.ts';
import { type BalancerPlan, type Place, tcpListeners } from '../plan.ts';

/** One proxy: a listener of a load balancer. */
export interface Proxy {
  name: string;
  balancerId: string;
  /** Lines that need a reload when they change. */
  frontend: readonly string[];
  backend: readonly string[];
  /** What follows `server <name>`, by name: changed without a reload. */
  servers: ReadonlyMap<string, string>;
  /** Connections to a server end when it is removed. */
  terminate?: boolean;
}

export const proxyName = (balancerId: string, port: number): string => `${balancerId}_${port}`;
export const balancerOfProxy = (name: string): string => name.slice(0, name.lastIndexOf('_'));

const sendProxy = { none: '', v1: ' send-proxy', v2: ' send-proxy-v2' };

export function proxiesOf(balancers: readonly BalancerPlan[], healthy: (balancer: BalancerPlan) => readonly Place[]): Proxy[] {
  return balancers.flatMap((balancer) => {
    const { id, address, proxyProtocol, affinityTimeoutSeconds: seconds } = balancer;
    const targets = healthy(balancer);
    return tcpListeners(balancer).map(({ port, targetPort = port }): Proxy => {
      const name = proxyName(id, port);
      return {
        name,
        balancerId: id,
        // Without servers a connection is closed at once. (A rule that asks for the number of servers would see none in a worker that a
        // reload is ending, and refuse its last connections.)
        frontend: [`bind ${address}:${port}`, `default_backend ${name}`],
        backend: [
          'balance roundrobin',
          ...(proxyProtocol === 'none' ? [] : [`default-server${sendProxy[proxyProtocol]}`]),
          ...(seconds === undefined
            ? []
            : [`stick-table type ip size ${limits.affinityClientsMax} expire ${seconds}s peers self`, 'stick on src']),
        ],
        ...(balancer.healthCheck?.terminateConnections && { terminate: true }),
        servers: new Map(targets.map((place) => [place.instanceId, `${place.address}:${targetPort}${sendProxy[proxyProtocol]}`])),
      };
    });
  });
}

export interface ConfigOptions {
  /** Whether the machine has an account for HAProxy; else its workers are nobody. */
  ownAccount: boolean;
  /** An empty folder, the worker's root. */
  emptyDir: string;
  threads: number;
}

/** The part of a proxy that needs a reload when it changes. */
const structureOf = ({ name, frontend, backend }: Proxy): string =>
  [`frontend ${name}`, ...frontend.map((line) => `  ${line}`), `backend ${name}`, ...backend.map((line) => `  ${line}`)].join(
    '\n',
  );

/** Sockets are named relative to the folder that HAProxy runs in: absolute paths may be longer than a socket's may be (unix(7)). */
export const sockets = { admin: 'admin.sock', master: 'master.sock' };

function head({ ownAccount, emptyDir, threads }: ConfigOptions): string {
  return `# Written by the load balancers of the local cloud, and replaced whenever they change.
global
  ${ownAccount ? 'user haproxy' : 'uid 65534'}
  ${ownAccount ? 'group haproxy' : 'gid 65534'}
  chroot ${emptyDir}
  nbthread ${threads}
  localpeer self
  fd-hard-limit ${limits.haproxyFilesMax}
  mworker-max-reloads ${limits.workerReloadsMax}
  stats socket unix@${sockets.admin} mode 600 level admin expose-fd listeners
defaults
  mode tcp
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout client-fin 1m
  timeout server-fin 1m
  retries 3
  option redispatch 1
  option tcp-smart-accept
# Hands the clients' affinity to the next worker at a reload.
peers self
  bind 127.0.0.1:1024
  server self
`;
}

export interface Config {
  text: string;
  /** Equal structures differ in servers only. */
  structure: string;
}

export function configOf(proxies: readonly Proxy[], options: ConfigOptions): Config {
  const start = head(options);
  const parts = proxies.map((proxy) => {
    const structure = structureOf(proxy);
    const servers = [...proxy.servers].map(([name, words]) => `  server ${name} ${words}`);
    return { structure, text: [structure, ...servers].join('\n') };
  });
  return {
    structure: [start, ...parts.map(({ structure }) => structure)].join('\n'),
    text: `${[start, ...parts.map(({ text }) => text)].join('\n')}\n`,
  };
}

/** What HAProxy has at run time: `show servers state`, by `<backend>/<server>`. */
export type ServerStates = ReadonlyMap<string, { address: string; ready: boolean }>;

export function parseServerStates(text: string): ServerStates {
  const rows = text.split('\n').map((line) => line.split(' '));
  const header = rows.find(([first]) => first === '#')?.slice(1) ?? [];
  const column = (name: string): number => header.indexOf(name);
  const [backend, server, address, port, operation, administration] = [
    'be_name',
    'srv_name',
    'srv_addr',
    'srv_port',
    'srv_op_state',
    'srv_admin_state',
  ].map(column);
  const at = (row: readonly string[], index: number | undefined): string => row[index ?? -1] ?? '';
  return new Map(
    rows
      .filter(([first = '']) => /^\d+$/.test(first) && header.length > 0)
      .filter((row) => row.length >= header.length)
      .map((row): [string, { address: string; ready: boolean }] => [
        `${at(row, backend)}/${at(row, server)}`,
        {
          address: `${at(row, address)}:${at(row, port)}`,
          ready: at(row, operation) === '2' && at(row, administration) === '0',
        },
      ]),
  );
}

const wordsByServer = (proxies: readonly Proxy[]): Map<string, string> =>
  new Map(
    proxies.flatMap(({ name, servers }) => [...servers].map(([server, words]): [string, string] => [`${name}/${server}`, words])),
  );

/** Commands of the admin socket that make `states` those of `proxies`. A removed server gets no new connections; it keeps its old ones, unless they are to end. */
export function serverCommands(proxies: readonly Proxy[], states: ServerStates): string[] {
  const wanted = wordsByServer(proxies);
  const terminating = new Set(proxies.flatMap(({ name, terminate }) => (terminate ? [name] : [])));
  const removed = [...states].flatMap(([key, { ready }]) => {
    if (wanted.has(key)) return [];
    const end = terminating.has(key.slice(0, key.lastIndexOf('/'))) ? [`shutdown sessions server ${key}`] : [];
    return [...(ready ? [`set server ${key} state maint`] : []), ...end, `del server ${key}`];
  });
  const added = [...wanted].flatMap(([key, words]) => {
    const state = states.get(key);
    if (state?.ready) return [];
    return state ? [`set server ${key} state ready`] : [`add server ${key} ${words}`, `enable server ${key}`];
  });
  // New ones first: there is to be no moment without any.
  return [...added, ...removed];
}

/** Whether HAProxy sends connections to the servers of `proxies` and to no others. */
export function serversMatch(proxies: readonly Proxy[], states: ServerStates): boolean {
  const wanted = wordsByServer(proxies);
  const ready = [...states].filter(([, state]) => state.ready);
  return ready.length === wanted.size && ready.every(([key, { address }]) => wanted.get(key)?.split(' ')[0] === address);
}

/** Proxies that HAProxy could not open, with its words, from what it wrote to its log. */
export function refusedProxies(log: string): Map<string, string> {
  const found = [...log.matchAll(/ (?:frontend|proxy) (\S+): (.+)$/gm)];
  return new Map(found.map(([, name = '', why = '']) => [name, why.trim()]));
}

export interface Processes {
  reloads: number;
  failed: number;
  /** Process ids of the newest generation. */
  workers: ReadonlySet<number>;
}

/** Reads the answer to `show proc` of the master socket; undefined when the text is not such an answer. */
export function parseProcesses(text: string): Processes | undefined {
  const master = /^\d+\s+master\s+(\d+)(?:\s+\[failed:\s*(\d+)\])?/m.exec(text);
  if (!master) return undefined;
  const workers = [...text.matchAll(/^(\d+)\s+worker\s+0\s/gm)].map(([, pid]) => Number(pid));
  return { reloads: Number(master[1]), failed: Number(master[2] ?? 0), workers: new Set(workers) };
}
