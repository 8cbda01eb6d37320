// moto (an emulator of AWS on PyPI) behind a small proxy: the proxy writes down what was called, fails on request, and turns what moto answers
// differently from AWS into what AWS answers, so that the provider needs to know nothing of emulators.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../support/ports.ts';

const version = '5.2.1';
const run = promisify(execFile);

/** Where it could not be installed it is not tried again for each file of tests. */
const triedLately = (mark: string): Promise<boolean> =>
  stat(mark).then(
    ({ mtimeMs }) => Date.now() - mtimeMs < 600_000,
    () => false,
  );

/** A Python that has moto, installed into a folder of its own when need be; undefined where that is not possible. */
export async function pythonWithMoto(): Promise<string | undefined> {
  const home = join(tmpdir(), `sagong-moto-${version}`);
  const python = join(home, 'bin', 'python');
  if (existsSync(python)) return python;
  if (spawnSync('python3', ['-m', 'venv', '--help']).status !== 0 || (await triedLately(`${home}.failed`))) return undefined;
  const draft = await mkdtemp(`${home}-`);
  try {
    await run('python3', ['-m', 'venv', draft]);
    const install = (wanted: string) =>
      run(join(draft, 'bin', 'python'), ['-m', 'pip', 'install', '-q', `moto[server]${wanted}`]);
    await install(`==${version}`).catch(() => install('>=5,<6'));
    // Whoever is first wins; the other's is as good.
    await rename(draft, home).catch(() => {});
    return existsSync(python) ? python : undefined;
  } catch {
    await writeFile(`${home}.failed`, '');
    return undefined;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

export type AwsService = 'ec2' | 'elb' | 'elbv2';
const versions: Record<AwsService, string> = { ec2: '2016-11-15', elb: '2012-06-01', elbv2: '2015-12-01' };

export interface Moto {
  /** Of the proxy. */
  url: string;
  /** Actions since the last `reset`, in their order. */
  calls: string[];
  /** The next calls of this action (default: one) fail with this code, without being done. */
  failNext(action: string, code: string, times?: number): void;
  /** Ids of terminated instances: routes to them lead nowhere, as in AWS. */
  gone: Set<string>;
  /** So many times, DeleteSecurityGroup says that the group is in use, as AWS does after a load balancer was deleted. */
  groupsBusy(times: number): void;
  /** Asks moto itself, past the proxy. The answer is XML. */
  query(service: AwsService, action: string, params?: Record<string, string>): Promise<string>;
  /** An empty account. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Contents of all elements of this name, innermost. */
export const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, content]) => content ?? '');
export const element = (xml: string, name: string): string => elements(xml, name)[0] ?? '';

/** Ingress rules of a security group: protocol, first port, sources. */
export const ingressIn = (xml: string): string[] =>
  [
    ...xml
      .replace(/<ipPermissionsEgress>.*?<\/ipPermissionsEgress>/gs, '')
      .matchAll(/<ipProtocol>(.*?)<\/ipProtocol>(.*?)<prefixListIds/gs),
  ]
    .map(([, protocol = '', rest = '']) =>
      [protocol, ...elements(rest, 'fromPort'), ...elements(rest, 'groupId'), ...elements(rest, 'cidrIp')].join(' '),
    )
    .sort();

const serviceOf = (params: URLSearchParams): AwsService =>
  (Object.keys(versions) as AwsService[]).find((service) => versions[service] === params.get('Version')) ?? 'ec2';

/** A route is one flat `item`. */
const withBlackholes = (xml: string, gone: ReadonlySet<string>): string =>
  xml.replace(/<item>(?:(?!<\/?item>).)*<\/item>/gs, (item) =>
    gone.has(element(item, 'instanceId')) ? item.replace('<state>active<', '<state>blackhole<') : item,
  );

/** What AWS shows of a classic load balancer before a health check was configured. */
const unsetHealthCheck =
  '<HealthCheck><Target>TCP:80</Target><Interval>30</Interval><Timeout>5</Timeout><UnhealthyThreshold>2</UnhealthyThreshold><HealthyThreshold>10</HealthyThreshold></HealthCheck>';

function asAws(xml: string, service: AwsService, gone: ReadonlySet<string>): string {
  if (xml.includes('<DescribeRouteTablesResponse')) return withBlackholes(xml, gone);
  if (service === 'elb')
    return xml.replace(
      /<\/ListenerDescriptions>(?=(?:(?!<HealthCheck>|<CreatedTime>).)*<CreatedTime>)/gs,
      `$&${unsetHealthCheck}`,
    );
  if (service !== 'elbv2') return xml;
  return xml
    .replace(/<DNSName>([^<.]+)\.([^<.]+)\.elb\.amazonaws\.com</g, '<DNSName>$1.elb.$2.amazonaws.com<')
    .replace(/(<Protocol>(?:TCP|UDP)<\/Protocol>\s*)<SslPolicy>[^<]*<\/SslPolicy>/g, '$1')
    .replace(/(<TargetGroupArn>[^<]*<\/TargetGroupArn>\s*)<SslPolicy>[^<]*<\/SslPolicy>/g, '$1')
    .replace(
      /(<DescribeTargetGroupAttributesResult>\s*<Attributes>)/,
      '$1<member><Key>preserve_client_ip.enabled</Key><Value>true</Value></member><member><Key>proxy_protocol_v2.enabled</Key><Value>false</Value></member>',
    );
}

const refusal = (service: AwsService, code: string): string => {
  const error = `<Code>${code}</Code><Message>${code}, says the test</Message>`;
  return service === 'ec2'
    ? `<Response><Errors><Error>${error}</Error></Errors><RequestID>test</RequestID></Response>`
    : `<ErrorResponse><Error><Type>Sender</Type>${error}</Error><RequestId>test</RequestId></ErrorResponse>`;
};

