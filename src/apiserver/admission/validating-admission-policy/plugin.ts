// ValidatingAdmissionPolicy (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/;
// k8s.io/apiserver/pkg/admission/plugin/policy).
import type { MatchResources, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import type { Namespace } from '#api/core/v1';
import { notFound, StatusError, type StatusReason } from '#apimachinery/errors';
import {
  type AuthorizationSource,
  authorizerValue,
  celTypes,
  fromJson,
  namespaceType,
  requestType,
  resourceCheckValue,
} from '#cel';
import type { AdmissionRequest, ReadOnlyCluster } from '../../contracts.ts';
import { deny, handling, type PluginFactory } from '../plugin.ts';
import { compileSelectors, isExempt, matchesRule, matchesSelectors, type Selectors } from '../webhook/rules.ts';
import { authorizationSource, PendingAnswer } from './authorization.ts';
import { CompiledPolicy, type Denial, type Input } from './evaluation.ts';
import { collectParams, ConfigurationError, paramResource } from './params.ts';

const group = 'admissionregistration.k8s.io';

interface Matcher {
  resources: MatchResources;
  selectors: Selectors;
}
interface Binding extends Matcher {
  binding: ValidatingAdmissionPolicyBinding;
}
interface Hook extends Matcher {
  policy: ValidatingAdmissionPolicy;
  compiled: CompiledPolicy;
  bindings: readonly Binding[];
}

const matcherOf = (resources: MatchResources = {}): Matcher => ({
  resources,
  selectors: compileSelectors(resources.namespaceSelector, resources.objectSelector),
});

const matchesAny = (rules: MatchResources['resourceRules'], request: AdmissionRequest): boolean =>
  (rules ?? []).some(
    (rule) => matchesRule(rule, request) && (!rule.resourceNames?.length || rule.resourceNames.includes(request.name)),
  );

const matches = (cluster: ReadOnlyCluster, { resources, selectors }: Matcher, request: AdmissionRequest): boolean =>
  !matchesAny(resources.excludeResourceRules, request) &&
  (!resources.resourceRules?.length || matchesAny(resources.resourceRules, request)) &&
  matchesSelectors(cluster, selectors, request);

const byName = <T extends { metadata: { name?: string } }>(objects: readonly T[]): T[] =>
  [...objects].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));

/** Policies that are bound, by name; programs are kept for as long as the policy's generation is the same. */
class PolicyList {
  readonly #cluster: ReadOnlyCluster;
  #hooks: readonly Hook[] | undefined;
  #programs = new Map<string, CompiledPolicy>();

