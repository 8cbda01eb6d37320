// Policies with their bindings, and which requests they want to see (k8s.io/apiserver/pkg/admission/plugin/policy, generic and matching).
import type { MatchResources, ParamKind, ParamRef } from '#api/admissionregistration/v1';
import { StatusError } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { AdmissionRequest } from '../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';
import type { Through } from '../sight.ts';
import { compileSelectors, matchesSelectors, namedThrough, type Selectors } from '../matching.ts';
import { collectParams, ConfigurationError, paramResource } from './params.ts';

const group = 'admissionregistration.k8s.io';

/** What both kinds of policies say. */
export interface Policy extends KubeObject {
  spec?: { matchConstraints?: MatchResources; paramKind?: ParamKind; failurePolicy?: string };
}
/** What both kinds of bindings say. */
export interface PolicyBinding extends KubeObject {
  spec?: { policyName?: string; paramRef?: ParamRef; matchResources?: MatchResources };
}

interface Matcher {
  resources: MatchResources;
  selectors: Selectors;
}
interface Bound<B> extends Matcher {
  binding: B;
}
/** A policy and one of its bindings, ready to be asked. */
export interface Hook<P, B, C> extends Matcher {
  policy: P;
  compiled: C;
  bindings: readonly Bound<B>[];
}

/** A policy is to be evaluated, with one of the parameters of a binding. */
export interface Invocation<P, B, C> {
  hook: Hook<P, B, C>;
  binding: B;
  param: KubeObject | undefined;
  /** The resource that the policy's rules name the request by. */
  through: Through;
}
/** A policy, or one of its bindings, cannot be evaluated: its failure policy decides. */
export interface Misconfiguration<P, B> {
  policy: P;
  binding?: B;
  problem: string;
}

const matcherOf = (resources: MatchResources = {}): Matcher => ({
  resources,
  selectors: compileSelectors(resources.namespaceSelector, resources.objectSelector),
});

/** The resource that the rules name the request by, where labels fit as well. */
function matched(cluster: ReadOnlyCluster, { resources, selectors }: Matcher, request: AdmissionRequest): Through | undefined {
  const { resourceRules, excludeResourceRules, matchPolicy } = resources;
  if (namedThrough(excludeResourceRules, matchPolicy, request)) return undefined;
  const through = resourceRules?.length ? namedThrough(resourceRules, matchPolicy, request) : 'own';
  return through && matchesSelectors(cluster, selectors, request) ? through : undefined;
}

const byName = <T extends KubeObject>(objects: readonly T[]): T[] =>
  [...objects].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));

/** Policies that are bound, by name; programs are kept for as long as the policy's generation is the same. */
export class PolicyList<P extends Policy, B extends PolicyBinding, C> {
  readonly #cluster: ReadOnlyCluster;
  readonly #policies: string;
  readonly #bindings: string;
  readonly #compile: (policy: P) => C;
  #hooks: readonly Hook<P, B, C>[] | undefined;
  #programs = new Map<string, C>();

  constructor(cluster: ReadOnlyCluster, policies: string, bindings: string, compile: (policy: P) => C) {
    this.#cluster = cluster;
    this.#policies = policies;
    this.#bindings = bindings;
    this.#compile = compile;
    for (const resource of [policies, bindings])
      cluster.onChange(group, resource, () => {
        this.#hooks = undefined;
      });
  }

  get hooks(): readonly Hook<P, B, C>[] {
    this.#hooks ??= this.#load();
    return this.#hooks;
  }

  #load(): readonly Hook<P, B, C>[] {
    const bindings = byName(this.#cluster.list<B>(group, this.#bindings));
    const programs = new Map<string, C>();
    const hooks = byName(this.#cluster.list<P>(group, this.#policies)).flatMap((policy) => {
      const { name, uid, generation } = policy.metadata;
      const own = bindings.filter(({ spec }) => spec?.policyName === name);
      if (own.length === 0) return [];
      const key = JSON.stringify([name, uid, generation]);
      const compiled = this.#programs.get(key) ?? this.#compile(policy);
      programs.set(key, compiled);
      return {
        policy,
        compiled,
        ...matcherOf(policy.spec?.matchConstraints),
        bindings: own.map((binding) => ({ binding, ...matcherOf(binding.spec?.matchResources) })),
      };
    });
    this.#programs = programs;
    return hooks;
  }

  /** What is to be evaluated for a request, in order, and what cannot be. */
  for(request: AdmissionRequest): (Invocation<P, B, C> | Misconfiguration<P, B>)[] {
    return this.hooks.flatMap((hook) => this.#ofPolicy(hook, request));
  }

  #ofPolicy(hook: Hook<P, B, C>, request: AdmissionRequest): (Invocation<P, B, C> | Misconfiguration<P, B>)[] {
    const { policy } = hook;
    const { paramKind } = policy.spec ?? {};
    let through: Through | undefined;
    try {
      through = matched(this.#cluster, hook, request);
      if (!through) return [];
      if (paramKind) paramResource(this.#cluster, paramKind);
    } catch (error) {
      return [{ policy, problem: `failed to configure policy: ${messageOf(error)}` }];
    }
    return hook.bindings.flatMap((bound): (Invocation<P, B, C> | Misconfiguration<P, B>)[] => {
      const { binding } = bound;
      try {
        if (!matched(this.#cluster, bound, request)) return [];
        const params = collectParams(this.#cluster, paramKind, binding.spec?.paramRef, request.namespace);
        return params.map((param) => ({ hook, binding, param, through }));
      } catch (error) {
        return [{ policy, binding, problem: `failed to configure binding: ${messageOf(error)}` }];
      }
    });
  }
}

/** The text of a failure that a configuration may have; others are passed on. */
function messageOf(error: unknown): string {
  if (error instanceof ConfigurationError || error instanceof StatusError) return error.message;
  throw error;
}
