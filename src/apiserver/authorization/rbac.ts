// Role-based access control (plugin/pkg/auth/authorizer/rbac). Bindings are indexed by subject as they change; what applies to a user is
// collected once and kept until any role or binding changes, so that a decision is a walk over a few compiled rules.
import type { ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject } from '#api/rbac/v1';
import { aggregateTexts } from '#apimachinery/field';
import { quote } from '#utils';
import { serviceAccountUserName } from '../authentication/users.ts';
import type { Attributes, UserInfo } from '../request/request.ts';
import type { ReadOnlyCluster } from '../storage/read-only-cluster.ts';
import type { Authorizer, Decision } from './types.ts';
import { limits } from './limits.ts';
import { type CompiledRule, compileRules } from './rules.ts';

const group = 'rbac.authorization.k8s.io';

type Binding = ClusterRoleBinding | RoleBinding;

/** A binding as it applies to one user. */
interface Grant {
  rules: readonly CompiledRule[];
  /** Shown when it allows something. */
  source: string;
  /** The role is missing. */
  problem?: string;
}

interface UserGrants {
  cluster: readonly Grant[];
  namespaced: Map<string, readonly Grant[]>;
}

/** What a subject is called in the index; '' for one that can match nobody. */
function subjectKey(subject: Subject, namespace: string): string {
  if (subject.kind === 'User') return `u:${subject.name}`;
  if (subject.kind === 'Group') return `g:${subject.name}`;
  if (subject.kind !== 'ServiceAccount') return '';
  const own = subject.namespace || namespace;
  return own === '' ? '' : `u:${serviceAccountUserName(own, subject.name)}`;
}

const describeSubject = (subject: Subject, namespace: string): string =>
  subject.kind === 'ServiceAccount'
    ? `ServiceAccount ${quote(`${subject.name}/${subject.namespace || namespace}`)}`
    : `${subject.kind} ${quote(subject.name)}`;

function describe(binding: Binding, namespace: string, subject: Subject): string {
  const { kind, name } = binding.roleRef;
  const own =
    namespace === ''
      ? `ClusterRoleBinding ${quote(binding.metadata.name ?? '')}`
      : `RoleBinding ${quote(`${binding.metadata.name ?? ''}/${namespace}`)}`;
  return `${own} of ${kind} ${quote(name)} to ${describeSubject(subject, namespace)}`;
}

/** Bindings of one scope (the cluster, or one namespace) by subject. */
class SubjectIndex {
  readonly #bySubject = new Map<string, Map<string, Binding>>();

  #keys(binding: Binding): Set<string> {
    const namespace = binding.metadata.namespace ?? '';
    return new Set((binding.subjects ?? []).map((subject) => subjectKey(subject, namespace)));
  }
  add(binding: Binding): void {
    for (const key of this.#keys(binding)) {
      const bindings = this.#bySubject.get(key) ?? new Map<string, Binding>();
      this.#bySubject.set(key, bindings.set(binding.metadata.name ?? '', binding));
    }
  }
  remove(binding: Binding): void {
    for (const key of this.#keys(binding)) {
      const bindings = this.#bySubject.get(key);
      bindings?.delete(binding.metadata.name ?? '');
      if (bindings?.size === 0) this.#bySubject.delete(key);
    }
  }
  /** Bindings that apply to one of these subject keys, by name. */
  applicable(keys: readonly string[]): Binding[] {
    const found = new Map<string, Binding>();
    for (const key of keys) for (const [name, binding] of this.#bySubject.get(key) ?? []) found.set(name, binding);
    return [...found.values()].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  }
}

const noGrants: readonly Grant[] = [];

const combinedName = ({ target }: Attributes): string =>
  !target ? '' : target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;

function search(grants: readonly Grant[], attributes: Attributes, combined: string): Grant | undefined {
  for (const grant of grants) for (const rule of grant.rules) if (rule.allows(attributes, combined)) return grant;
  return undefined;
}

/** RBAC over the cluster's roles and bindings. `stop` ends the subscriptions. */
export class RbacAuthorizer implements Authorizer {
  readonly #cluster: ReadOnlyCluster;
  readonly #clusterIndex = new SubjectIndex();
  readonly #namespaces = new Map<string, SubjectIndex>();
  #byIdentity = new WeakMap<UserInfo, UserGrants>();
  #byName = new Map<string, UserGrants>();
  readonly #stops: (() => void)[];

