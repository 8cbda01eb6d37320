// Gives pods their service account, its token as a projected volume, and its image pull secrets (plugin/pkg/admission/serviceaccount).
import type { Container, EphemeralContainer, Pod, ServiceAccount, Volume } from '#api/core/v1';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { warnOnlyExpirationSeconds } from '../../../authentication/service-account-claims.ts';
import { limits } from '../../limits.ts';
import { definePlugin, deny, handling, isFor, type PluginContext, type PluginFactory } from '../../plugin.ts';
import { whenPresent } from '../../when-present.ts';

const defaultName = 'default';
const volumePrefix = 'kube-api-access-';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const enforceAnnotation = 'kubernetes.io/enforce-mountable-secrets';
const mirrorAnnotation = 'kubernetes.io/config.mirror';

const suffixAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

const isMirror = (pod: Pod): boolean => pod.metadata.annotations?.[mirrorAnnotation] !== undefined;

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    defaultMode: 0o644,
    sources: [
      { serviceAccountToken: { path: 'token', expirationSeconds: warnOnlyExpirationSeconds } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
    ],
  },
});

function mountToken(pod: Pod, suffix: () => string): void {
  const { spec } = pod;
  if (!spec) return;
  const existing = spec.volumes?.find((volume) => volume.name?.startsWith(volumePrefix))?.name;
  const name = existing ?? volumePrefix + suffix();
  let mounted = false;
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some((mount) => mount.mountPath === mountPath)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath }];
    mounted = true;
  }
  if (existing === undefined && mounted) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)];
}

type AnyContainer = Container | EphemeralContainer;

function containerProblem(
  container: AnyContainer,
  title: string,
  allowed: ReadonlySet<string>,
  account: string,
): string | undefined {
  const tail = (name: string): string =>
    `referencing secret.secretName="${name}" is not allowed because service account ${account} does not reference that secret`;
  for (const env of container.env ?? []) {
    const name = env.valueFrom?.secretKeyRef?.name;
    if (name !== undefined && !allowed.has(name)) return `${title} ${container.name} with envVar ${env.name} ${tail(name)}`;
  }
  for (const source of container.envFrom ?? []) {
    const name = source.secretRef?.name;
    if (name !== undefined && !allowed.has(name)) return `${title} ${container.name} with envFrom ${tail(name)}`;
  }
  return undefined;
}

const secretsOf = (account: ServiceAccount): Set<string> => new Set((account.secrets ?? []).map(({ name = '' }) => name));

function referenceProblem(pod: Pod, account: ServiceAccount): string | undefined {
  const name = account.metadata.name ?? '';
  const allowed = secretsOf(account);
  for (const { secret } of pod.spec?.volumes ?? []) {
    if (!secret || allowed.has(secret.secretName ?? '')) continue;
    return `volume with secret.secretName="${secret.secretName}" is not allowed because service account ${name} does not reference that secret`;
  }
  const containers: [string, readonly Container[] | undefined][] = [
    ['init container', pod.spec?.initContainers],
    ['container', pod.spec?.containers],
  ];
  for (const [title, list] of containers) {
    for (const container of list ?? []) {
      const problem = containerProblem(container, title, allowed, name);
      if (problem !== undefined) return problem;
    }
  }
  const pulls = new Set((account.imagePullSecrets ?? []).map((reference) => reference.name));
  const index = (pod.spec?.imagePullSecrets ?? []).findIndex((reference) => !pulls.has(reference.name));
  if (index < 0) return undefined;
  const pull = pod.spec?.imagePullSecrets?.[index]?.name ?? '';
  return `imagePullSecrets[${index}].name="${pull}" is not allowed because service account ${name} does not reference that imagePullSecret`;
}

function usesSecrets(pod: Pod): boolean {
  const inContainers = [...(pod.spec?.initContainers ?? []), ...(pod.spec?.containers ?? [])].some(
    (container) =>
      container.env?.some((env) => env.valueFrom?.secretKeyRef) || container.envFrom?.some((source) => source.secretRef),
  );
  const inVolumes = pod.spec?.volumes?.some(
    (volume) => volume.secret || volume.projected?.sources?.some((source) => source.secret) || volume.csi?.nodePublishSecretRef,
  );
  return inContainers || inVolumes === true || (pod.spec?.imagePullSecrets?.length ?? 0) > 0;
}

