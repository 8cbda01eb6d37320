// Odd requests to every action of the emulated AWS, by somebody who has the key: the answer is a refusal of AWS's, and never a failure of the emulator itself.
import { createHash, createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { type Rng, seededRng } from '#utils';
import { webService } from './vendor-conformance.ts';
import { annotated, cluster, type EmulatedAws, emulatedAws, region } from './aws-world.ts';
import { ec2Actions } from '../../../src/cloud/emulators/aws/ec2/index.ts';
import { elbActions } from '../../../src/cloud/emulators/aws/elb/index.ts';
import { elbv2Actions } from '../../../src/cloud/emulators/aws/elbv2/index.ts';

const apis: Readonly<Record<string, { service: string; actions: readonly string[] }>> = {
  '2016-11-15': { service: 'ec2', actions: Object.keys(ec2Actions) },
  '2012-06-01': { service: 'elasticloadbalancing', actions: Object.keys(elbActions) },
  '2015-12-01': { service: 'elasticloadbalancing', actions: Object.keys(elbv2Actions) },
  '2011-06-15': { service: 'sts', actions: ['GetCallerIdentity', 'constructor'] },
};
const oddTexts = [
  '',
  'x',
  '-1',
  '0',
  '99999999999',
  '1e99',
  'NaN',
  '*',
  '__proto__',
  'i-',
  '\u0000',
  '%',
  '::/0',
  'x'.repeat(3_000),
];
const oddKeys = ['', '.', '1', '__proto__', 'member', 'constructor.1', '999999999999'];
const changesMax = 3;
const requestsEach = 4;

const pick = <T>(from: readonly T[], rng: Rng): T => from[rng.int(from.length)] as T;

/** The same parameters, some of them with another value or name, or left out. */
function spoiled(body: string, action: string, rng: Rng): string {
  const fields = [...new URLSearchParams(body)].filter(([key]) => key !== 'Action' && key !== 'Version');
  for (let count = 1 + rng.int(changesMax); count > 0 && fields.length > 0; count--) {
    const at = rng.int(fields.length);
    const [key, value] = fields[at] as [string, string];
    const parts = key.split('.');
    const renamed = parts.with(rng.int(parts.length), pick(oddKeys, rng)).join('.');
    const made: readonly [string, string][][] = [
      [],
      [[renamed, value]],
      [[key, pick(oddTexts, rng)]],
      [[key, pick(oddTexts, rng)]],
    ];
    fields.splice(at, 1, ...pick(made, rng));
  }
  const version = new URLSearchParams(body).get('Version') ?? '';
  return new URLSearchParams([['Action', action], ['Version', version], ...fields]).toString();
}

/** By hand, for no client of AWS's would send what is sent here. */
async function send({ key, server }: EmulatedAws, body: string): Promise<{ status: number; text: string }> {
  const { service = '' } = apis[new URLSearchParams(body).get('Version') ?? ''] ?? {};
  const { host } = new URL(server.url);
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, service, 'aws4_request'];
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const canonical = ['POST', '/', '', `host:${host}\nx-amz-date:${time}\n`, 'host;x-amz-date', sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const signing = scope.reduce<string | Buffer>(
    (made, part) => createHmac('sha256', made).update(part).digest(),
    `AWS4${key.secretAccessKey}`,
  );
  const signature = createHmac('sha256', signing).update(toSign).digest('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${key.accessKeyId}/${scope.join('/')}, SignedHeaders=host;x-amz-date, Signature=${signature}`;
  const answer = await fetch(server.url, { method: 'POST', headers: { 'x-amz-date': time, authorization }, body });
  return { status: answer.status, text: await answer.text() };
}

it('refuses what is odd, and works as before', async () => {
  const sent: string[] = [];
  const world = await emulatedAws({ onRequest: (body) => void sent.push(body) });
  try {
    for (const name of ['a', 'b']) await world.addInstance(name);
    const { cloud } = world;
    const nodes = ['a', 'b'].map((name) => world.node(name));
    const classic = webService({ loadBalancerSourceRanges: ['192.0.2.0/24'] });
    const network = annotated(webService(), { type: 'nlb' });
    network.metadata.uid = '6b1d6e3f-1111-4222-8333-944445555666';
    for (const service of [classic, network]) {
      await cloud.loadBalancer?.ensureLoadBalancer(cluster, service, nodes);
      await cloud.loadBalancer?.updateLoadBalancer(cluster, service, nodes.slice(0, 1));
    }
    const destinationCidr = '10.244.1.0/24';
    await cloud.routes?.createRoute(cluster, 'one', { name: '', targetNode: 'a', targetNodeAddresses: [], destinationCidr });
    const bodies = [...new Set(sent)];
    const rng = seededRng(1);
    const statuses = new Set<number>();
    const failures: unknown[] = [];
    const ask = async (body: string): Promise<void> => {
      const { status, text } = await send(world, body);
      statuses.add(status);
      if (status >= 500 || /MissingAuthenticationToken|IncompleteSignature|SignatureDoesNotMatch/.test(text))
        failures.push({ body: body.slice(0, 500), status, text });
    };
    for (const body of bodies)
      for (let count = 0; count < requestsEach; count++)
        await ask(spoiled(body, new URLSearchParams(body).get('Action') ?? '', rng));
    for (const [version, { actions }] of Object.entries(apis)) {
      const own = [...bodies.filter((body) => body.includes(`Version=${version}`)), `Version=${version}`];
      for (const action of actions)
        for (let count = 0; count < requestsEach; count++) await ask(spoiled(pick(own, rng), action, rng));
    }
    expect(failures).toEqual([]);
    expect([...statuses].sort()).toEqual([200, 400]);
    const another = webService();
    another.metadata.uid = '7b1d6e3f-1111-4222-8333-944445555666';
    expect(await cloud.loadBalancer?.ensureLoadBalancer(cluster, another, nodes)).toMatchObject({ ingress: [{}] });
  } finally {
    await world.close();
  }
});