  constructor(cluster: ReadOnlyCluster) {
    this.#cluster = cluster;
    for (const binding of cluster.list<ClusterRoleBinding>(group, 'clusterrolebindings')) this.#clusterIndex.add(binding);
    for (const binding of cluster.list<RoleBinding>(group, 'rolebindings')) this.#index(binding).add(binding);
    this.#stops = [
      this.#follow('clusterrolebindings', () => this.#clusterIndex),
      this.#follow('rolebindings', (binding) => this.#index(binding)),
      cluster.onChange(group, 'clusterroles', () => this.#forget()),
      cluster.onChange(group, 'roles', () => this.#forget()),
    ];
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #follow(resource: string, indexOf: (binding: Binding) => SubjectIndex): () => void {
    return this.#cluster.onChange<Binding>(group, resource, (now, before) => {
      if (before) indexOf(before).remove(before);
      if (now) indexOf(now).add(now);
      this.#forget();
    });
  }

  #index(binding: Binding): SubjectIndex {
    const namespace = binding.metadata.namespace ?? '';
    const known = this.#namespaces.get(namespace);
    if (known) return known;
    const index = new SubjectIndex();
    this.#namespaces.set(namespace, index);
    return index;
  }

  #forget(): void {
    this.#byIdentity = new WeakMap();
    this.#byName.clear();
  }

  /** The rules a reference stands for. Throws an Error with upstream's text when the role is missing. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const resource = ref.kind === 'Role' ? 'roles' : 'clusterroles';
    if (ref.kind !== 'Role' && ref.kind !== 'ClusterRole') {
      throw new Error(`unsupported role reference kind: ${quote(ref.kind)}`);
    }
    const role = this.#cluster.get<Role | ClusterRole>(group, resource, ref.kind === 'Role' ? namespace : '', ref.name);
    if (!role) throw new Error(`${ref.kind.toLowerCase()}.${group} ${quote(ref.name)} not found`);
    return role.rules ?? undefined;
  }

  #grant(binding: Binding, namespace: string, keys: ReadonlySet<string>): Grant {
    const subject = (binding.subjects ?? []).find((candidate) => keys.has(subjectKey(candidate, namespace)));
    const source = subject ? describe(binding, namespace, subject) : '';
    try {
      return { rules: compileRules(this.rulesOf(binding.roleRef, namespace)), source };
    } catch (error) {
      return { rules: [], source, problem: (error as Error).message };
    }
  }

  #collect(index: SubjectIndex | undefined, user: UserInfo, namespace: string): readonly Grant[] {
    if (!index) return noGrants;
    const keys = [`u:${user.name}`, ...user.groups.map((name) => `g:${name}`)];
    const set = new Set(keys);
    return index.applicable(keys).map((binding) => this.#grant(binding, namespace, set));
  }

  #grantsOf(user: UserInfo): UserGrants {
    const known = this.#byIdentity.get(user);
    if (known) return known;
    const key = JSON.stringify([user.name, user.groups]);
    let grants = this.#byName.get(key);
    if (!grants) {
      grants = { cluster: this.#collect(this.#clusterIndex, user, ''), namespaced: new Map() };
      if (this.#byName.size >= limits.cachedUsersMax) this.#byName.clear();
      this.#byName.set(key, grants);
    }
    this.#byIdentity.set(user, grants);
    return grants;
  }

  #namespaceGrants(grants: UserGrants, user: UserInfo, namespace: string): readonly Grant[] {
    const known = grants.namespaced.get(namespace);
    if (known) return known;
    const fresh = this.#collect(this.#namespaces.get(namespace), user, namespace);
    if (grants.namespaced.size >= limits.cachedNamespacesMax) grants.namespaced.clear();
    grants.namespaced.set(namespace, fresh);
    return fresh;
  }

  authorize(attributes: Attributes): Decision {
    const { user } = attributes;
    const grants = this.#grantsOf(user);
    const combined = combinedName(attributes);
    const namespace = attributes.target?.namespace ?? '';
    const local = namespace === '' ? noGrants : this.#namespaceGrants(grants, user, namespace);
    const grant = search(grants.cluster, attributes, combined) ?? search(local, attributes, combined);
    if (grant) return { allowed: true, reason: `RBAC: allowed by ${grant.source}` };
    const problems = [...grants.cluster, ...local].flatMap(({ problem }) => problem ?? []);
    return { allowed: false, reason: problems.length === 0 ? '' : `RBAC: ${aggregateTexts(problems)}` };
  }

  /** Every rule the user has in the namespace ('' for cluster-wide only), and what could not be resolved. */
  policyRules(user: UserInfo, namespace: string): { rules: PolicyRule[]; problems: string[] } {
    const grants = this.#grantsOf(user);
    const all = namespace === '' ? grants.cluster : [...grants.cluster, ...this.#namespaceGrants(grants, user, namespace)];
    return {
      rules: all.flatMap(({ rules }) => rules.map((rule) => rule.source)),
      problems: all.flatMap(({ problem }) => problem ?? []),
    };
  }

  rulesFor(user: UserInfo, namespace: string): ReturnType<NonNullable<Authorizer['rulesFor']>> {
    const { rules, problems } = this.policyRules(user, namespace);
    return {
      resourceRules: rules
        .filter((rule) => rule.resources?.length)
        .map(({ verbs, apiGroups = [], resources = [], resourceNames }) => ({
          verbs: verbs ?? [],
          apiGroups,
          resources,
          ...(resourceNames && { resourceNames }),
        })),
      nonResourceRules: rules
        .filter((rule) => rule.nonResourceURLs?.length)
        .map(({ verbs, nonResourceURLs = [] }) => ({ verbs: verbs ?? [], nonResourceURLs })),
      incomplete: false,
      ...(problems.length > 0 && { evaluationError: aggregateTexts(problems) }),
    };
  }
}