function checkMirror(request: AdmissionRequest, pod: Pod): void {
  if (pod.spec?.serviceAccountName) throw deny(request, 'a mirror pod may not reference service accounts');
  if (usesSecrets(pod)) throw deny(request, 'a mirror pod may not reference secrets');
  const projects = pod.spec?.volumes?.some((volume) => volume.projected?.sources?.some((source) => source.serviceAccountToken));
  if (projects) throw deny(request, 'a mirror pod may not use ServiceAccountToken volume projections');
}

const enforced = (account: ServiceAccount): boolean =>
  ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(account.metadata.annotations?.[enforceAnnotation] ?? '');

const missing = (request: AdmissionRequest, name: string) =>
  deny(request, `error looking up service account ${request.namespace}/${name}: serviceaccount "${name}" not found`);

function validate(request: AdmissionRequest, pod: Pod, account: ServiceAccount): void {
  if (!enforced(account)) return;
  const problem = referenceProblem(pod, account);
  if (problem !== undefined) throw deny(request, problem);
}

function complete(request: AdmissionRequest, pod: Pod, account: ServiceAccount, suffix: () => string): void {
  const mount = pod.spec?.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true;
  if (mount) mountToken(pod, suffix);
  if (pod.spec && !pod.spec.imagePullSecrets?.length && account.imagePullSecrets?.length) {
    pod.spec.imagePullSecrets = account.imagePullSecrets.map(({ name }) => ({ name }));
  }
  validate(request, pod, account);
}

function ephemeralProblem(pod: Pod, account: ServiceAccount): string | undefined {
  const allowed = secretsOf(account);
  for (const container of pod.spec?.ephemeralContainers ?? []) {
    const problem = containerProblem(container, 'ephemeral container', allowed, account.metadata.name ?? '');
    if (problem !== undefined) return problem;
  }
  return undefined;
}

export const serviceAccount: PluginFactory = ({ cluster, rng, clock }: PluginContext) => {
  const find = (namespace: string, name: string) => cluster.get<ServiceAccount>('', 'serviceaccounts', namespace, name);
  const suffix = (): string => Array.from({ length: 5 }, () => suffixAlphabet[rng.int(suffixAlphabet.length)]).join('');
  return {
    name: 'ServiceAccount',
    handles: handling('CREATE', 'UPDATE'),
    admit(request) {
      if (!isFor(request, '', 'pods') || request.operation !== 'CREATE') return;
      const pod = request.object as Pod;
      if (isMirror(pod)) return checkMirror(request, pod);
      const { spec } = pod;
      if (!spec) return;
      if (!spec.serviceAccountName) {
        spec.serviceAccountName = defaultName;
        spec.serviceAccount = defaultName;
      }
      const name = spec.serviceAccountName;
      const account = find(request.namespace, name);
      if (account) return complete(request, pod, account, suffix);
      if (name !== defaultName) throw missing(request, name);
      // A namespace is made a moment before its default account: wait for that one.
      const wanted = { group: '', resource: 'serviceaccounts', namespace: request.namespace, name };
      return whenPresent({ cluster, clock }, wanted, limits.defaultAccountWaitMs).then(() => {
        const late = find(request.namespace, name);
        if (!late) throw missing(request, name);
        complete(request, pod, late, suffix);
      });
    },
    validate(request) {
      const ephemeral = isFor(request, '', 'pods', 'ephemeralcontainers') && request.operation === 'UPDATE';
      if (!ephemeral && !(isFor(request, '', 'pods') && request.operation === 'CREATE')) return;
      const pod = request.object as Pod;
      if (!ephemeral && isMirror(pod)) return checkMirror(request, pod);
      const name = pod.spec?.serviceAccountName;
      if (!name) throw deny(request, `no service account specified for pod ${request.namespace}/${pod.metadata.name ?? ''}`);
      const account = find(request.namespace, name);
      if (!account) throw missing(request, name);
      if (!ephemeral) return validate(request, pod, account);
      const problem = enforced(account) ? ephemeralProblem(pod, account) : undefined;
      if (problem !== undefined) throw deny(request, problem);
    },
  };
};

export const plugin = definePlugin('ServiceAccount', serviceAccount);
