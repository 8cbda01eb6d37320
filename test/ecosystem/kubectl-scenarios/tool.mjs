// Upstream's own scenarios of kubectl: the shell scripts of test/cmd in Kubernetes' Go module, against our kube-apiserver and kube-controller-manager, each
// started alone. With WHAT some of them are run, and the row keeps what it knows of the others. With SAGONG_UPSTREAM_BIN and etcd, what fails is run on
// upstream's kube-apiserver, too.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../lib/ports.mjs';
import { buildTimeoutMs } from '../lib/programs.mjs';
import { publish } from './published.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const pinned = join(here, '../../conformance/go');
const version = 'v1.36.2';
const parts = ['hack/lib', 'hack/testdata', 'test/cmd', 'test/fixtures', 'test/e2e/testing-manifests', 'third_party/forked/shell2junit'];
const scenariosTimeoutMs = 3_600_000;

/** What the scripts need of the sources, with programs where they look for them. Modules keep no modes: plugins are made executable again. */
async function sourcesIn(context) {
  const { goModule, must, work, cache } = context;
  const folder = join(work, 'kubernetes');
  if (existsSync(folder)) return folder;
  const from = await goModule(`k8s.io/kubernetes@${version}`);
  for (const part of parts) cpSync(join(from, part), join(folder, part), { recursive: true });
  await must('chmod', ['-R', 'u+w', folder]);
  for (const [at, to] of [['test/fixtures/pkg/kubectl/plugins', 'a+x'], ['hack/testdata', 'a+rX']]) await must('chmod', ['-R', to, join(folder, at)]);
  const bin = join(folder, '_output/bin');
  mkdirSync(bin, { recursive: true });
  const at = 'k8s.io/component-base/version';
  const flags = ['-ldflags', `-s -w -X ${at}.gitVersion=${version} -X ${at}.gitMajor=1 -X ${at}.gitMinor=36`];
  for (const name of ['kubectl', 'kubectl-convert']) {
    const program = join(cache, `${name}-${version}`);
    // In the module that pins the conformance suite: programs of Kubernetes cannot be built in its own, which has no folder of what it vendors.
    if (!existsSync(program)) await must('go', ['build', '-trimpath', ...flags, '-o', program, `k8s.io/kubernetes/cmd/${name}`], { cwd: pinned, timeoutMs: buildTimeoutMs });
    cpSync(program, join(bin, name));
  }
  return folder;
}

const kubeconfig = (url) => `apiVersion: v1
kind: Config
clusters: [{name: a, cluster: {server: "${url}", insecure-skip-tls-verify: true}}]
users: [{name: a, user: {token: admin-token}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`;

/** Starts a kube-apiserver with the flags of upstream's runs, on a store of its own, and our kube-controller-manager. `programs`: command lines. */
async function serve({ work, must, start, eventually, execute, sagong }, sources, { etcd, apiserver }) {
  const dir = mkdtempSync(join(work, 'scenarios-'));
  const [port, client, peer, manager] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const run = (name, [command, ...before], args) => start(name, command, [...before, ...args], { cwd: dir });
  const store = `http://127.0.0.1:${client}`;
  const peers = peer ? [`--listen-peer-urls=http://127.0.0.1:${peer}`, `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`, `--initial-cluster=default=http://127.0.0.1:${peer}`] : [];
  run('etcd', etcd, [`--data-dir=${join(dir, 'etcd')}`, `--listen-client-urls=${store}`, `--advertise-client-urls=${store}`, ...peers]);
  const key = join(dir, 'account.key');
  await must('openssl', ['genrsa', '-out', key, '2048']);
  const ca = join(sources, 'hack/testdata/ca');
  const url = `https://127.0.0.1:${port}`;
  const serving = run('kube-apiserver', apiserver, [
    ...['--bind-address=127.0.0.1', `--secure-port=${port}`, `--etcd-servers=${store}`, `--cert-dir=${dir}`, '--service-cluster-ip-range=10.0.0.0/24'],
    ...['--authorization-mode=RBAC,AlwaysAllow', '--enable-admission-plugins=LimitRanger,ResourceQuota', '--runtime-config=api/v1'],
    '--disable-admission-plugins=ServiceAccount,DefaultStorageClass,DefaultTolerationSeconds,MutatingAdmissionWebhook,ValidatingAdmissionWebhook,StorageObjectInUseProtection',
    ...[`--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`, '--service-account-lookup=true', '--service-account-issuer=https://kubernetes.default.svc'],
    ...[`--client-ca-file=${join(ca, 'ca.crt')}`, `--token-auth-file=${join(sources, 'hack/testdata/auth-tokens.csv')}`],
  ]);
  const ready = async () => {
    const { text } = await execute('curl', ['-sk', '-H', 'Authorization: Bearer admin-token', `${url}/healthz`]);
    if (text !== 'ok' && serving.ended()) throw new Error(serving.log().slice(-1500));
    return text === 'ok';
  };
  await eventually('kube-apiserver is healthy', ready);
  const config = join(dir, 'kubeconfig');
  writeFileSync(config, kubeconfig(url));
  const signing = [`--cluster-signing-cert-file=${join(ca, 'ca.crt')}`, `--cluster-signing-key-file=${join(ca, 'ca.key')}`];
  run('kube-controller-manager', [process.execPath, sagong, 'kube-controller-manager'], [`--kubeconfig=${config}`, `--secure-port=${manager}`, ...signing]);
  return { url, dir };
}

