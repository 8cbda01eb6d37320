// The kubelet's HTTPS server on port 10250 (upstream pkg/kubelet/server).
import type { Pod } from '#api/core/v1';
import type { KubeClient } from '#client';
import { routeZpage, type ZpageAnswer } from '#component-base';
import type { Clock, Logger } from '#utils';
import {
  type ListenTarget,
  serve,
  type ServerTls,
  type WireRequest,
  type WireRequestHead,
  type WireResponse,
  type WireServer,
  type WireUpgrade,
} from '#wire';
import type { ServedKubelet } from './served.ts';
import { type AuthOptions, KubeletAuth } from './auth.ts';
import { findPod, RequestError, runningContainerId, statusOf } from './lookup.ts';
import { serveLogs } from './logs.ts';
import { cadvisorMetrics } from './cadvisor.ts';
import { kubeletMetrics, resourceMetrics } from './metrics.ts';
import { statsSummary } from './stats.ts';
import { serveStream } from './streams.ts';
import { serveSystemLogs } from './system-logs.ts';

export interface KubeletServerOptions extends Pick<AuthOptions, 'anonymous' | 'tokenReview' | 'authorization'> {
  tls: ServerTls;
  listen: ListenTarget;
}

export interface KubeletServerDeps {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
}

const runTimeoutMs = 60_000;
const json = Object.freeze({ 'content-type': 'application/json' });
const text = Object.freeze({ 'content-type': 'text/plain; charset=utf-8' });

const podList = (items: readonly Pod[]): string => JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items });

/** The pods the kubelet knows, with the status it would report. */
const knownPods = (kubelet: ServedKubelet): Pod[] =>
  kubelet.workers.pods().map((pod) => ({ ...pod, apiVersion: 'v1', kind: 'Pod', status: statusOf(kubelet, pod) }));

async function runningPods(kubelet: ServedKubelet): Promise<Pod[]> {
  const records = await kubelet.parts.runtime.list();
  return records.map(({ uid, name, namespace, containers }) => ({
    metadata: { uid, name, namespace },
    spec: {
      containers: containers.filter(({ state }) => state === 'running').map((item) => ({ name: item.name, image: item.image })),
    },
  }));
}

/** POST /run: one command, its output as the answer. */
async function runCommand(
  kubelet: ServedKubelet,
  [namespace = '', name = '', ...rest]: readonly string[],
  query: URLSearchParams,
): Promise<string> {
  const pod = findPod(kubelet, namespace, name, rest.length > 1 ? rest[0] : '');
  const id = runningContainerId(pod, statusOf(kubelet, pod), rest.at(-1) ?? '');
  const command = (query.get('cmd') ?? '').split(' ');
  const { stdout, stderr } = await kubelet.parts.runtime.exec(id, command, runTimeoutMs);
  return Buffer.concat([stdout, stderr]).toString('utf8');
}

/** The parts of the path, decoded. Throws 400 for what cannot be decoded, as net/http answers it. */
function partsOf({ path }: Pick<WireRequestHead, 'path'>): string[] {
  const parts = (path.split('?')[0] ?? '').split('/').filter((part) => part !== '');
  try {
    return parts.map(decodeURIComponent);
  } catch {
    throw new RequestError(400, '400 Bad Request');
  }
}

type Answer = { headers: Record<string, string>; body: string };

/** Everything that is answered at once. */
async function answer(kubelet: ServedKubelet, request: WireRequest): Promise<Answer> {
  const [, search = ''] = request.path.split('?');
  const parts = partsOf(request);
  switch (parts[0] ?? '') {
    case 'healthz':
      return { headers: text, body: 'ok' };
    case 'pods':
      return { headers: json, body: podList(knownPods(kubelet)) };
    case 'runningpods':
      return { headers: json, body: podList(await runningPods(kubelet)) };
    case 'metrics':
      if (parts[1] === 'resource') return { headers: metricsText, body: await resourceMetrics(kubelet) };
      if (parts[1] === 'cadvisor') return { headers: metricsText, body: await cadvisorMetrics(kubelet) };
      if (parts[1] === 'probes') return { headers: metricsText, body: await kubelet.probes.metrics() };
      if (parts[1] === undefined) return { headers: metricsText, body: await kubeletMetrics(kubelet) };
      break;
    case 'stats':
      if (parts[1] === 'summary')
        return { headers: json, body: JSON.stringify(await statsSummary(kubelet, isTrue(search, 'only_cpu_and_memory'))) };
      break;
    case 'configz':
      return { headers: json, body: JSON.stringify({ kubeletconfig: configuration(kubelet) }) };
    case 'run':
      if (request.method === 'POST')
        return { headers: text, body: await runCommand(kubelet, parts.slice(1), new URLSearchParams(search)) };
      break;
  }
  throw new RequestError(404, '404 page not found\n');
}

/** Whether the parameter is true as strconv.ParseBool reads it. */
const isTrue = (search: string, name: string): boolean =>
  ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(new URLSearchParams(search).get(name) ?? '');

