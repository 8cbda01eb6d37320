// pods/log: read from the kubelet and passed on as it comes (pkg/registry/core/pod/rest/log.go).
import { badRequest, genericServerResponse, internalError, invalidObject, plainError } from '#apimachinery/errors';
import { type FieldError, forbidden, invalid, notSupported, type Path, root } from '#apimachinery/field';
import { dialErrorText, isWebSocketRequest, sendOverWebSocket } from '#wire';
import type { SpecialContext, SpecialRest } from '../../special.ts';
import { pump, requireExchange } from '../node/forward.ts';
import type { KubeletClients } from '../node/kubelet-clients.ts';
import { containerOf, podOf } from './container.ts';

/** A refusal of the kubelet is shown up to this many bytes. */
const refusalBytesMax = 10_000;

const isTrue = (value: string | null): boolean => value !== null && value !== 'false' && value !== '0';

function integer(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const number = Number(text);
  if (!Number.isInteger(number)) {
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  return number;
}

interface LogOptions {
  tailLines?: number;
  limitBytes?: number;
  sinceSeconds?: number;
  sinceTime?: string;
  stream: string;
}

function readOptions(query: URLSearchParams): LogOptions {
  const sinceTime = query.get('sinceTime');
  return {
    tailLines: integer(query, 'tailLines'),
    limitBytes: integer(query, 'limitBytes'),
    sinceSeconds: integer(query, 'sinceSeconds'),
    ...(sinceTime && { sinceTime }),
    stream: query.get('stream') || 'All',
  };
}

const below = (path: Path, value: number | undefined, least: number, why: string): FieldError[] =>
  value !== undefined && value < least ? [invalid(path, value, why)] : [];

const streams = ['All', 'Stderr', 'Stdout'];

function optionErrors(options: LogOptions): FieldError[] {
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  // Upstream reports exclusive options against the empty path, which prints as brackets.
  const exclusive = (why: string): FieldError => ({ ...forbidden(root(''), why), field: '[]' });
  return [
    ...below(root('tailLines'), tailLines, 0, 'must be greater than or equal to 0'),
    ...below(root('limitBytes'), limitBytes, 1, 'must be greater than 0'),
    ...(sinceSeconds !== undefined && sinceTime !== undefined
      ? [exclusive('at most one of `sinceTime` or `sinceSeconds` may be specified')]
      : below(root('sinceSeconds'), sinceSeconds, 1, 'must be greater than 0')),
    ...(streams.includes(stream) ? [] : [notSupported(root('stream'), stream, streams)]),
    ...(stream !== 'All' && tailLines !== undefined
      ? [exclusive('`tailLines` and specific `stream` are mutually exclusive for now')]
      : []),
  ];
}

function kubeletQuery(query: URLSearchParams, { tailLines, limitBytes, sinceSeconds, sinceTime, stream }: LogOptions): string {
  const params = new URLSearchParams();
  for (const flag of ['follow', 'previous', 'timestamps']) if (isTrue(query.get(flag))) params.set(flag, 'true');
  for (const [name, value] of Object.entries({ limitBytes, sinceSeconds, sinceTime, tailLines })) {
    if (value !== undefined) params.set(name, String(value));
  }
  params.set('stream', stream);
  params.sort();
  return params.toString();
}

async function stream(context: SpecialContext, kubelets: KubeletClients): Promise<'handled'> {
  const exchange = requireExchange(context, 'pods/log');
  const options = readOptions(context.query);
  const errors = optionErrors(options);
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, context.target.name, errors);
  const pod = podOf(context);
  const container = containerOf(pod, context.query.get('container') ?? '');
  const nodeName = pod.spec?.nodeName;
  if (!nodeName) {
    exchange.respond(204, {}).end();
    return 'handled';
  }
  const { client, hostPort } = kubelets.of(nodeName);
  const path = `/containerLogs/${context.target.namespace}/${context.target.name}/${container}?${kubeletQuery(context.query, options)}`;
  const answer = await client.request({ path, signal: context.request.cancellation.signal }).catch((error: Error) => {
    throw plainError(`Get "https://${hostPort}${path}": ${dialErrorText(error, hostPort)}`);
  });
  if (answer.status < 200 || answer.status > 206) {
    const text = await answer.text(refusalBytesMax).catch(() => '');
    if (answer.status === 500) throw internalError(text);
    if (answer.status === 400) throw badRequest(text);
    throw genericServerResponse({
      code: answer.status,
      method: 'GET',
      resource: { group: '', resource: 'pods/log' },
      name: context.target.name,
      text,
    });
  }
  if (exchange.upgrade && isWebSocketRequest(exchange.upgrade)) await sendOverWebSocket(exchange.upgrade, answer.body);
  else await pump(answer.body, exchange.respond(200, { 'content-type': 'text/plain' }));
  return 'handled';
}

/** Makes the endpoint pods/log. */
export const logEndpoint = (kubelets: KubeletClients): SpecialRest => ({
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: 'log',
  namespaced: true,
  methods: ['GET'],
  kind: { group: '', version: 'v1', kind: 'Pod' },
  handle: (context) => stream(context, kubelets),
});