  constructor(cluster: ReadOnlyCluster) {
    this.#cluster = cluster;
    for (const resource of ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'])
      cluster.onChange(group, resource, () => {
        this.#hooks = undefined;
      });
  }

  get hooks(): readonly Hook[] {
    this.#hooks ??= this.#load();
    return this.#hooks;
  }

  #load(): readonly Hook[] {
    const bindings = byName(this.#cluster.list<ValidatingAdmissionPolicyBinding>(group, 'validatingadmissionpolicybindings'));
    const programs = new Map<string, CompiledPolicy>();
    const hooks = byName(this.#cluster.list<ValidatingAdmissionPolicy>(group, 'validatingadmissionpolicies')).flatMap(
      (policy) => {
        const { name, uid, generation } = policy.metadata;
        const own = bindings.filter(({ spec }) => spec?.policyName === name);
        if (own.length === 0) return [];
        const key = JSON.stringify([name, uid, generation]);
        const compiled = this.#programs.get(key) ?? new CompiledPolicy(policy.spec ?? {});
        programs.set(key, compiled);
        return {
          policy,
          compiled,
          ...matcherOf(policy.spec?.matchConstraints),
          bindings: own.map((binding) => ({ binding, ...matcherOf(binding.spec?.matchResources) })),
        };
      },
    );
    this.#programs = programs;
    return hooks;
  }
}

const present = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

/** `request`: the same as webhooks are sent, without the objects. */
function requestJson(request: AdmissionRequest): Record<string, unknown> {
  const { kind, version, resource, subresource, user, name, namespace, operation, dryRun, options } = request;
  const gvk = { group: request.group, version, kind };
  const gvr = { group: request.group, version, resource };
  return present({
    kind: gvk,
    resource: gvr,
    subResource: subresource,
    requestKind: gvk,
    requestResource: gvr,
    requestSubResource: subresource,
    name,
    namespace,
    operation,
    userInfo: present({ username: user.name, uid: user.uid, groups: user.groups, extra: user.extra }),
    dryRun,
    options: Object.keys(options).length > 0 ? options : null,
  });
}

/** The namespace that expressions see; none for a request about a namespace itself. */
function namespaceOf(cluster: ReadOnlyCluster, { group, resource, namespace }: AdmissionRequest): Namespace | undefined {
  if (namespace === '' || (group === '' && resource === 'namespaces')) return undefined;
  const found = cluster.get<Namespace>('', 'namespaces', '', namespace);
  if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  return found;
}

const typed = ({ kind, group, version }: AdmissionRequest, object: object | undefined): object | undefined =>
  object && { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...object };

function inputOf(cluster: ReadOnlyCluster, request: AdmissionRequest, source: AuthorizationSource): Input {
  const { group, resource, subresource, namespace, name } = request;
  return {
    variables: new Map([
      ['object', fromJson(typed(request, request.object), celTypes.dyn)],
      ['oldObject', fromJson(typed(request, request.oldObject), celTypes.dyn)],
      ['request', fromJson(requestJson(request), requestType)],
    ]),
    authorizer: new Map([
      ['authorizer', authorizerValue(source)],
      ['authorizer.requestResource', resourceCheckValue(source, { group, resource, subresource, namespace, name })],
    ]),
    namespace: fromJson(namespaceOf(cluster, request), namespaceType),
  };
}

interface Outcome {
  denials: Denial[];
  warnings: string[];
}

/** What a policy says through one of its bindings. */
function applyBinding(
  cluster: ReadOnlyCluster,
  hook: Hook,
  { binding }: Binding,
  request: AdmissionRequest,
  input: () => Input,
): Outcome {
  const { policy, compiled } = hook;
  const bound = `ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}'`;
  const denied = ({ message, reason }: Denial): Denial => ({ message: `${bound} denied request: ${message}`, reason });
  const outcome: Outcome = { denials: [], warnings: [] };
  for (const param of collectParams(cluster, policy.spec?.paramKind, binding.spec?.paramRef, request.namespace)) {
    const given = input();
    const variables = new Map([...given.variables, ['params', fromJson(param, celTypes.dyn)]]);
    const { validations, annotations } = compiled.evaluate({ ...given, variables });
    for (const denial of validations)
      for (const action of binding.spec?.validationActions ?? []) {
        if (action === 'Deny') outcome.denials.push(denied(denial));
        else if (action === 'Warn') outcome.warnings.push(`Validation failed for ${bound}: ${denial.message}`);
      }
    outcome.denials.push(...annotations.map(denied));
  }
  return outcome;
}

/** The refusal that a broken policy or binding is, unless it fails open. */
function configurationDenials({ policy }: Hook, binding: Binding | undefined, error: unknown): Denial[] {
  if (!(error instanceof ConfigurationError) && !(error instanceof StatusError)) throw error;
  if (policy.spec?.failurePolicy === 'Ignore') return [];
  const at = binding ? ` with binding '${binding.binding.metadata.name}'` : '';
  const what = binding ? 'binding' : 'policy';
  const message = `ValidatingAdmissionPolicy '${policy.metadata.name}'${at} denied request: failed to configure ${what}: ${error.message}`;
  return [{ message, reason: 'Invalid' }];
}

/** Gives `fallback` of what a look at the configuration throws. */
function attempt<T>(action: () => T, fallback: (error: unknown) => T): T {
  try {
    return action();
  } catch (error) {
    return fallback(error);
  }
}

/** What one policy says. Throws `PendingAnswer` where an authorizer needs time. */
function applyPolicy(cluster: ReadOnlyCluster, hook: Hook, request: AdmissionRequest, input: () => Input): Outcome[] {
  const { paramKind } = hook.policy.spec ?? {};
  const broken = (binding?: Binding) => (error: unknown) => ({
    denials: configurationDenials(hook, binding, error),
    warnings: [],
  });
  const applies = attempt<boolean | Outcome>(() => {
    if (!matches(cluster, hook, request)) return false;
    if (paramKind) paramResource(cluster, paramKind);
    return true;
  }, broken());
  if (typeof applies === 'object') return [applies];
  if (!applies) return [];
  return hook.bindings.map((binding) =>
    attempt<Outcome>(
      () =>
        matches(cluster, binding, request) ? applyBinding(cluster, hook, binding, request, input) : { denials: [], warnings: [] },
      broken(binding),
    ),
  );
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

/** The refusal for the first of all denials. */
function refusal(request: AdmissionRequest, { message, reason }: Denial): StatusError {
  const { status } = deny(request, message);
  const details = { ...status.details, causes: [{ message }] };
  return new StatusError({ code: codes[reason] ?? 422, reason: reason as StatusReason, message: status.message ?? '', details });
}

/** Says what the outcomes say. Throws `StatusError`. */
function publish(request: AdmissionRequest, outcomes: readonly Outcome[]): void {
  for (const { warnings } of outcomes) for (const warning of warnings) request.warn(warning);
  const [first] = outcomes.flatMap(({ denials }) => denials);
  if (first) throw refusal(request, first);
}

export const validatingAdmissionPolicy: PluginFactory = ({ cluster, authorizer }) => {
  const list = new PolicyList(cluster);
  /** All policies; again from the start when an answer that was missing is there. */
  const validate = (request: AdmissionRequest, source: AuthorizationSource): void | Promise<void> => {
    let made: Input | undefined;
    const input = (): Input => (made ??= inputOf(cluster, request, source));
    let outcomes: Outcome[];
    try {
      outcomes = list.hooks.flatMap((hook) => applyPolicy(cluster, hook, request, input));
    } catch (error) {
      if (!(error instanceof PendingAnswer)) throw error;
      return error.answered.then(() => validate(request, source));
    }
    publish(request, outcomes);
  };
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: handling('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    validate: (request) =>
      isExempt(request) || list.hooks.length === 0 ? undefined : validate(request, authorizationSource(authorizer, request.user)),
  };
};