const metricsText = Object.freeze({ 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' });

const configuration = ({ options }: ServedKubelet): object => ({
  port: options.port,
  maxPods: options.podsMax,
  clusterDNS: options.clusterDNS,
  clusterDomain: options.clusterDomain,
  cgroupRoot: options.cgroupRoot,
  cgroupsPerQOS: options.cgroupsPerQOS,
  cgroupDriver: options.cgroupDriver,
  containerRuntimeEndpoint: options.containerRuntimeEndpoint,
  staticPodPath: options.podManifestPath,
  serializeImagePulls: options.serializeImagePulls,
  evictionHard: options.eviction.hard,
  evictionSoft: options.eviction.soft,
  evictionSoftGracePeriod: options.eviction.softGracePeriod,
  evictionMinimumReclaim: options.eviction.minimumReclaim,
  evictionMaxPodGracePeriod: options.eviction.maxPodGraceSeconds,
  allowedUnsafeSysctls: options.allowedUnsafeSysctls,
  podPidsLimit: options.podPidsMax,
  protectKernelDefaults: options.protectKernelDefaults,
  imageGCHighThresholdPercent: options.imageGcHighPercent,
  imageGCLowThresholdPercent: options.imageGcLowPercent,
  containerLogMaxFiles: options.containerLogMaxFiles,
});

const ownPaths = [
  'attach',
  'checkpoint',
  'configz',
  'containerLogs',
  'exec',
  'flagz',
  'healthz',
  'logs',
  'metrics',
  'pods',
  'portForward',
  'run',
  'runningpods',
  'stats',
];

function zpage({ options, parts }: ServedKubelet, { path, headers }: WireRequest): Promise<ZpageAnswer | undefined> {
  const { flags } = options;
  const { accept = '', 'user-agent': userAgent = '' } = headers;
  const pages = {
    component: 'kubelet',
    clock: parts.clock,
    flags: flags && (() => flags),
    paths: ownPaths.map((name) => `/${name}`),
  };
  return routeZpage({ target: path, accept, userAgent }, pages);
}

async function systemLogs(kubelet: ServedKubelet, { path }: WireRequest, response: WireResponse): Promise<void> {
  const below = decodeURIComponent((path.split('?')[0] ?? '').slice('/logs'.length));
  if (below === '') return response.send(301, { location: '/logs/' }, '');
  await serveSystemLogs(kubelet.options.systemLogsDir, below.replace(/^\/+/, ''), response);
}

async function onRequest(kubelet: ServedKubelet, auth: KubeletAuth, request: WireRequest, response: WireResponse): Promise<void> {
  const verdict = await auth.check(request);
  if (verdict.status !== 200) return response.send(verdict.status, text, verdict.message);
  try {
    const parts = partsOf(request);
    if (parts[0] === 'containerLogs' && request.method === 'GET')
      return await serveLogs(kubelet, parts.slice(1), request, response);
    if (parts[0] === 'logs' && request.method === 'GET' && !kubelet.parts.runtime.simulated)
      return await systemLogs(kubelet, request, response);
    const page = await zpage(kubelet, request);
    if (page) return response.send(page.status, { 'content-type': page.type, ...page.headers }, page.body);
    const { headers, body } = await answer(kubelet, request);
    response.send(200, headers, body);
  } catch (error) {
    if (response.headSent) return response.destroy();
    response.send(error instanceof RequestError ? error.status : 500, text, (error as Error).message);
  }
}

const streams = new Set(['exec', 'attach', 'portForward']);

async function onUpgrade(kubelet: ServedKubelet, auth: KubeletAuth, upgrade: WireUpgrade): Promise<void> {
  const refuse = (status: number, message: string): void => upgrade.reject(status, text, message);
  const verdict = await auth.check(upgrade);
  if (verdict.status !== 200) return refuse(verdict.status, verdict.message);
  try {
    const [kind = '', ...path] = partsOf(upgrade);
    if (!streams.has(kind)) return refuse(404, '404 page not found\n');
    await serveStream(kubelet, kind, path, upgrade);
  } catch (error) {
    refuse(error instanceof RequestError ? error.status : 500, (error as Error).message);
  }
}

/** Serves the API of several kubelets at one address; `find` chooses by the request, undefined is answered 404. */
export function serveKubelets(
  find: (head: WireRequestHead) => ServedKubelet | undefined,
  options: KubeletServerOptions,
  { client, clock, logger }: KubeletServerDeps,
): Promise<WireServer> {
  const { anonymous, tokenReview, authorization } = options;
  const known = new WeakMap<ServedKubelet, KubeletAuth>();
  const authOf = (kubelet: ServedKubelet): KubeletAuth => {
    let auth = known.get(kubelet);
    if (auth === undefined) {
      auth = new KubeletAuth({ client, clock, nodeName: kubelet.options.nodeName, anonymous, tokenReview, authorization });
      known.set(kubelet, auth);
    }
    return auth;
  };
  return serve({
    tls: { ...options.tls, requestClientCert: true },
    listen: options.listen,
    logger,
    async onRequest(request, response) {
      const kubelet = find(request);
      if (kubelet) await onRequest(kubelet, authOf(kubelet), request, response);
      else response.send(404, text, 'no such node');
    },
    async onUpgrade(upgrade) {
      const kubelet = find(upgrade);
      if (kubelet) await onUpgrade(kubelet, authOf(kubelet), upgrade);
      else upgrade.reject(404, text, 'no such node');
    },
  });
}

/** Serves one kubelet's API. Rejects when it cannot listen. */
export const startKubeletServer = (
  kubelet: ServedKubelet,
  options: KubeletServerOptions,
  deps: KubeletServerDeps,
): Promise<WireServer> => serveKubelets(() => kubelet, options, deps);

/** Serves the API of all simulated nodes of a process. The address in the Host header says which node a request is for. */
export function serveSimulatedNodes(
  kubelets: () => Iterable<ServedKubelet>,
  options: KubeletServerOptions,
  deps: KubeletServerDeps,
): Promise<WireServer> {
  const find = ({ headers }: WireRequestHead): ServedKubelet | undefined => {
    const host = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[|\]$/g, '');
    for (const kubelet of kubelets())
      if (kubelet.options.nodeName === host || kubelet.parts.state.hostIPs().includes(host)) return kubelet;
    return undefined;
  };
  return serveKubelets(find, options, deps);
}
