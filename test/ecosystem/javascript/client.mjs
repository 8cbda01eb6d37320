// The official client: typed and generic calls, the four kinds of patches, watches, an informer, and streams into a pod. `client.mjs POD`: a running pod as
// test/ecosystem/lib/shell-pods.mjs makes it, in the namespace default.
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import * as k8s from '@kubernetes/client-node';

const [pod] = process.argv.slice(2);
const namespace = 'javascript';
const config = new k8s.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);

function check(what, holds) {
  if (!holds) throw new Error(`not so: ${what}`);
  console.log(`ok ${what}`);
}

async function until(what, test) {
  const deadline = Date.now() + 30_000;
  while (!(await test())) {
    if (Date.now() > deadline) throw new Error(`not so in time: ${what}`);
    await sleep(50);
  }
  check(what, true);
}

async function refusal(call) {
  try {
    await call;
  } catch (error) {
    if (error instanceof k8s.ApiException) return { code: error.code, ...JSON.parse(error.body) };
    throw error;
  }
  throw new Error('the call was not refused');
}

const configMap = (name, data) => ({ metadata: { name, labels: { app: 'web' } }, data });

async function calls() {
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  const made = await core.createNamespacedConfigMap({ namespace, body: configMap('one', { a: '1' }) });
  check('create', made.metadata.uid !== undefined && made.metadata.creationTimestamp instanceof Date);
  const again = await refusal(core.createNamespacedConfigMap({ namespace, body: configMap('one', {}) }));
  check('a second create is refused', again.code === 409 && again.reason === 'AlreadyExists');
  const newer = await core.replaceNamespacedConfigMap({ name: 'one', namespace, body: { ...made, data: { a: '2' } } });
  check('replace', newer.data.a === '2');
  const stale = await refusal(core.replaceNamespacedConfigMap({ name: 'one', namespace, body: made }));
  check('a stale replace conflicts', stale.code === 409 && stale.reason === 'Conflict');
  for (const name of ['two', 'three']) await core.createNamespacedConfigMap({ namespace, body: configMap(name, {}) });
  const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=web', limit: 2 });
  const rest = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=web', limit: 2, _continue: page.metadata._continue });
  check('pages', page.items.length === 2 && rest.items.length === 1);
  const wrong = await refusal(core.createNamespacedPod({ namespace, body: { metadata: { name: 'Wrong' }, spec: { containers: [] } } }));
  check('what is wrong is named', wrong.code === 422 && wrong.details.causes.map(({ field }) => field).join() === 'metadata.name,spec.containers');
  check('version', (await config.makeApiClient(k8s.VersionApi).getCode()).gitVersion.startsWith('v1.36'));
}

async function patches() {
  const patch = (body, strategy) => core.patchNamespacedConfigMap({ name: 'one', namespace, body, fieldManager: 'javascript' }, k8s.setHeaderOptions('Content-Type', strategy));
  const { JsonPatch, MergePatch, StrategicMergePatch } = k8s.PatchStrategy;
  check('JSON patch', (await patch([{ op: 'add', path: '/data/b', value: '2' }], JsonPatch)).data.b === '2');
  check('merge patch', (await patch({ data: { b: null } }, MergePatch)).data.b === undefined);
  check('strategic merge patch', (await patch({ metadata: { finalizers: ['javascript.example.com/a'] } }, StrategicMergePatch)).metadata.finalizers.length === 1);
  check('the finalizer goes', (await patch([{ op: 'remove', path: '/metadata/finalizers' }], JsonPatch)).metadata.finalizers === undefined);
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace }, spec: { selector: { app: 'web' }, ports: [{ port: 80 }] } };
  const applied = await objects.patch(service, undefined, undefined, 'javascript', true, k8s.PatchStrategy.ServerSideApply);
  check('server-side apply', applied.spec.clusterIP !== undefined && applied.metadata.managedFields[0].operation === 'Apply');
  check('a generic read', (await objects.read(service)).metadata.uid === applied.metadata.uid);
  await objects.delete(service);
  check('a generic delete', (await refusal(objects.read(service))).code === 404);
}

