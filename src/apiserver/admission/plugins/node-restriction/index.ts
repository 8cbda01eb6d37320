// Holds kubelets to their own node and its pods (plugin/pkg/admission/noderestriction). Off by default, as upstream's; for clusters whose
// nodes are not to be trusted with each other's objects.
import { internalDiff } from '#api';
import type { TokenRequest } from '#api/authentication/v1';
import type { CertificateSigningRequest } from '#api/certificates/v1';
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '#api/core/v1';
import type { ResourceSlice } from '#api/resource/v1';
import type { CSIDriver } from '#api/storage/v1';
import { notFound } from '#apimachinery/errors';
import { aggregateTexts } from '#apimachinery/field';
import { asKind } from '#apimachinery/meta';
import { PkiError, parseCertificateRequest } from '#pki';
import { own, quote } from '#utils';
import { nodeIdentity } from '../../../authentication/users.ts';
import type { Authorizer } from '../../../authorization/types.ts';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../../storage/read-only-cluster.ts';
import { apiObjectReference } from './mirror-pods.ts';
import { definePlugin, deny, handling, type PluginFactory } from '../../plugin.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Labels of Kubernetes that a kubelet may set on its node. */
const kubeletLabels = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
]);

const within = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`);
const domainOf = (label: string): string => (label.includes('/') ? label.slice(0, label.indexOf('/')) : '');

function isForbiddenLabel(label: string): boolean {
  const domain = domainOf(label);
  if (within(domain, 'node-restriction.kubernetes.io')) return true;
  if (!within(domain, 'kubernetes.io') && !within(domain, 'k8s.io')) return false;
  return !kubeletLabels.has(label) && !within(domain, 'kubelet.kubernetes.io') && !within(domain, 'node.kubernetes.io');
}

function changedLabels(now: Record<string, string> = {}, before: Record<string, string> = {}): string[] {
  const changed = Object.keys(now).filter((key) => now[key] !== own(before, key));
  for (const key of Object.keys(before)) if (!Object.hasOwn(now, key)) changed.push(key);
  return changed.sort();
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** One kubelet's request. */
class Restriction {
  readonly #cluster: ReadOnlyCluster;
  readonly #authorizer: Authorizer;
  readonly #request: AdmissionRequest;
  readonly #node: string;

  constructor(cluster: ReadOnlyCluster, authorizer: Authorizer, request: AdmissionRequest, node: string) {
    this.#cluster = cluster;
    this.#authorizer = authorizer;
    this.#request = request;
    this.#node = node;
  }

  check(): void | Promise<void> {
    const { group, resource, subresource } = this.#request;
    switch (`${group}/${resource}`) {
      case '/pods':
        return this.#pods(subresource);
      case '/nodes':
        return this.#nodes();
      case '/persistentvolumeclaims':
        return this.#claimStatus(subresource);
      case '/serviceaccounts':
        return this.#token(subresource);
      case 'coordination.k8s.io/leases':
        return this.#lease();
      case 'storage.k8s.io/csinodes':
        return this.#named('can only access CSINode with the same name as the requesting node');
      case 'resource.k8s.io/resourceslices':
        return this.#slice();
      case 'certificates.k8s.io/certificatesigningrequests':
        return this.#signingRequest();
    }
  }

  #refuse(when: boolean, why: string): void {
    if (when) throw deny(this.#request, why);
  }

  #pods(subresource: string): void {
    const { operation } = this.#request;
    if (subresource === 'status') return this.#podStatus();
    if (subresource === 'eviction') return this.#eviction();
    this.#refuse(
      subresource !== '',
      `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`,
    );
    if (operation === 'CREATE') return this.#mirrorPod();
    this.#refuse(
      operation !== 'DELETE',
      `unexpected operation ${quote(operation)}, node ${quote(this.#node)} can only create and delete mirror pods`,
    );
    const pod = this.#pod(this.#request.name);
    this.#refuse(
      pod.spec?.nodeName !== this.#node,
      `node ${quote(this.#node)} can only delete pods with spec.nodeName set to itself`,
    );
  }

  #pod(name: string): Pod {
    const pod = this.#cluster.get<Pod>('', 'pods', this.#request.namespace, name);
    // The resource as upstream's listers name it.
    if (!pod) throw notFound({ group: '', resource: 'pod' }, name);
    return pod;
  }

  #mirrorPod(): void {
    const pod = this.#request.object as Pod;
    const who = `node ${quote(this.#node)}`;
    const isMirror = pod.metadata.annotations?.[mirrorAnnotation] !== undefined;
    this.#refuse(!isMirror, `pod does not have ${quote(mirrorAnnotation)} annotation, ${who} can only create mirror pods`);
    this.#refuse(pod.spec?.nodeName !== this.#node, `${who} can only create pods with spec.nodeName set to itself`);
    const [owner, ...more] = pod.metadata.ownerReferences ?? [];
    this.#refuse(more.length > 0, `${who} can only create pods with a single owner reference set to itself`);
    const owned = owner?.apiVersion === 'v1' && owner.kind === 'Node' && owner.name === this.#node;
    this.#refuse(!owned, `${who} can only create pods with an owner reference set to itself`);
    this.#refuse(!owner?.controller, `${who} can only create pods with a controller owner reference set to itself`);
    this.#refuse(owner?.blockOwnerDeletion === true, `${who} must not set blockOwnerDeletion on an owner reference`);
    const node = this.#cluster.get<Node>('', 'nodes', '', this.#node);
    if (!node) throw notFound({ group: '', resource: 'node' }, this.#node);
    this.#refuse(
      owner?.uid !== node.metadata.uid,
      `node ${this.#node} UID mismatch: expected ${owner?.uid} got ${node.metadata.uid}`,
    );
    const referenced = apiObjectReference(pod);
    this.#refuse(referenced !== undefined, `${who} can not create pods that reference ${referenced}`);
  }

  #podStatus(): void {
    const { operation } = this.#request;
    this.#refuse(operation !== 'UPDATE', `unexpected operation ${quote(operation)}`);
    const old = this.#request.oldObject as Pod;
    const now = this.#request.object as Pod;
    const who = `node ${quote(this.#node)}`;
    this.#refuse(
      old.spec?.nodeName !== this.#node,
      `${who} can only update pod status for pods with spec.nodeName set to itself`,
    );
    this.#refuse(
      changedLabels(now.metadata.labels, old.metadata.labels).length > 0,
      `${who} cannot update labels through pod status`,
    );
    this.#refuse(
      !same(old.status?.resourceClaimStatuses ?? [], now.status?.resourceClaimStatuses ?? []),
      `${who} cannot update resource claim statues`,
    );
    this.#refuse(
      !same(old.status?.extendedResourceClaimStatus, now.status?.extendedResourceClaimStatus),
      `${who} cannot update extended resource claim status`,
    );
  }

  #eviction(): void {
    const { operation, name, object } = this.#request;
    this.#refuse(operation !== 'CREATE', `unexpected operation ${operation}`);
    const podName = name || (object?.metadata.name ?? '');
    this.#refuse(podName === '', 'could not determine pod from request data');
    const pod = this.#pod(podName);
    this.#refuse(pod.spec?.nodeName !== this.#node, `node ${this.#node} can only evict pods with spec.nodeName set to itself`);
  }

  #nodes(): void {
    const { operation, name, object, oldObject } = this.#request;
    const who = `node ${quote(this.#node)}`;
    const asked = name || (operation === 'CREATE' ? (object?.metadata.name ?? '') : '');
    this.#refuse(asked !== this.#node, `${who} is not allowed to modify node ${quote(asked)}`);
    const node = object as Node | undefined;
    if (operation === 'CREATE') {
      this.#refuse(node?.spec?.configSource !== undefined, `${who} is not allowed to create pods with a non-nil configSource`);
      const labels = changedLabels(node?.metadata.labels).filter(isForbiddenLabel);
      this.#refuse(labels.length > 0, `${who} is not allowed to set the following labels: ${labels.join(', ')}`);
    }
    if (operation !== 'UPDATE') return;
    const old = oldObject as Node;
    const { configSource } = node?.spec ?? {};
    this.#refuse(
      configSource !== undefined && !same(configSource, old.spec?.configSource),
      `${who} is not allowed to update configSource to a new non-nil configSource`,
    );
    this.#refuse(!same(node?.spec?.taints ?? [], old.spec?.taints ?? []), `${who} is not allowed to modify taints`);
    this.#refuse(
      !same(node?.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? []),
      `${who} is not allowed to modify ownerReferences`,
    );
    const labels = changedLabels(node?.metadata.labels, old.metadata.labels).filter(isForbiddenLabel);
    this.#refuse(labels.length > 0, `is not allowed to modify labels: ${labels.join(', ')}`);
  }

  #claimStatus(subresource: string): void {
    const { operation } = this.#request;
    this.#refuse(subresource !== 'status', 'may only update PVC status');
    this.#refuse(operation !== 'UPDATE', `unexpected operation ${quote(operation)}`);
    const rest = (object: unknown): object => {
      const { metadata, status = {}, ...others } = object as PersistentVolumeClaim;
      const { resourceVersion: _r, managedFields: _m, ...meta } = metadata;
      const { capacity: _c, conditions: _o, allocatedResources: _a, allocatedResourceStatuses: _s, ...kept } = status;
      return { ...others, metadata: meta, status: kept };
    };
    const [old, now] = [rest(this.#request.oldObject), rest(this.#request.object)];
    if (same(old, now)) return;
    const why = `node ${quote(this.#node)} is not allowed to update fields other than status.quantity and status.conditions`;
    const changed = internalDiff('core.PersistentVolumeClaim', old, now);
    throw deny(this.#request, changed === '' ? why : `${why}: ${changed}`);
  }

  async #token(subresource: string): Promise<void> {
    if (this.#request.operation !== 'CREATE' || subresource !== 'token') return;
    const { spec } = asKind<TokenRequest>(this.#request.object);
    const ref = spec?.boundObjectRef;
    const toPod = ref?.apiVersion === 'v1' && ref.kind === 'Pod' && ref.name;
    this.#refuse(!toPod, 'node requested token not bound to a pod');
    this.#refuse(!ref?.uid, 'node requested token with a pod binding without a uid');
    const pod = this.#pod(ref?.name ?? '');
    this.#refuse(
      ref?.uid !== pod.metadata.uid,
      `the UID in the bound object reference (${ref?.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
    this.#refuse(pod.spec?.nodeName !== this.#node, 'node requested token bound to a pod scheduled on a different node');
    await this.#audience(pod, spec?.audiences ?? []);
  }

  async #audience(pod: Pod, audiences: readonly string[]): Promise<void> {
    this.#refuse(audiences.length > 1, 'node may only request 0 or 1 audiences');
    const [audience = ''] = audiences;
    if (this.#wantsAudience(pod, audience)) return;
    const { user, namespace, name } = this.#request;
    const target = { group: '', version: 'v1', resource: audience, subresource: '', namespace, name };
    const decision = await this.#authorizer.authorize({ user, verb: 'request-serviceaccounts-token-audience', target });
    this.#refuse(
      !decision.allowed,
      `audience ${quote(audience)} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`,
    );
  }

  /** Whether a volume of the pod, or the driver of one, asks for tokens of this audience. */
  #wantsAudience(pod: Pod, audience: string): boolean {
    const problems: string[] = [];
    const wants = (pod.spec?.volumes ?? []).some(({ name, projected, ephemeral, persistentVolumeClaim, csi }) => {
      if (
        projected?.sources?.some(
          (source) => source.serviceAccountToken && (source.serviceAccountToken.audience ?? '') === audience,
        )
      ) {
        return true;
      }
      const claim = ephemeral ? `${pod.metadata.name}-${name}` : persistentVolumeClaim?.claimName;
      const driver = csi?.driver ?? (claim && this.#driverOf(claim, problems));
      const found = driver ? this.#cluster.get<CSIDriver>('storage.k8s.io', 'csidrivers', '', driver) : undefined;
      return found?.spec.tokenRequests?.some((request) => (request.audience ?? '') === audience) ?? false;
    });
    const why = `error validating audience ${quote(audience)}: ${aggregateTexts(problems)}`;
    this.#refuse(!wants && problems.length > 0, why);
    return wants;
  }

  /** The CSI driver behind a claim, if its volume has one; adds to `problems` what could not be found. */
  #driverOf(claimName: string, problems: string[]): string | undefined {
    const missing = (what: string, name: string): undefined => {
      problems.push(`${what} ${quote(name)} not found`);
    };
    const claim = this.#cluster.get<PersistentVolumeClaim>('', 'persistentvolumeclaims', this.#request.namespace, claimName);
    if (!claim) return missing('persistentvolumeclaim', claimName);
    const { volumeName = '' } = claim.spec ?? {};
    const volume = this.#cluster.get<PersistentVolume>('', 'persistentvolumes', '', volumeName);
    if (!volume) return missing('persistentvolume', volumeName);
    return volume?.spec?.csi?.driver;
  }

  #lease(): void {
    this.#refuse(
      this.#request.namespace !== 'kube-node-lease',
      'can only access leases in the "kube-node-lease" system namespace',
    );
    this.#named('can only access node lease with the same name as the requesting node');
  }

  #named(why: string): void {
    const { operation, name, object } = this.#request;
    this.#refuse((operation === 'CREATE' ? object?.metadata.name : name) !== this.#node, why);
  }

  #slice(): void {
    const { operation, object, oldObject } = this.#request;
    if (operation !== 'CREATE' && operation !== 'DELETE') return;
    const slice = (operation === 'CREATE' ? object : oldObject) as ResourceSlice | undefined;
    const what = operation === 'CREATE' ? 'create' : 'delete';
    this.#refuse(
      slice?.spec?.nodeName !== this.#node,
      `can only ${what} ResourceSlice with the same NodeName as the requesting node`,
    );
  }

  #signingRequest(): void {
    if (this.#request.operation !== 'CREATE' || this.#request.subresource !== '') return;
    const { spec } = asKind<CertificateSigningRequest>(this.#request.object);
    if (!['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'].includes(spec?.signerName)) return;
    const commonName = `system:node:${this.#node}`;
    try {
      const asked = parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64').toString('latin1'));
      this.#refuse(asked.subject.commonName !== commonName, `can only create a node CSR with CN=${commonName}`);
    } catch (error) {
      if (error instanceof PkiError) throw deny(this.#request, `unable to parse csr: ${error.message}`);
      throw error;
    }
  }
}

export const nodeRestriction: PluginFactory = ({ cluster, authorizer }) => ({
  name: 'NodeRestriction',
  handles: handling('CREATE', 'UPDATE', 'DELETE'),
  admit(request) {
    const node = nodeIdentity(request.user);
    if (node === undefined) return;
    if (node === '') throw deny(request, `could not determine node from user ${quote(request.user.name)}`);
    return new Restriction(cluster, authorizer, request, node).check();
  },
});

export const plugin = definePlugin('NodeRestriction', nodeRestriction, { onByDefault: false });