/** AWS has one load balancer of a name and one listener on a port; moto makes another. The code AWS refuses with. */
async function duplicateOf(query: Moto['query'], service: AwsService, params: URLSearchParams): Promise<string | undefined> {
  if (service !== 'elbv2') return undefined;
  if (params.get('Action') === 'CreateLoadBalancer') {
    const present = await query('elbv2', 'DescribeLoadBalancers');
    if (elements(present, 'LoadBalancerName').includes(params.get('Name') ?? '')) return 'DuplicateLoadBalancerName';
  }
  if (params.get('Action') === 'CreateListener') {
    const present = await query('elbv2', 'DescribeListeners', { LoadBalancerArn: params.get('LoadBalancerArn') ?? '' });
    if (elements(present, 'Port').includes(params.get('Port') ?? '')) return 'DuplicateListener';
  }
  return undefined;
}

/** moto does not notice when a listener gets another target group; the listeners know. Undefined: the question is asked as it is. */
async function targetGroupsOf(query: Moto['query'], service: AwsService, params: URLSearchParams): Promise<string | undefined> {
  const arn = params.get('LoadBalancerArn');
  if (service !== 'elbv2' || params.get('Action') !== 'DescribeTargetGroups' || arn === null) return undefined;
  const groups = new Set(elements(await query('elbv2', 'DescribeListeners', { LoadBalancerArn: arn }), 'TargetGroupArn'));
  if (groups.size === 0)
    return '<DescribeTargetGroupsResponse xmlns="http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/"><DescribeTargetGroupsResult><TargetGroups/></DescribeTargetGroupsResult></DescribeTargetGroupsResponse>';
  const members = [...groups].map((group, index) => [`TargetGroupArns.member.${index + 1}`, group]);
  return query('elbv2', 'DescribeTargetGroups', Object.fromEntries(members) as Record<string, string>);
}

/** moto deletes the wrong listeners when several are named, so they go one by one. */
function requestsFor(params: URLSearchParams): URLSearchParams[] {
  const ports = [...params.keys()].filter((key) => key.startsWith('LoadBalancerPorts.member.'));
  if (params.get('Action') !== 'DeleteLoadBalancerListeners' || ports.length < 2) return [params];
  return ports.map((key) => {
    const rest = [...params].filter(([name]) => !ports.includes(name));
    return new URLSearchParams([...rest, ['LoadBalancerPorts.member.1', params.get(key) ?? '']]);
  });
}

async function untilServing(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 1_800; attempt++) {
    if (child.exitCode !== null) throw new Error(`moto ended with ${child.exitCode}`);
    if (
      await fetch(`${url}/moto-api/`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('moto does not serve');
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
}

export async function startMoto(python: string): Promise<Moto> {
  const behind = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', new URL(behind).port], { stdio: 'ignore' });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const calls: string[] = [];
  const failures = new Map<string, { code: string; left: number }>();
  const gone = new Set<string>();
  let busy = 0;
  /** AWS does each change as a whole; moto's threads would make two of a thing that two ask for. */
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };

  function failureOf(action: string): string | undefined {
    const failure = failures.get(action);
    if (failure && failure.left-- > 0) return failure.code;
    return action === 'DeleteSecurityGroup' && busy-- > 0 ? 'DependencyViolation' : undefined;
  }
  const query: Moto['query'] = async (service, action, params = {}) => {
    const scope = `test/20200101/us-east-1/${service === 'ec2' ? 'ec2' : 'elasticloadbalancing'}/aws4_request`;
    const answer = await fetch(behind, {
      method: 'POST',
      headers: { authorization: `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=test` },
      body: new URLSearchParams({ Action: action, Version: versions[service], ...params }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${action}: ${text}`);
    return text;
  };
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const params = new URLSearchParams(body);
    const [action, service] = [params.get('Action') ?? '', serviceOf(params)];
    calls.push(action);
    const failure = failureOf(action);
    if (failure !== undefined) return void response.writeHead(400, { 'content-type': 'text/xml' }).end(refusal(service, failure));
    const headers = new Headers();
    for (const name of ['content-type', 'authorization', 'x-amz-date', 'x-amz-security-token']) {
      const value = request.headers[name];
      if (typeof value === 'string') headers.set(name, value);
    }
    const { status, text } = await inTurn(async () => {
      const duplicate = await duplicateOf(query, service, params);
      if (duplicate !== undefined) return { status: 400, text: refusal(service, duplicate) };
      const groups = await targetGroupsOf(query, service, params);
      if (groups !== undefined) return { status: 200, text: groups };
      let result = { status: 500, text: '' };
      for (const each of requestsFor(params)) {
        const answer = await fetch(behind, { method: 'POST', headers, body: each.toString() });
        result = { status: answer.status, text: await answer.text() };
      }
      return result;
    });
    response.writeHead(status, { 'content-type': 'text/xml' }).end(asAws(text, service, gone));
  }

  const proxy = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
  }).listen(0, '127.0.0.1');
  const stop = async (): Promise<void> => {
    proxy.closeAllConnections();
    proxy.close();
    process.off('exit', kill);
    if (child.exitCode !== null) return;
    kill();
    await once(child, 'exit');
  };
  try {
    await Promise.all([once(proxy, 'listening'), untilServing(behind, child)]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    calls,
    gone,
    failNext: (action, code, left = 1) => void failures.set(action, { code, left }),
    groupsBusy(times) {
      busy = times;
    },
    query,
    async reset() {
      await fetch(`${behind}/moto-api/reset`, { method: 'POST' });
      calls.length = 0;
      failures.clear();
      gone.clear();
      busy = 0;
    },
    stop,
  };
}
