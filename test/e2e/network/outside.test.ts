// What pods know and reach beyond themselves: names, images in registries, and the machine through the uplink.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { decode, encode } from 'dns-packet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, type Output, run, TestCluster } from '../cluster/harness.ts';

const image = 'sagong.local/tools:1';
let cluster: TestCluster;
let upstream: Socket;
const registries: ChildProcess[] = [];

const pod = (name: string, spec: string, labels = '{}'): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: ${labels}}
spec:
  terminationGracePeriodSeconds: 1
  ${spec}
---
`;
const sleeper = (from: string, policy: string): string =>
  `containers: [{name: main, image: "${from}", imagePullPolicy: ${policy}, command: [sleep, "3600"]}]`;
const exec = (...words: string[]): Promise<Output> => cluster.tryKubectl('exec', 'tools', '--', ...words);
const lookup = async (type: string, name: string): Promise<string> =>
  (await exec('nslookup', `-type=${type}`, name)).stdout.split('\n').slice(3).join('\n');

/** The one name the outside world knows: `outside.example`. */
async function startUpstream(): Promise<number> {
  upstream = createSocket('udp4');
  upstream.on('error', () => {});
  upstream.on('message', (message, { port, address }) => {
    const query = decode(message);
    const [question] = query.questions ?? [];
    const known = question?.name === 'outside.example' && question.type === 'A';
    const reply = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: known ? 0x0180 : 0x0183,
      questions: query.questions ?? [],
      answers: known ? [{ type: 'A', name: 'outside.example', ttl: 60, data: '192.0.2.7' }] : [],
    });
    upstream.send(reply, port, address);
  });
  upstream.bind(0, '127.0.0.1');
  await once(upstream, 'listening');
  return upstream.address().port;
}

/** A registry in the nodes' network, at 10.77.0.10. */
async function startRegistry(port: number, auth = ''): Promise<void> {
  const dir = join(cluster.home, `registry-${port}`);
  await mkdir(dir);
  const config = `version: 0.1\nstorage: {filesystem: {rootdirectory: ${dir}/data}}\nhttp: {addr: "10.77.0.10:${port}"}\n${auth}`;
  await writeFile(join(dir, 'config.yml'), config);
  registries.push(
    spawn('nsenter', [await cluster.lanNetns(), 'docker-registry', 'serve', join(dir, 'config.yml')], { stdio: 'ignore' }),
  );
  await eventually('the registry', async () => {
    const { code, stderr } = await cluster.inLan('busybox', 'wget', '-qO-', `http://10.77.0.10:${port}/v2/`);
    return code === 0 || stderr.includes('401');
  });
}

async function push(reference: string, ...options: string[]): Promise<void> {
  const ctr = ['ctr', '--address', join(cluster.dataDir, 'nodes/node-1/containerd/containerd.sock'), '--namespace', 'k8s.io'];
  for (const words of [
    ['images', 'tag', '--force', image, reference],
    ['images', 'push', '--plain-http', ...options, reference],
    ['images', 'rm', reference],
  ]) {
    const output = await cluster.inLan(...ctr, ...words);
    if (output.code !== 0) throw new Error(`ctr ${words.join(' ')}: ${output.stdout}${output.stderr}`);
  }
}

const waiting = (name: string): Promise<string> =>
  cluster.kubectl('get', 'pod', name, '-o', 'jsonpath={.status.containerStatuses[0].state.waiting}');
