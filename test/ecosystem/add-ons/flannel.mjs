// The network of pods: flannel on nodes that have none.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imagesIn, loadImages } from '../lib/images.mjs';
import { loadApp, nodesOf, pod, service, web } from './pods.mjs';
import { addOnPrograms, versions } from './programs.mjs';
import { buildTimeoutMs } from '../lib/programs.mjs';

const version = 'v0.28.10';

/** The backend of Tencent Cloud needs a module that the proxy does not have: flanneld is built without that one. */
async function daemonOf({ cache, goCopy, must }) {
  const programs = { '/opt/bin/flanneld': join(cache, `flanneld-${version}`), '/opt/bin/install-conf': join(cache, `install-conf-${version}`) };
  if (Object.values(programs).every((path) => existsSync(path))) return programs;
  const copy = await goCopy(`github.com/flannel-io/flannel@${version}`);
  const main = join(copy, 'main.go');
  writeFileSync(main, readFileSync(main, 'utf8').replace(/^.*pkg\/backend\/tencentvpc.*\n/m, ''));
  const build = (out, path, flags, CGO_ENABLED) => must('go', ['build', '-trimpath', ...flags, '-o', out, path], { cwd: copy, env: { CGO_ENABLED }, timeoutMs: buildTimeoutMs });
  // Its UDP backend is written in C.
  await build(programs['/opt/bin/flanneld'], '.', ['-ldflags', '-s -w -extldflags "-static"'], '1');
  await build(programs['/opt/bin/install-conf'], './cmd/install_conf', [], '0');
  return programs;
}

const tools = ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables', 'ip6tables-save', 'ip6tables-restore', 'ip'];

export const flannel = {
  what: 'network: kube-flannel.yml (vxlan) on --cni none: nodes become Ready, pods of two nodes reach each other, by address and by name',
  version,
  cluster: 'machines',
  async run(context) {
    const { goModule, must, kubectl, apply, eventually, sagong, place } = context;
    const nodes = await nodesOf(kubectl);
    const before = await kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].message}');
    if (!before.includes('cni plugin not initialized')) throw new Error(`nodes have a network already: ${before}`);
    const { bin } = await addOnPrograms(context, ['flannel-plugin']);
    const manifest = join(await goModule(`github.com/flannel-io/flannel@${version}`), 'Documentation/kube-flannel.yml');
    const [plugin, daemon] = imagesIn(readFileSync(manifest, 'utf8'));
    await loadImages(context, [
      { reference: plugin, programs: { '/flannel': join(bin, 'flannel-plugin') } },
      { reference: daemon, programs: await daemonOf(context), beside: tools },
    ]);
    await loadApp(context);
    await kubectl('apply', '-f', manifest);
    await kubectl('wait', 'nodes', '--all', '--for=condition=Ready', '--timeout=180s');
    await kubectl('rollout', 'status', '-n', 'kube-flannel', 'daemonset/kube-flannel-ds', '--timeout=180s');
    await apply(web('web', { node: nodes[0] }));
    await apply(service('web'));
    await apply(pod('asks', 'exec sleep 100000', { node: nodes[1] }));
    await kubectl('wait', 'pod/web', 'pod/asks', '--for=condition=Ready', '--timeout=120s');
    const address = await kubectl('get', 'pod', 'web', '-o', 'jsonpath={.status.podIP}');
    const answer = (host) => kubectl('exec', 'asks', '--', 'timeout', '5', 'wget', '-qO-', `http://${host}`);
    for (const host of [address, 'web.default.svc.cluster.local'])
      await eventually(`asks reaches ${host}`, async () => (await answer(host)).trim() === 'web');
    for (const node of nodes) {
      const seen = await must(process.execPath, [sagong, 'node', 'shell', node, ...place, '--', 'sh', '-c', 'ls /etc/cni/net.d; ip -d link show flannel.1']);
      if (!seen.includes('10-flannel.conflist') || !seen.includes('vxlan id 1')) throw new Error(`${node} has not flannel's network:\n${seen}`);
    }
    await kubectl('delete', 'pod/web', 'pod/asks', 'service/web');
    return { result: 'works', differs: `built without the backend of Tencent Cloud; its CNI plugin is ${versions.flannelPlugin}` };
  },
};
