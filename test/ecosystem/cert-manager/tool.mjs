// cert-manager: its controllers, webhook and CA injector out of its Go module, with the definitions, rights and webhook configurations of its own chart. The
// chart's Deployments run on simulated nodes; the programs behind them run beside the cluster with the tokens of their service accounts.
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { official } from '../lib/official.mjs';
import { freePort } from '../lib/ports.mjs';

const module = 'github.com/cert-manager/cert-manager';
const version = 'v1.21.2';
const main = readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'main.go'), 'utf8');

const issuers = `apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: self}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: authority}
spec:
  isCA: true
  commonName: authority
  secretName: authority
  privateKey: {algorithm: ECDSA}
  issuerRef: {name: self, kind: ClusterIssuer}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: authority}
spec: {ca: {secretName: authority}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: leaf}
spec:
  secretName: leaf
  dnsNames: [leaf.example.com]
  issuerRef: {name: authority}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, annotations: {cert-manager.io/issuer: authority}}
spec:
  tls: [{hosts: [shop.example.com], secretName: shop}]
  rules: [{host: shop.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: shop, port: {number: 80}}}}]}}]
`;

const wrong = `apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: wrong}
spec: {secretName: wrong, issuerRef: {name: authority}}
`;

/** Settings of the chart: the webhook is found beside the cluster. */
const settings = (dir, port) => {
  const file = join(dir, 'values.yaml');
  const url = `{url: {host: "localhost:${port}"}}`;
  writeFileSync(file, `crds: {enabled: true}\nwebhook: ${url}\nstartupapicheck: {enabled: false}\nglobal: {leaderElection: {namespace: cert-manager}}\n`);
  return file;
};

const secretOf = async (kubectl, name) => {
  const { data } = JSON.parse(await kubectl('get', 'secret', name, '-o', 'json'));
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]));
};

/** Installs what the chart holds and starts the three programs. */
async function install({ goModule, goProgram, cache, work, must, kubectl, apply, start, kubeconfigOf }) {
  const program = await goProgram({ module, version, path: './beside', name: 'cert-manager', files: { 'beside/main.go': main } });
  const chart = join(await goModule(`${module}@${version}`), 'deploy/charts/cert-manager');
  const { helm } = await official(cache, 36);
  const port = await freePort();
  await kubectl('create', 'namespace', 'cert-manager');
  const manifests = await must(helm, ['template', 'cert-manager', chart, '-n', 'cert-manager', '-f', settings(work, port)]);
  await apply(manifests, '--server-side', '-n', 'cert-manager');
  await kubectl('wait', '--for=condition=Established', 'crd', '-l', 'app.kubernetes.io/name=cert-manager', '--timeout=60s');
  const as = (account) => kubeconfigOf('cert-manager', account);
  return [
    start('webhook', program, ['webhook', await as('cert-manager-webhook'), String(port)]),
    start('cainjector', program, ['cainjector', await as('cert-manager-cainjector')]),
    start('controller', program, ['controller', await as('cert-manager')]),
  ];
}

const issuing = {
  what: 'CA injected into webhooks, a wrong object denied, self-signed authority, a leaf of it, a certificate for an Ingress, renewal',
  version,
  async run(context) {
    const { kubectl, apply, eventually, execute, env } = context;
    const programs = await install(context);
    const logs = () => programs.map(({ log }) => log().slice(-1500)).join('\n');
    try {
      await eventually('the authority is injected', async () => {
        const configuration = JSON.parse(await kubectl('get', 'validatingwebhookconfiguration', 'cert-manager-webhook', '-o', 'json'));
        return configuration.webhooks.every(({ clientConfig }) => clientConfig.caBundle);
      });
      await eventually('objects are taken', () => apply(issuers));
      // It is made for the Ingress, by a controller that has just started.
      await eventually('a certificate for the Ingress', () => kubectl('get', 'certificate', 'shop'));
      await kubectl('wait', '--for=condition=Ready', 'certificate/authority', 'certificate/leaf', 'certificate/shop', '--timeout=180s');
      const denied = await execute('kubectl', ['apply', '-f', '-'], { env, input: wrong });
      if (denied.code === 0 || !/admission webhook "webhook.cert-manager.io" denied the request/.test(denied.text)) throw new Error(denied.text);
      const leaf = await secretOf(kubectl, 'leaf');
      const [certificate, authority] = [new X509Certificate(leaf['tls.crt']), new X509Certificate(leaf['ca.crt'])];
      if (!certificate.verify(authority.publicKey) || !certificate.checkHost('leaf.example.com')) throw new Error(certificate.toString());
      const shown = await kubectl('get', 'certificate', 'leaf');
      if (!/^leaf\s+True\s+leaf\s/m.test(shown)) throw new Error(shown);
      await kubectl('delete', 'secret', 'leaf');
      await eventually('what was deleted is issued anew', async () => (await secretOf(kubectl, 'leaf'))['tls.crt'] !== leaf['tls.crt']);
      return { result: 'works', differs: 'its packages behind a main of ours: its own programs are in no registry' };
    } catch (error) {
      throw new Error(`${error.message}\n${logs()}`, { cause: error });
    }
  },
};

export default { name: 'cert-manager', needs: ['go', 'npm', 'unzip', 'kubectl'], runs: [issuing] };