const eventsOf = (name: string): Promise<string> =>
  cluster.kubectl('get', 'events', '--field-selector', `involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].message}');

beforeAll(async () => {
  cluster = await TestCluster.create();
  const port = await startUpstream();
  const mirrors = ['http://10.77.0.10:5000', '10.77.0.10:5001=http://10.77.0.10:5001'];
  await cluster.up(
    '--nodes',
    '1',
    '--dns-upstream',
    `127.0.0.1:${port}`,
    ...mirrors.flatMap((mirror) => ['--registry-mirror', mirror]),
  );
  await cluster.loadBusybox(image);
  await eventually('the default service account', () => cluster.kubectl('get', 'serviceaccount', 'default'));
  await cluster.apply(
    [
      pod('tools', sleeper(image, 'Never')),
      pod('db-0', `hostname: db-0\n  subdomain: db\n  ${sleeper(image, 'Never')}`, '{app: db}'),
      pod('db-1', `hostname: db-1\n  subdomain: db\n  ${sleeper(image, 'Never')}`, '{app: db}'),
      'apiVersion: v1\nkind: Service\nmetadata: {name: db}\nspec: {clusterIP: None, selector: {app: db}, ports: [{name: sql, port: 5432}]}\n---\n',
      'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: db}, ports: [{name: http, port: 80}]}\n---\n',
      'apiVersion: v1\nkind: Service\nmetadata: {name: away}\nspec: {type: ExternalName, externalName: outside.example}\n',
    ].join(''),
  );
  await cluster.kubectl('wait', 'pod', '--all', '--for', 'condition=Ready', '--timeout', '60s');
});
afterAll(async () => {
  for (const child of registries) child.kill();
  await cluster?.destroy();
  upstream?.close();
});

describe('names', () => {
  it('of headless services are the addresses of their pods', async () => {
    const ips = (await cluster.kubectl('get', 'pods', '-l', 'app=db', '-o', 'jsonpath={.items[*].status.podIP}'))
      .split(' ')
      .sort();
    const found = await eventually('both addresses', async () => {
      const addresses = [...(await lookup('a', 'db.default.svc.cluster.local')).matchAll(/Address: (\S+)/g)].map(([, ip]) => ip);
      return addresses.length === 2 && addresses;
    });
    expect(found.sort()).toEqual(ips);
    expect(ips).toContain(/Address: (\S+)/.exec(await lookup('a', 'db-1.db.default.svc.cluster.local'))?.[1]);
  });

  it('of ports are SRV records', async () => {
    const text = await lookup('srv', '_sql._tcp.db.default.svc.cluster.local');
    for (const host of ['db-0', 'db-1'])
      expect(text).toMatch(new RegExp(`service = 0 \\d+ 5432 ${host}\\.db\\.default\\.svc\\.cluster\\.local`));
  });

  it('are found by address', async () => {
    const [web, dns] = await Promise.all(
      [['web'], ['kube-dns', '-n', 'kube-system']].map((which) =>
        cluster.kubectl('get', 'service', ...which, '-o', 'jsonpath={.spec.clusterIP}'),
      ),
    );
    expect((await exec('nslookup', web ?? '')).stdout).toContain('name = web.default.svc.cluster.local');
    expect((await exec('nslookup', dns ?? '')).stdout).toContain('name = kube-dns.kube-system.svc.cluster.local');
  });

  it('outside the cluster come from the machine, also by ExternalName', async () => {
    expect(await lookup('a', 'outside.example')).toContain('Address: 192.0.2.7');
    const away = await lookup('a', 'away.default.svc.cluster.local');
    expect(away).toContain('canonical name = outside.example');
    expect(away).toContain('Address: 192.0.2.7');
  });

  it('that are nobody’s do not exist', async () => {
    for (const name of ['absent.default.svc.cluster.local', 'absent.example'])
      expect((await exec('nslookup', name)).stdout).toContain(`server can't find ${name}: NXDOMAIN`);
  });
});

describe('images', () => {
  beforeAll(async () => {
    // The password is "secret".
    const users = join(cluster.home, 'users');
    await writeFile(users, 'team:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n');
    await Promise.all([startRegistry(5000), startRegistry(5001, `auth: {htpasswd: {realm: test, path: ${users}}}\n`)]);
    await push('10.77.0.10:5000/team/app:1');
    await push('10.77.0.10:5001/team/app:1', '--user', 'team:secret');
  });

  it('are pulled as their policy says', async () => {
    // Any registry's name leads to the mirror.
    const name = 'registry.example/team/app:1';
    await cluster.apply(pod('never-early', sleeper(name, 'Never')));
    await eventually('refused', async () => (await waiting('never-early')).includes('ErrImageNeverPull'));
    expect(await waiting('never-early')).toContain(`Container image \\"${name}\\" is not present with pull policy of Never`);
    await cluster.apply(pod('always', sleeper(name, 'Always')));
    await cluster.kubectl('wait', 'pod', 'always', '--for', 'condition=Ready', '--timeout', '60s');
    expect(await eventsOf('always')).toContain(`Successfully pulled image "${name}" in `);
    await cluster.apply(pod('present', sleeper(name, 'IfNotPresent')) + pod('never', sleeper(name, 'Never')));
    await cluster.kubectl('wait', 'pod', 'present', 'never', '--for', 'condition=Ready', '--timeout', '60s');
    expect(await eventsOf('present')).toContain(`Container image "${name}" already present on machine`);
    expect(await cluster.kubectl('get', 'pod', 'always', '-o', 'jsonpath={.status.containerStatuses[0].imageID}')).toMatch(
      /@sha256:/,
    );
  });

  it('that are absent are tried again after a pause', async () => {
    const name = 'registry.example/team/absent:1';
    await cluster.apply(pod('absent', sleeper(name, 'IfNotPresent')));
    await eventually('ErrImagePull', async () => (await eventsOf('absent')).includes('Error: ErrImagePull'));
    // Its state goes to and fro between the two.
    const state = await eventually('ImagePullBackOff', async () => {
      const now = await waiting('absent');
      return now.includes('"ImagePullBackOff"') && now;
    });
    expect(state).toContain(`Back-off pulling image \\"${name}\\": ErrImagePull: `);
    const events = await eventually('all events', async () => {
      const now = await eventsOf('absent');
      return now.includes(`Back-off pulling image "${name}"`) && now;
    });
    expect(events).toContain(`Failed to pull image "${name}": `);
    // The mirror has none, so the registry itself was asked, which nobody has heard of.
    expect(events).toContain('https://registry.example/v2/team/absent/manifests/1');
  });

  it('of a private registry need a secret', async () => {
    const name = '10.77.0.10:5001/team/app:1';
    await cluster.apply(pod('stranger', sleeper(name, 'Always')));
    await eventually('refused', async () =>
      /authorization failed|401 Unauthorized|no basic auth/.test(await eventsOf('stranger')),
    );
    const words =
      'create secret docker-registry team --docker-server 10.77.0.10:5001 --docker-username team --docker-password secret';
    await cluster.kubectl(...words.split(' '));
    await cluster.apply(pod('member', `imagePullSecrets: [{name: team}]\n  ${sleeper(name, 'Always')}`));
    await cluster.kubectl('wait', 'pod', 'member', '--for', 'condition=Ready', '--timeout', '60s');
  });
});

