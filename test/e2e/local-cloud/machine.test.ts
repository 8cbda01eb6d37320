// The machine driver with real namespaces: what packets can do, what becomes of instances, and what is left afterwards.
import { createServer } from 'node:net';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeMachine } from '#cloud/machine';
import { edgeNetns, routerNetns } from '#cloud/model';
import { execCommand } from '#host';
import { startDriverProcess } from './driver-process.ts';
import { all, machinePicture, MachineWorld, mayTest, route, run, server } from './machine-world.ts';

describe.skipIf(mayTest)(`the machine driver${mayTest ? ` (${mayTest})` : ''}`, () => {
  let cloud: MachineWorld;
  let before: Record<string, string>;
  beforeEach(async () => {
    cloud = await MachineWorld.create();
    before = await machinePicture(cloud);
  });
  afterEach(async () => {
    await cloud.destroy();
    expect(await machinePicture(cloud)).toEqual(before);
  });

  /** A VPC with a subnet in each of two zones, and a server in each. */
  async function pair(more: { one?: Parameters<MachineWorld['machine']>[3]; two?: Parameters<MachineWorld['machine']>[3] } = {}) {
    const vpc = cloud.vpc('a');
    const subnets = [cloud.subnet('a', '1', '10.20.1.0/24'), cloud.subnet('a', '2', '10.20.2.0/24')] as const;
    const one = cloud.machine('one', subnets[0], '10.20.1.5', { command: server(80), ...more.one });
    const two = cloud.machine('two', subnets[1], '10.20.2.5', { command: server(80), ...more.two });
    await cloud.realise();
    await cloud.running(one, two);
    return { vpc, subnets, one, two };
  }

  it('boots instances in two subnets that reach each other, as computers of their own', async () => {
    const { one, two } = await pair();
    expect(await cloud.reached(one, '10.20.2.5', 80)).toBe('10.20.1.5');
    expect(await cloud.reached(two, '10.20.1.5', 80)).toBe('10.20.2.5');
    const { initPid = 0 } = cloud.instance(one);
    const inside = (...command: string[]) => run('nsenter', ['-t', String(initPid), '-a', ...command]);
    expect((await inside('hostname')).stdout).toBe('one\n');
    expect((await inside('cat', '/etc/resolv.conf')).stdout).toBe('nameserver 10.20.0.2\n');
    expect((await inside('ps', '-eo', 'pid,args')).stdout).toMatch(/^ +1 .*\/cloud\/pause .*i-one boots=1\n/m);
    expect((await inside('sh', '-c', 'cat /proc/self/cgroup')).stdout).not.toContain('sagong');
    const neighbours = await cloud.inside(one, 'ip', 'neigh');
    expect(neighbours.stdout).toContain('10.20.1.1 dev eth0');
    // An address that nobody has is unreachable at once, in the subnet and beyond.
    expect(await cloud.glimpsed(one, '10.20.2.99', 80)).toBeUndefined();
    expect((await cloud.inside(one, 'busybox', 'ping', '-c1', '-W1', '10.20.0.2')).code).toBe(0);
  });

  it('lets pass what security groups allow, and answers to it', async () => {
    const { one, two } = await pair();
    expect(await cloud.reached(one, '10.20.2.5', 80)).toBe('10.20.1.5');
    const closed = cloud.group('a', 'closed', []);
    await cloud.changeNic('eni-two', { securityGroupIds: [closed] });
    expect(await cloud.glimpsed(one, '10.20.2.5', 80)).toBeUndefined();
    expect(await cloud.seen(two, '10.20.1.5', 80)).toBe('10.20.2.5');
    // By the group of the source; pods behind a member count as it.
    const front = cloud.group('a', 'front', all);
    cloud.group('a', 'closed', [{ protocol: 'tcp', fromPort: 80, toPort: 80, groupId: front }]);
    await cloud.realise();
    expect(await cloud.glimpsed(one, '10.20.2.5', 80)).toBeUndefined();
    await cloud.changeNic('eni-one', { securityGroupIds: [front], sourceDestCheck: false });
    expect(await cloud.seen(one, '10.20.2.5', 80)).toBe('10.20.1.5');
    cloud.routes('a', route('10.244.1.0/24', { kind: 'instance', id: one }));
    await cloud.realise();
    await cloud.inside(one, 'ip', 'addr', 'add', '10.244.1.7/32', 'dev', 'lo');
    expect(await cloud.seen(one, '10.20.2.5', 80, { source: '10.244.1.7' })).toBe('10.244.1.7');
    cloud.group('a', 'closed', [
      { protocol: 'tcp', fromPort: 81, toPort: 90, groupId: front },
      { protocol: 'udp', cidr: '0.0.0.0/0' },
    ]);
    await cloud.realise();
    expect(await cloud.glimpsed(one, '10.20.2.5', 80)).toBeUndefined();
    // By prefix, and what may go out.
    cloud.group('a', 'closed', [{ protocol: 'tcp', fromPort: 80, toPort: 80, cidr: '10.20.1.0/24' }]);
    await cloud.realise();
    expect(await cloud.seen(one, '10.20.2.5', 80)).toBe('10.20.1.5');
    expect(await cloud.glimpsed(one, '10.20.2.5', 80, '10.244.1.7')).toBeUndefined();
    cloud.group('a', 'front', all, [{ protocol: 'tcp', cidr: '10.20.3.0/24' }]);
    await cloud.realise();
    expect(await cloud.glimpsed(one, '10.20.2.5', 80)).toBeUndefined();
    cloud.group('a', 'front', all, [{ protocol: 'tcp', groupId: closed }]);
    await cloud.realise();
    expect(await cloud.seen(one, '10.20.2.5', 80)).toBe('10.20.1.5');
  });

  it('drops packets that are neither from nor to an address, unless the check is off', async () => {
    const { one, two } = await pair();
    cloud.routes('a', route('10.244.1.0/24', { kind: 'instance', id: one }));
    await cloud.realise();
    expect(await cloud.reached(one, '10.20.2.5', 80)).toBe('10.20.1.5');
    await cloud.inside(one, 'ip', 'addr', 'add', '10.244.1.7/32', 'dev', 'lo');
    expect(await cloud.glimpsed(one, '10.20.2.5', 80, '10.244.1.7')).toBeUndefined();
    expect(await cloud.glimpsed(two, '10.244.1.7', 80)).toBeUndefined();
    await cloud.changeNic('eni-one', { sourceDestCheck: false });
    expect(await cloud.seen(one, '10.20.2.5', 80, { source: '10.244.1.7' })).toBe('10.244.1.7');
    expect(await cloud.seen(two, '10.244.1.7', 80)).toBe('10.20.2.5');
    // A black hole drops without a word; the VPC's own addresses cannot be routed away.
    cloud.routes('a', route('10.244.1.0/24', { kind: 'instance', id: one }, 'blackhole'));
    await cloud.realise();
    expect(await cloud.glimpsed(two, '10.244.1.7', 80)).toBeUndefined();
    const shown = await run('ip', ['-n', routerNetns(cloud.mark, 'vpc-a'), 'route', 'show', 'table', 'all', 'type', 'blackhole']);
    expect(shown.stdout).toContain('blackhole 10.244.1.0/24 table');
    cloud.routes('a', route('10.20.1.0/24', { kind: 'instance', id: two }));
    await cloud.realise();
    expect(await cloud.seen(two, '10.20.1.5', 80)).toBe('10.20.2.5');
  });

  it('has a way out through the edge, and public addresses one to one', async () => {
    const [edge, open, other] = [1, 10, 11].map((n) => cloud.publicCidr.replace('.0/24', `.${n}`));
    const { one, two } = await pair({ one: { nic: { publicAddress: open } } });
    expect(cloud.driver.noUplink).toBeUndefined();
    const outside = createServer((socket) => {
      socket.on('error', () => {});
      socket.end(`${socket.remoteAddress?.replace('::ffff:', '')}\n`);
    });
    await new Promise<void>((resolve) => outside.listen(0, '0.0.0.0', resolve));
    try {
      const link = (await run('ip', ['-4', '-o', 'addr', 'show', 'dev', `sg${cloud.mark}up`])).stdout;
      const machine = /inet ([\d.]+)/.exec(link)?.[1] ?? '';
      const { port } = outside.address() as { port: number };
      expect(await cloud.glimpsed(one, machine, port)).toBeUndefined();
      cloud.routes('a', route('0.0.0.0/0', { kind: 'internet-gateway' }));
      await cloud.realise();
      expect(await cloud.seen(one, machine, port)).toBe(open);
      expect(await cloud.seen(two, machine, port)).toBe(edge);
      expect(await cloud.reached(undefined, open ?? '', 80)).toBe(machine);
      // What lies behind an instance gets its answers, too.
      cloud.routes('a', route('0.0.0.0/0', { kind: 'internet-gateway' }), route('10.244.1.0/24', { kind: 'instance', id: two }));
      await cloud.changeNic('eni-two', { sourceDestCheck: false });
      await cloud.inside(two, 'ip', 'addr', 'add', '10.244.1.7/32', 'dev', 'lo');
      expect(await cloud.seen(two, machine, port, { source: '10.244.1.7' })).toBe(edge);
      // From inside, with and without a public address of its own, and by itself.
      expect(await cloud.seen(two, open ?? '', 80)).toBe(edge);
      expect(await cloud.seen(one, open ?? '', 80)).toBe(open);
      // The address moves.
      cloud.put('interfaces', { ...cloud.nicOf('eni-one'), publicAddress: undefined });
      await cloud.changeNic('eni-two', { publicAddress: open });
      expect(await cloud.seen(two, machine, port)).toBe(open);
      expect(await cloud.seen(one, machine, port)).toBe(edge);
      expect(await cloud.seen(one, open ?? '', 80)).toBe(edge);
      expect(await cloud.glimpsed(undefined, other ?? '', 80)).toBeUndefined();
    } finally {
      outside.close();
    }
  });

  it('keeps VPCs with the same addresses apart', async () => {
    const { one } = await pair();
    cloud.vpc('b');
    const other = cloud.machine('other', cloud.subnet('b', '1', '10.20.1.0/24'), '10.20.1.5', { command: server(81) });
    cloud.routes('a', route('0.0.0.0/0', { kind: 'internet-gateway' }));
    cloud.routes('b', route('0.0.0.0/0', { kind: 'internet-gateway' }));
    const third = cloud.machine('third', 'subnet-b1', '10.20.1.6');
    await cloud.realise();
    await cloud.running(other, third);
    expect(await cloud.reached(third, '10.20.1.5', 81)).toBe('10.20.1.6');
    expect(await cloud.glimpsed(third, '10.20.1.5', 80)).toBeUndefined();
    expect(await cloud.glimpsed(third, '10.20.2.5', 80)).toBeUndefined();
    expect(await cloud.glimpsed(one, '10.20.1.6', 22)).toBeUndefined();
    const shown = await run('ip', ['-n', routerNetns(cloud.mark, 'vpc-a'), '-o', '-4', 'addr', 'show', 'dev', 'edge']);
    const router = /inet ([\d.]+)/.exec(shown.stdout)?.[1] ?? '';
    expect((await cloud.inside(one, 'busybox', 'ping', '-c1', '-W1', router)).code).toBe(0);
    expect((await cloud.inside(third, 'busybox', 'ping', '-c1', '-W1', router)).code).not.toBe(0);
  });

  it('gives an interface without an instance a place of its own, with the same rules', async () => {
    const { one, two, subnets } = await pair();
    const admins = cloud.group('a', 'admins', all);
    cloud.nic('endpoint', subnets[0], '10.20.1.9', {
      securityGroupIds: [cloud.group('a', 'endpoint', [{ protocol: 'tcp', fromPort: 6443, toPort: 6443, groupId: admins }])],
    });
    await cloud.changeNic('eni-one', { securityGroupIds: [admins] });
    const sockets = await cloud.join(`sagong-${cloud.mark}-eni-endpoint`);
    try {
      const listening = await sockets.listen('10.20.1.9', 6443);
      const seen: (string | undefined)[] = [];
      const here = createServer((socket) => {
        seen.push(socket.remoteAddress);
        socket.on('error', () => {});
        socket.end('here\n');
      });
      here.listen(listening);
      expect(await cloud.seen(one, '10.20.1.9', 6443)).toBe('here');
      expect(seen).toEqual(['10.20.1.5']);
      expect(await cloud.glimpsed(two, '10.20.1.9', 6443)).toBeUndefined();
      await cloud.reached(two, '10.20.1.5', 80);
      const socket = await sockets.connect('10.20.2.5', 80);
      const text = await new Promise<string>((resolve, reject) =>
        socket
          .on('data', (chunk) => resolve(String(chunk)))
          .on('error', reject)
          .resume(),
      );
      expect(text).toBe('10.20.1.9\n');
      here.close();
    } finally {
      sockets.close();
    }
    cloud.remove('interfaces', 'eni-endpoint');
    await cloud.realise();
    expect((await machinePicture(cloud))['namespaces']).not.toContain('eni-endpoint');
  });

  it('stops, starts and reboots an instance, with the same address and disk', async () => {
    const script = 'echo boot >> boots; trap "echo bye >> boots; exit 0" TERM; while :; do sleep 0.05; done';
    const { one, two } = await pair({ one: { command: ['sh', '-c', script] } });
    const boots = () => readFile(join(cloud.dir, 'disks', 'one', 'boots'), 'utf8').catch(() => '');
    await cloud.until('the program runs', async () => (await boots()) === 'boot\n');
    await cloud.inside(one, 'ip', 'link', 'add', 'left', 'type', 'bridge');
    await cloud.change(one, { state: 'stopping' });
    await cloud.until('stopped', () => cloud.instance(one).state === 'stopped');
    expect(await boots()).toBe('boot\nbye\n');
    await cloud.realise();
    expect((await machinePicture(cloud))['namespaces']).not.toContain(one);
    expect(await cloud.glimpsed(two, '10.20.1.5', 80)).toBeUndefined();
    await cloud.change(one, { state: 'pending', boots: 2 });
    await cloud.running(one);
    expect((await cloud.inside(one, 'ip', '-o', '-4', 'addr', 'show', 'dev', 'eth0')).stdout).toContain('10.20.1.5/24');
    expect((await cloud.inside(one, 'ip', 'link')).stdout).not.toContain('left');
    await cloud.until('it runs again', async () => (await boots()) === 'boot\nbye\nboot\n');
    const { initPid } = cloud.instance(one);
    await cloud.inside(one, 'ip', 'link', 'add', 'left', 'type', 'bridge');
    await cloud.change(one, { boots: 3 });
    await cloud.until('rebooted', () => cloud.instance(one).initPid !== initPid);
    await cloud.until('it runs again', async () => (await boots()) === 'boot\nbye\nboot\nbye\nboot\n');
    expect((await cloud.inside(one, 'ip', 'link')).stdout).not.toContain('left');
    await cloud.change(one, { state: 'shutting-down' });
    await cloud.until('terminated', () => cloud.instance(one).state === 'terminated');
    expect(cloud.instance(two).state).toBe('running');
  });

  it('sees a power failure, starts an ended program again, and says why an instance does not boot', async () => {
    const { one, two } = await pair({ two: { command: ['sh', '-c', 'echo run >> runs; sleep 0.1; exit 3'] } });
    process.kill(cloud.instance(one).initPid ?? 0, 'SIGKILL');
    await cloud.until('stopped', () => cloud.instance(one).state === 'stopped');
    expect(cloud.instance(one).stateReason).toContain('power failure');
    await cloud.realise();
    expect((await machinePicture(cloud))['cgroups']).not.toContain(one);
    const runs = () => readFile(join(cloud.dir, 'disks', 'two', 'runs'), 'utf8').catch(() => '');
    await cloud.until('a second run', async () => (await runs()).startsWith('run\nrun\n'));
    expect(cloud.instance(two).state).toBe('running');
    const bad = cloud.machine('bad', 'subnet-a1', '10.20.1.7', { command: ['true'] });
    cloud.put('instances', { ...cloud.instance(bad), userData: { command: ['true'], directory: '/etc/hostname/disk' } });
    await cloud.realise();
    await cloud.until('stopped', () => cloud.instance(bad).state === 'stopped');
    expect(cloud.instance(bad).stateReason).toContain('/etc/hostname/disk');
    await cloud.change(one, { state: 'pending', boots: 2 });
    await cloud.running(one);
    expect(await cloud.reached(two, '10.20.1.5', 80)).toBe('10.20.2.5');
  });

  it('goes on after kill -9 of its process, without hurting instances', async () => {
    cloud.vpc('a');
    const one = cloud.machine('one', cloud.subnet('a', '1', '10.20.1.0/24'), '10.20.1.5', { command: server(80) });
    const two = cloud.machine('two', 'subnet-a1', '10.20.1.6', { command: server(80) });
    const gone = cloud.machine('gone', 'subnet-a1', '10.20.1.7', { command: server(80) });
    cloud.nic('endpoint', 'subnet-a1', '10.20.1.9');
    const process1 = await startDriverProcess(cloud.context, (observation) => cloud.observe(observation));
    try {
      await process1.realise(cloud.world);
      await cloud.running(one, two, gone);
      await cloud.reached(one, '10.20.1.6', 80);
    } finally {
      await process1.kill();
    }
    const programs = async () => (await run('pgrep', ['-f', `SAGONG_INSTANCE_DIR=${cloud.dir}`])).stdout.split('\n').length - 1;
    expect([await cloud.seen(one, '10.20.1.6', 80), await programs()]).toEqual(['10.20.1.5', 3]);
    const picture = await machinePicture(cloud);
    const pids = [one, two].map((id) => cloud.instance(id).initPid);
    // Meanwhile one was terminated, one has lost power, and somebody was at the router.
    const router = routerNetns(cloud.mark, 'vpc-a');
    const inRouter = (script: string) => run('nsenter', [`--net=/run/netns/${router}`, 'sh', '-ec', script]);
    const sabotage = [
      'ip route del 10.20.1.5; ip rule del pref 200 iif v-one; ip addr del 10.20.1.1/32 dev lo',
      'ip route add blackhole 10.99.0.0/16 table 77 proto 77; ip addr add 10.20.1.77/32 dev lo label lo:vpc',
      'iptables -F VPC-FORWARD; iptables -D FORWARD -j VPC-FORWARD; iptables -N VPC-WRONG; ip netns add ',
    ].join(';');
    expect(await inRouter(`${sabotage}sagong-${cloud.mark}-vpc-wrong`)).toMatchObject({ code: 0 });
    process.kill(cloud.instance(two).initPid ?? 0, 'SIGKILL');
    cloud.remove('instances', gone);
    cloud.remove('interfaces', 'eni-gone');
    await cloud.realise();
    await cloud.until('both run', () => cloud.observations.filter(({ kind }) => kind === 'instance-state').length >= 5);
    await cloud.running(one, two);
    expect(cloud.instance(one).initPid).toBe(pids[0]);
    expect(cloud.instance(two).initPid).not.toBe(pids[1]);
    expect([await cloud.reached(one, '10.20.1.6', 80), await programs()]).toEqual(['10.20.1.5', 2]);
    const after = await machinePicture(cloud);
    expect([after['rules'], after['links']]).toEqual([picture['rules'], picture['links']]);
    expect(after['namespaces']).not.toContain(gone);
    expect(after['cgroups']).not.toContain(gone);
    expect(after['namespaces']).not.toContain('wrong');
    const { stdout } = await inRouter('ip addr; ip rule; ip route show table all; iptables-save');
    for (const right of ['10.20.1.1/32', 'iif v-one', '10.20.1.5 dev v-one', '-A FORWARD -j VPC-FORWARD'])
      expect(stdout).toContain(right);
    for (const wrong of ['10.20.1.77', '10.99.0.0/16', 'WRONG', 'v-gone']) expect(stdout).not.toContain(wrong);
    // Still supervised: its program is started again, its power failure is seen.
    const inOne = async (...command: string[]) =>
      (await run('nsenter', ['-t', String(pids[0]), '-p', '-m', ...command])).stdout.trim().split('\n')[0] ?? '';
    const program = await inOne('pgrep', '-f', 'createServer');
    await inOne('kill', program);
    await cloud.until('another program', async () => !['', program].includes(await inOne('pgrep', '-f', 'createServer')));
    expect(await cloud.reached(two, '10.20.1.5', 80)).toBe('10.20.1.6');
    process.kill(pids[0] ?? 0, 'SIGKILL');
    await cloud.until('stopped', () => cloud.instance(one).state === 'stopped');
  });

  it('is removed after kill -9, however often', async () => {
    cloud.vpc('a');
    cloud.machine('one', cloud.subnet('a', '1', '10.20.1.0/24'), '10.20.1.5', { command: ['sleep', '1000'] });
    const crashing = await startDriverProcess(cloud.context, (observation) => cloud.observe(observation));
    try {
      await crashing.realise(cloud.world);
      await cloud.running('i-one');
    } finally {
      await crashing.kill();
    }
    expect((await machinePicture(cloud))['processes']).toContain('i-one');
    for (let i = 0; i < 2; i++) {
      await removeMachine(cloud.mark, { exec: execCommand, dir: cloud.dir });
      expect(await machinePicture(cloud)).toEqual(before);
    }
  });

  it('says why there is no way out, and works without', async () => {
    await run('ip', ['route', 'add', 'unreachable', cloud.publicCidr]);
    try {
      const { one } = await pair();
      expect(cloud.driver.noUplink).toContain(`another route for the public addresses: unreachable ${cloud.publicCidr}`);
      expect(await cloud.reached(one, '10.20.2.5', 80)).toBe('10.20.1.5');
      expect((await machinePicture(cloud))['rules']).toBe('');
    } finally {
      await run('ip', ['route', 'del', 'unreachable', cloud.publicCidr]);
    }
  });

  it('adds instances without hurting others, and puts right what is missing', async () => {
    const { one, two, subnets } = await pair();
    await cloud.reached(one, '10.20.2.5', 80);
    const stop = await cloud.traffic(one, two, '10.20.2.5');
    for (const n of [11, 12, 13]) {
      cloud.machine(`more${n}`, subnets[0], `10.20.1.${n}`);
      await cloud.realise();
    }
    cloud.group('a', 'new', all);
    await cloud.changeNic('eni-two', { securityGroupIds: ['sg-aall', 'sg-anew'] });
    cloud.remove('instances', 'i-more11');
    cloud.remove('interfaces', 'eni-more11');
    await cloud.realise();
    const { sent, lost } = await stop();
    expect(sent).toBeGreaterThan(0);
    expect(lost, `of ${sent}`).toBe(0);
    await cloud.running('i-more12', 'i-more13');
    await run('ip', ['netns', 'del', routerNetns(cloud.mark, 'vpc-a')]);
    await cloud.realise();
    expect(await cloud.reached(two, '10.20.1.5', 80)).toBe('10.20.2.5');
    await run('ip', ['netns', 'del', edgeNetns(cloud.mark)]);
    cloud.routes('a', route('0.0.0.0/0', { kind: 'internet-gateway' }));
    await cloud.changeNic('eni-two', { publicAddress: cloud.publicCidr.replace('.0/24', '.9') });
    expect(await cloud.reached(undefined, cloud.publicCidr.replace('.0/24', '.9'), 80)).toMatch(/^169\.254\./);
  });
});
