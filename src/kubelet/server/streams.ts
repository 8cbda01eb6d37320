// exec, attach and port-forward: the client's connection is joined to the runtime's streaming server. Commands are spoken with both sides, since each side
// may rest; port-forward over SPDY is passed through, as upstream does with all of it (server.go getExec, getAttach, getPortForward).
import {
  createWireClient,
  isSpdyRequest,
  isWebSocketRequest,
  offeredSubprotocols,
  portForwardTunnelProtocol,
  proxyUpgrade,
  translateRemoteCommand,
  tunnelPortForward,
  type WireUpgrade,
} from '#wire';
import { findContainer } from '#component-helpers/pod';
import type { ServedKubelet } from './served.ts';
import type { RuntimeStreams } from '../container/runtime.ts';
import { findPod, RequestError, runningContainerId, statusOf } from './lookup.ts';

interface Target {
  url: string;
  kind: 'command' | 'portForward';
  options: { stdin: boolean; stdout: boolean; stderr: boolean; tty: boolean };
}

const on = (query: URLSearchParams, name: string, alias: string): boolean =>
  [name, alias].some((key) => ['1', 'true'].includes(query.get(key) ?? ''));

const streamOptions = (query: URLSearchParams): Target['options'] => {
  const tty = on(query, 'tty', 'tty');
  const options = {
    stdin: on(query, 'input', 'stdin'),
    stdout: on(query, 'output', 'stdout'),
    stderr: on(query, 'error', 'stderr') && !tty,
    tty,
  };
  if (!options.stdin && !options.stdout && !options.stderr)
    throw new RequestError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  return options;
};

function streamsOf(kubelet: ServedKubelet): RuntimeStreams {
  const { streams } = kubelet.parts.runtime;
  if (streams) return streams;
  // No colon: kubectl would take the text for a YAML mapping, and show nothing of it.
  throw new RequestError(501, 'the container runtime of this node is simulated, there is no process to connect to');
}

async function commandTarget(
  kubelet: ServedKubelet,
  kind: 'exec' | 'attach',
  path: readonly string[],
  query: URLSearchParams,
): Promise<Target> {
  const [namespace = '', name = '', ...rest] = path;
  const container = rest.at(-1) ?? '';
  const pod = findPod(kubelet, namespace, name, rest.length > 1 ? rest[0] : '');
  const streams = streamsOf(kubelet);
  const containerId = runningContainerId(pod, statusOf(kubelet, pod), container);
  const options = streamOptions(query);
  const url =
    kind === 'exec'
      ? await streams.exec(containerId, query.getAll('command'), options)
      : await streams.attach(containerId, { ...options, tty: findContainer(pod, container)?.tty ?? options.tty });
  return { url, kind: 'command', options };
}

async function forwardTarget(
  kubelet: ServedKubelet,
  [namespace = '', name = '', uid = '']: readonly string[],
  query: URLSearchParams,
): Promise<Target> {
  const pod = findPod(kubelet, namespace, name, uid);
  const streams = streamsOf(kubelet);
  const record = await kubelet.parts.runtime.get({ uid: pod.metadata.uid ?? '', namespace, name });
  const sandbox = record.sandboxes.find(({ ready }) => ready);
  if (sandbox === undefined) throw new RequestError(404, `pod not found ("${name}_${namespace}")`);
  const ports = query
    .getAll('port')
    .flatMap((text) => text.split(','))
    .map(Number);
  const options = { stdin: true, stdout: true, stderr: true, tty: false };
  return { url: await streams.portForward(sandbox.id, ports), kind: 'portForward', options };
}

/** Joins the two connections. Refusals of the runtime reach the client. */
async function join(upgrade: WireUpgrade, { url, kind, options }: Target): Promise<void> {
  const { origin, pathname, search } = new URL(url);
  const client = createWireClient({ baseUrl: origin });
  const target = { client, path: pathname + search };
  try {
    if (kind === 'command') await translateRemoteCommand(upgrade, { ...target, options });
    else if (isWebSocketRequest(upgrade) && offeredSubprotocols(upgrade).includes(portForwardTunnelProtocol))
      await tunnelPortForward(upgrade, target);
    else await proxyUpgrade(upgrade, target);
  } finally {
    client.close();
  }
}

export async function serveStream(
  kubelet: ServedKubelet,
  kind: string,
  path: readonly string[],
  upgrade: WireUpgrade,
): Promise<void> {
  const query = new URLSearchParams(upgrade.path.split('?')[1] ?? '');
  if (!isSpdyRequest(upgrade) && !isWebSocketRequest(upgrade))
    throw new RequestError(400, 'unable to upgrade: unsupported protocol');
  const target =
    kind === 'portForward'
      ? await forwardTarget(kubelet, path, query)
      : await commandTarget(kubelet, kind as 'exec' | 'attach', path, query);
  await join(upgrade, target);
}