describe('the uplink', () => {
  const onMachine = async (): Promise<string> =>
    [(await run('ip', ['-o', 'addr'])).stdout, (await run('iptables-save', [])).stdout]
      .join('\n')
      .split('\n')
      .filter((line) => line.includes(`sg${cluster.mark}`) || line.includes(`SAGONG-${cluster.mark}`))
      .join('\n');

  it('leads nodes and pods to the machine, which sees one address', async () => {
    const address = /inet ([\d.]+)\/30/.exec(
      (await run('ip', ['-4', '-o', 'addr', 'show', 'dev', `sg${cluster.mark}up`])).stdout,
    )?.[1];
    expect(address).toMatch(/^169\.254\./);
    const seen: (string | undefined)[] = [];
    const server = createServer(({ socket }, response) => {
      seen.push(socket.remoteAddress);
      response.end('the machine\n');
    }).listen(0, address);
    await once(server, 'listening');
    try {
      const url = `http://${address}:${(server.address() as AddressInfo).port}/`;
      const wget = ['busybox', 'timeout', '20', 'busybox', 'wget', '-qO-', url];
      expect((await cluster.inLan(...wget)).stdout).toBe('the machine\n');
      expect((await cluster.inNode(1, ...wget)).stdout).toBe('the machine\n');
      expect((await exec(...wget)).stdout).toBe('the machine\n');
      // The first public address is the edge's own.
      const { publicCidr } = JSON.parse(await readFile(join(cluster.dataDir, 'cloud/cloud.json'), 'utf8')) as {
        publicCidr: string;
      };
      const edge = publicCidr.replace('.0/24', '.1');
      expect(seen).toEqual([edge, edge, edge]);
    } finally {
      server.close();
    }
  });

  it('leads the machine to node ports of nodes with public addresses, and to nothing else of them', async () => {
    await cluster.sagong('down');
    await cluster.up('--node-addresses', 'public');
    await cluster.loadBusybox(image);
    await cluster.apply(
      pod('web', `containers: [{name: main, image: "${image}", command: [httpd, -f, -p, "80", -h, /etc]}]`, '{app: web}'),
    );
    await cluster.kubectl('expose', 'pod', 'web', '--type', 'NodePort', '--port', '80');
    const output = '-o=jsonpath={.items[0].status.addresses[?(@.type=="ExternalIP")].address}';
    const address = await cluster.kubectl('get', 'nodes', output);
    expect(address).toMatch(/^198\.1[89]\./);
    const port = await cluster.kubectl('get', 'service', 'web', '-o=jsonpath={.spec.ports[0].nodePort}');
    const get = (where: string): Promise<Output> => run('curl', ['-sS', '-k', '-m', '2', where]);
    await eventually('an answer', async () => (await get(`http://${address}:${port}/hostname`)).stdout.trim() === 'web');
    expect((await get(`https://${address}:10250/healthz`)).code).not.toBe(0);
  });

  it('leaves the machine as it was, also after a crash', async () => {
    const forwarding = (): Promise<string> => readFile('/proc/sys/net/ipv4/ip_forward', 'utf8');
    const before = await forwarding();
    expect(await onMachine()).toMatch(/-A SAGONG-\w+ .* -j MASQUERADE/);
    process.kill(await cluster.pid(), 'SIGKILL');
    await cluster.sagong('stop');
    expect(await onMachine()).toBe('');
    await cluster.up();
    expect(await onMachine()).toContain('169.254.');
    await cluster.sagong('stop');
    expect(await onMachine()).toBe('');
    await cluster.up('--uplink', 'none');
    expect(await onMachine()).toBe('');
    expect(await forwarding()).toBe(before);
  });
});