/** What WHAT calls a scenario. */
const nameOf = (command) => command.replace(/^run_/, '').replace(/_tests?$/, '');

/** All scenarios, in the order in which they run. */
const namesIn = (sources) => [...readFileSync(join(sources, 'test/cmd/legacy-script.sh'), 'utf8').matchAll(/^ *record_command (run_\w+)$/gm)].map(([, command]) => nameOf(command));

/** `{ ran, failed, broken, log }`: names of scenarios; `broken` when the script did not come to its end, by a check between them or for want of time. */
async function runScenarios(context, sources, programs, what) {
  const { url, dir } = await serve(context, sources, programs);
  const files = await publish(context, sources, dir);
  const onLine = (line) => {
    const [, command] = /^Recording: (run_\w+)$/.exec(line) ?? [];
    if (command) console.log(`         ${new Date().toISOString().slice(11, 19)} ${nameOf(command)}`);
  };
  // Some scenarios look for the server's certificate in the temporary directory.
  const env = { ...(what && { WHAT: what.join(' ') }), ...files.env, HOME: dir, TMPDIR: dir };
  const { text, code } = await context.execute('bash', [join(here, 'scenarios.sh'), sources, url, join(dir, 'reports')], { env, onLine, timeoutMs: scenariosTimeoutMs });
  files.close();
  await context.stopAll();
  const named = (pattern) => [...text.matchAll(pattern)].map(([, command]) => nameOf(command));
  const failed = named(/^Error when running (run_\w+)$/gm);
  const broken = code !== 0 && !text.includes('FAILED TESTS: run_');
  const begun = named(/^Recording: (run_\w+)$/gm);
  return { ran: broken ? begun.slice(0, -1) : begun, failed, broken, log: text.slice(-6000) };
}

const scenarios = {
  what: "the scenarios of upstream's test/cmd",
  version,
  async run(context) {
    const { sagong, known } = context;
    const sources = await sourcesIn(context);
    const ours = { etcd: [process.execPath, sagong, 'etcd'], apiserver: [process.execPath, sagong, 'kube-apiserver'] };
    const what = process.env.WHAT?.split(' ');
    const { ran, failed, broken, log } = await runScenarios(context, sources, ours, what);
    const names = namesIn(sources);
    const before = (what && known?.passed) ?? [];
    const passed = names.filter((name) => (ran.includes(name) ? !failed.includes(name) : before.includes(name)));
    const open = names.filter((name) => !passed.includes(name));
    if (open.length === 0 && !broken) return { result: 'works', differs: `${names.length} scenarios`, passed };
    const differs = `${passed.length} of ${names.length} scenarios pass, not ${open.join(', ')}`;
    const program = join(process.env.SAGONG_UPSTREAM_BIN ?? '', 'kube-apiserver');
    if (broken || failed.length === 0 || !process.env.SAGONG_UPSTREAM_BIN || !existsSync(program)) return { result: 'fails', differs, passed, log };
    const theirs = await runScenarios(context, sources, { etcd: ['etcd'], apiserver: [program] }, failed);
    return { result: 'fails', differs: `${differs}; of these fail on upstream's kube-apiserver, too: ${theirs.failed.join(', ') || 'none'}`, passed, log };
  },
};

export default { name: 'kubectl scenarios', needs: ['go', 'openssl', 'curl', 'bash', 'jq'], cluster: 'none', runs: [scenarios] };