async function definitions() {
  const names = { plural: 'sails', singular: 'sail', kind: 'Sail' };
  const schema = { openAPIV3Schema: { type: 'object', x_kubernetes_preserve_unknown_fields: true } };
  const spec = { group: 'javascript.example.com', scope: 'Namespaced', names, versions: [{ name: 'v1', served: true, storage: true, schema }] };
  const api = config.makeApiClient(k8s.ApiextensionsV1Api);
  const name = 'sails.javascript.example.com';
  await api.createCustomResourceDefinition({ body: { metadata: { name }, spec } });
  await until('a definition is established', async () => (await api.readCustomResourceDefinition({ name })).status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True'));
  const custom = config.makeApiClient(k8s.CustomObjectsApi);
  const kind = { group: 'javascript.example.com', version: 'v1', namespace, plural: 'sails' };
  await custom.createNamespacedCustomObject({ ...kind, body: { apiVersion: 'javascript.example.com/v1', kind: 'Sail', metadata: { name: 'front' }, spec: { colour: 'white' } } });
  check('custom objects', (await custom.listNamespacedCustomObject(kind)).items[0].spec.colour === 'white');
  await api.deleteCustomResourceDefinition({ name });
}

async function watches() {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const told = [];
  const watch = await new k8s.Watch(config).watch(path, { labelSelector: 'watched=yes' }, (phase) => told.push(phase), () => {});
  const informer = k8s.makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace }));
  const seen = [];
  for (const event of ['add', 'update', 'delete']) informer.on(event, ({ metadata }) => seen.push(`${event} ${metadata.name}`));
  await informer.start();
  check('an informer has what there is', informer.get('one', namespace)?.data.a === '2');
  await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'watched', labels: { watched: 'yes' } } } });
  await until('an informer has what is added', () => seen.includes('add watched'));
  await core.patchNamespacedConfigMap({ name: 'watched', namespace, body: [{ op: 'add', path: '/data', value: { a: '1' } }] });
  await core.deleteNamespacedConfigMap({ name: 'watched', namespace });
  await until('an informer follows', () => seen.includes('update watched') && seen.includes('delete watched'));
  await until('a watch tells all', () => told.join() === 'ADDED,MODIFIED,DELETED');
  watch.abort();
  await informer.stop();
}

async function workloads() {
  const container = { name: 'web', image: 'none.example.com/none' };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
  await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: 'web' }, spec: { replicas: 0, selector: { matchLabels: { app: 'web' } }, template } } });
  await apps.patchNamespacedDeploymentScale({ name: 'web', namespace, body: [{ op: 'replace', path: '/spec/replicas', value: 2 }] });
  check('scale', (await apps.readNamespacedDeploymentScale({ name: 'web', namespace })).spec.replicas === 2);
  await until('its pods are there', async () => (await core.listNamespacedPod({ namespace, labelSelector: 'app=web' })).items.length === 2);
}

async function executed(command, input = null, tty = false) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([text(out), text(err)]);
  const status = await new Promise((done, fail) => {
    new k8s.Exec(config).exec('default', pod, 'web', command, out, err, input, tty, done).catch(fail);
  });
  out.end();
  err.end();
  const [stdout, stderr] = await texts;
  return { stdout, stderr, code: Number(status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? 0), status: status.status };
}

async function streams() {
  const failed = await executed(['sh', '-c', 'echo out; echo err >&2; exit 7']);
  check('exec tells both streams and the exit code', failed.stdout === 'out\n' && failed.stderr === 'err\n' && failed.code === 7);
  const large = await executed(['sh', '-c', "head -c 4194304 /dev/zero | tr '\\0' x"]);
  check('exec of 4 MiB is whole', large.stdout.length === 4 << 20 && large.status === 'Success');
  const counted = await executed(['head', '-c', '300000'], Readable.from([Buffer.alloc(300_000, 'x')]));
  check('standard input', counted.stdout.length === 300_000);
  const lines = new PassThrough();
  let heard = '';
  lines.on('data', (chunk) => (heard += chunk));
  const following = await new k8s.Log(config).log('default', pod, 'echo', lines, { follow: true });
  const [input, output] = [new PassThrough(), new PassThrough()];
  let answered = '';
  output.on('data', (chunk) => (answered += chunk));
  const socket = await new k8s.Attach(config).attach('default', pod, 'echo', output, null, input, false);
  input.write('one\n');
  await until('attach answers', () => answered === 'heard one\n');
  await until('logs are followed', () => heard === 'heard one\n');
  socket.close();
  following.abort();
  const [sent, got, refused] = [new PassThrough(), new PassThrough(), new PassThrough()];
  let page = '';
  got.on('data', (chunk) => (page += chunk));
  const forwarded = await new k8s.PortForward(config).portForward('default', pod, [8080], got, refused, sent);
  sent.write('GET / HTTP/1.0\r\n\r\n');
  await until('a forwarded port answers', () => page.endsWith('served\n'));
  (typeof forwarded === 'function' ? forwarded() : forwarded)?.close();
}

for (const part of [calls, patches, definitions, watches, workloads, streams]) await part();
await core.deleteNamespace({ name: namespace });
process.exit(0);
