// pods/exec, pods/attach and pods/portforward: the client's upgraded connection is passed on to the kubelet, translated where the client
// speaks WebSocket and the kubelet SPDY (KEP-4006, pkg/registry/core/pod/rest/subresources.go).
import type { UnknownObject } from '#apimachinery/meta';
import {
  isWebSocketRequest,
  offeredSubprotocols,
  portForwardTunnelProtocol,
  proxyUpgrade,
  translateRemoteCommand,
  tunnelPortForward,
  type WireUpgrade,
} from '#wire';
import { forbiddenError } from '../../../authorization/messages.ts';
import type { Authorizer } from '../../../authorization/types.ts';
import type { SpecialContext, SpecialRest } from '../../special.ts';
import { backendHeaders, requireExchange, requireUpgrade, unreachable } from '../node/forward.ts';
import type { KubeletClients } from '../node/kubelet-clients.ts';
import { containerOf, nodeOf, podOf } from './container.ts';

const closeProtocol = 'v5.channel.k8s.io';

const isTrue = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  return value !== null && value !== 'false' && value !== '0';
};

const commandOptions = (query: URLSearchParams) => ({
  stdin: isTrue(query, 'stdin'),
  stdout: isTrue(query, 'stdout'),
  stderr: isTrue(query, 'stderr'),
  tty: isTrue(query, 'tty'),
});

// A WebSocket comes as GET, which `get` would allow: what it does is create a session.
async function requireCreate(authorizer: Authorizer, { request, target }: SpecialContext) {
  if (request.method === 'POST') return;
  const attributes = { user: request.user, verb: 'create', target };
  const decision = await authorizer.authorize(attributes, request.cancellation);
  if (!decision.allowed) throw forbiddenError(attributes, decision.reason);
}

function kubeletQuery(query: URLSearchParams): string {
  const { stdin, stdout, stderr, tty } = commandOptions(query);
  const params = new URLSearchParams();
  for (const command of query.getAll('command')) params.append('command', command);
  if (stderr) params.set('error', '1');
  if (stdin) params.set('input', '1');
  if (stdout) params.set('output', '1');
  if (tty) params.set('tty', '1');
  return params.toString();
}

const offers = (upgrade: WireUpgrade, protocol: string): boolean =>
  isWebSocketRequest(upgrade) && offeredSubprotocols(upgrade).includes(protocol);

interface StreamingParts {
  kubelets: KubeletClients;
  authorizer: Authorizer;
}

async function command(
  { kubelets, authorizer }: StreamingParts,
  context: SpecialContext,
  verb: 'exec' | 'attach',
): Promise<'handled'> {
  await requireCreate(authorizer, context);
  const pod = podOf(context);
  const container = containerOf(pod, context.query.get('container') ?? '');
  const { client, hostPort } = kubelets.of(nodeOf(pod));
  const upgrade = requireUpgrade(requireExchange(context, `pods/${verb}`));
  const query = kubeletQuery(context.query);
  const path = `/${verb}/${context.target.namespace}/${context.target.name}/${container}${query === '' ? '' : `?${query}`}`;
  const target = { client, path, unreachable: unreachable(hostPort) };
  if (offers(upgrade, closeProtocol))
    await translateRemoteCommand(upgrade, { ...target, options: commandOptions(context.query) });
  else await proxyUpgrade(upgrade, { ...target, headers: backendHeaders(upgrade.headers) });
  return 'handled';
}

async function portForward({ kubelets, authorizer }: StreamingParts, context: SpecialContext): Promise<'handled'> {
  await requireCreate(authorizer, context);
  const { client, hostPort } = kubelets.of(nodeOf(podOf(context)));
  const upgrade = requireUpgrade(requireExchange(context, 'pods/portforward'));
  const ports = context.query.getAll('ports').join(',');
  const path = `/portForward/${context.target.namespace}/${context.target.name}${ports === '' ? '' : `?port=${encodeURIComponent(ports)}`}`;
  const target = { client, path, unreachable: unreachable(hostPort) };
  if (offers(upgrade, portForwardTunnelProtocol)) await tunnelPortForward(upgrade, target);
  else await proxyUpgrade(upgrade, { ...target, headers: backendHeaders(upgrade.headers) });
  return 'handled';
}

function endpoint(
  subresource: string,
  kind: string,
  options: (query: URLSearchParams) => object,
  handle: SpecialRest['handle'],
): SpecialRest {
  return {
    group: '',
    version: 'v1',
    resource: 'pods',
    subresource,
    namespaced: true,
    methods: ['GET', 'POST'],
    kind: { group: '', version: 'v1', kind },
    connectOptions: (query) => ({ apiVersion: 'v1', kind, metadata: {}, ...options(query) }) as unknown as UnknownObject,
    handle,
  };
}

/** Makes the endpoints pods/exec, pods/attach and pods/portforward. */
export function streamingEndpoints(kubelets: KubeletClients, authorizer: Authorizer): SpecialRest[] {
  const parts = { kubelets, authorizer };
  const container = (query: URLSearchParams) => {
    const name = query.get('container');
    return { ...commandOptions(query), ...(name && { container: name }) };
  };
  return [
    endpoint(
      'exec',
      'PodExecOptions',
      (query) => ({ ...container(query), command: query.getAll('command') }),
      (context) => command(parts, context, 'exec'),
    ),
    endpoint('attach', 'PodAttachOptions', container, (context) => command(parts, context, 'attach')),
    endpoint(
      'portforward',
      'PodPortForwardOptions',
      (query) => ({ ports: query.getAll('ports').flatMap((text) => text.split(',').map(Number)) }),
      (context) => portForward(parts, context),
    ),
  ];
}
