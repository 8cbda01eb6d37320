// An ingress controller that answers from outside: Caddy's, by its own chart as it is.
import { join } from 'node:path';
import { imagesIn, loadImages } from '../lib/images.mjs';
import { official } from '../lib/official.mjs';
import { loadApp, nodesOf, service, web } from './pods.mjs';
import { addOnPrograms, caddy, versions } from './programs.mjs';

const host = 'shop.example.com';
const namespace = 'caddy-system';

const controllers = async (kubectl) => (await kubectl('get', 'pods', '-n', namespace, '-o', 'name')).trim().split('\n').filter(Boolean);

const path = (at, name) => ({ path: at, pathType: 'Prefix', backend: { service: { name, port: { number: 80 } } } });
const ingress = (...paths) =>
  JSON.stringify({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'shop' },
    spec: { ingressClassName: 'caddy', tls: [{ hosts: [host], secretName: 'shop' }], rules: [{ host, http: { paths } }] },
  });

/** A certificate for the host, as a Secret; gives the path of the certificate. */
async function secret({ work, must, kubectl }) {
  const [key, certificate] = [join(work, 'shop.key'), join(work, 'shop.crt')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const names = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`];
  await must('openssl', ['req', ...kind, ...names, '-keyout', key, '-out', certificate]);
  await kubectl('create', 'secret', 'tls', 'shop', `--cert=${certificate}`, `--key=${key}`);
  return certificate;
}

export const ingressController = {
  what: 'ingress controller: chart of Caddy: answers from outside at the address of its Service, with the certificate of a Secret, by path, from two nodes',
  version: versions.caddy,
  async run(context) {
    const { cache, env, must, execute, kubectl, apply, eventually } = context;
    const { bin, folderOf } = await addOnPrograms(context, ['ingress-controller']);
    const { helm } = await official(cache, 36);
    const chart = join(await folderOf(caddy), 'charts/caddy-ingress-controller');
    const [reference] = imagesIn(await must(helm, ['template', 'caddy', chart], { env }));
    const config = { Entrypoint: ['/ingress-controller'] };
    await loadImages(context, [{ reference, programs: { '/ingress-controller': join(bin, 'ingress-controller') }, config }]);
    await loadApp(context);
    const nodes = await nodesOf(kubectl);
    for (const [at, name] of ['shop', 'other'].entries()) await apply(`${web(name, { node: nodes[at] })}\n${service(name)}`);
    const certificate = await secret(context);
    await apply(ingress(path('/', 'shop')));
    await must(helm, ['install', 'caddy', chart, '-n', namespace, '--create-namespace', '--wait', '--timeout', '180s'], { env });
    // It begins to watch Secrets when it first sees an Ingress with one, and reads their certificates with the next change of what it serves (caddyserver/ingress#345).
    await eventually('each controller has the certificate', async () => {
      const logs = await Promise.all((await controllers(kubectl)).map((name) => kubectl('logs', '-n', namespace, name)));
      return logs.length > 0 && logs.every((text) => text.includes('TLS secret created (default/shop)'));
    });
    await apply(ingress(path('/sub', 'other'), path('/', 'shop')));
    const told = 'jsonpath={.status.loadBalancer.ingress[0].ip}';
    const address = await eventually('the Ingress has an address', () => kubectl('get', 'ingress', 'shop', '-o', told));
    const balancer = await kubectl('get', 'service', '-A', '-o', 'jsonpath={.items[?(@.spec.type=="LoadBalancer")].status.loadBalancer.ingress[0].ip}');
    if (address !== balancer) throw new Error(`the Ingress has the address ${address}, its Service ${balancer}`);
    const found = ['443', '80'].flatMap((port) => ['--resolve', `${host}:${port}:${address}`]);
    const curl = (url, ...args) => execute('curl', ['-sS', '-m', '5', '--cacert', certificate, ...found, ...args, url]);
    for (const [at, name] of [['/', 'shop'], ['/sub/', 'other']])
      await eventually(`${name} answers at https://${host}${at}`, async () => {
        const { text } = await curl(`https://${host}${at}`);
        if (text.trim() !== name) throw new Error(text);
        return true;
      });
    const plain = await curl(`http://${host}/`, '-o', '/dev/null', '-w', '%{http_code} %{redirect_url}');
    if (plain.text !== `308 https://${host}/`) throw new Error(`plain HTTP: ${plain.text}`);
    await kubectl('delete', 'ingress/shop', 'secret/shop', 'pod/shop', 'pod/other', 'service/shop', 'service/other');
    await must(helm, ['uninstall', 'caddy', '-n', namespace, '--wait'], { env });
    return { result: 'works', differs: 'the program is newer than the image that the chart names; a certificate counts from the next change of an Ingress (caddyserver/ingress#345)' };
  },
};
