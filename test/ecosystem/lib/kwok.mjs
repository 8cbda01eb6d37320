// KWOK's controller, which plays nodes and their pods: the program of its module, with the rights and by the stages of its own manifests.
import { join } from 'node:path';
import { freePort } from './ports.mjs';

export const version = 'v0.8.0';

/** What builds it. */
export const kwokProgram = { module: 'sigs.k8s.io/kwok', version, path: './cmd/kwok', name: 'kwok' };

/** Brings its kinds, rights and stages into a cluster. */
export async function setUpKwok({ goModule, kubectl }) {
  const manifests = join(await goModule(`sigs.k8s.io/kwok@${version}`), 'kustomize');
  for (const folder of ['crd', 'rbac']) await kubectl('apply', '--server-side', '-n', 'kube-system', '-k', join(manifests, folder));
  await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
  await kubectl('apply', '-k', join(manifests, 'stage/fast'));
}

/** Its flags, with the rights of its account. */
export async function kwokFlags(kubeconfigOf) {
  const kubeconfig = await kubeconfigOf('kube-system', 'kwok-controller');
  const settings = ['--manage-all-nodes', '--node-ip=127.0.0.1', '--node-lease-duration-seconds=40', '--enable-crds=Stage'];
  return [`--kubeconfig=${kubeconfig}`, `--server-address=127.0.0.1:${await freePort()}`, ...settings];
}
