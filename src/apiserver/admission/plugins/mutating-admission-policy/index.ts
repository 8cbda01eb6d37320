// MutatingAdmissionPolicy (https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/; KEP-3962;
// k8s.io/apiserver/pkg/admission/plugin/policy/mutating).
import type { MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import { StatusError, type StatusReason } from '#apimachinery/errors';
import type { UnknownObject } from '#apimachinery/meta';
import type { AuthorizationSource } from '#cel';
import { deepEqual } from '#utils';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, deny, handling, type PluginContext, type PluginFactory } from '../../plugin.ts';
import { authorizationSource, PendingAnswer } from '../../policy/authorization.ts';
import { BudgetError } from '../../policy/expressions.ts';
import { type Invocation, type Misconfiguration, PolicyList } from '../../policy/hooks.ts';
import { type Input, inputOf, isUnseen, objectValue, withVariables } from '../../policy/input.ts';
import { Rounds } from '../../reinvocation.ts';
import { type Sight, Sights, type Through, writeBack } from '../../sight.ts';
import { CompiledMutations, MutationProblem } from './evaluation.ts';
import { mutationMetrics, type ObservedMutation } from './metrics.ts';

const name = 'MutatingAdmissionPolicy';

type MutatingInvocation = Invocation<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, CompiledMutations>;
type Broken = Misconfiguration<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>;

interface Refusal {
  message: string;
  reason: StatusReason;
}

/** Says what `action` says, as soon as all answers of authorizers are there. */
async function settled<T>(action: () => T): Promise<T> {
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!(error instanceof PendingAnswer)) throw error;
      await error.answered;
    }
  }
}

/** The policies that match one request, applied one after the other. */
class Application {
  readonly refusals: Refusal[] = [];
  readonly #request: AdmissionRequest;
  readonly #sights: Sights;
  readonly #inputOf: (sight: Sight) => Input;
  readonly #rounds: Rounds;
  readonly #observe: (mutation: Omit<ObservedMutation, 'seconds'>, startedMs: number) => void;
  readonly #now: () => number;
  /** What the policy at work sees; the object of it is replaced by what the mutations make. */
  #sight: Sight | undefined;
  #input: Input | undefined;
  #dirty = false;

  constructor(
    context: PluginContext,
    observe: (mutation: ObservedMutation) => void,
    request: AdmissionRequest,
    source: AuthorizationSource,
  ) {
    this.#request = request;
    this.#sights = new Sights(request);
    this.#inputOf = (sight) => inputOf(context.cluster, sight, source);
    this.#rounds = Rounds.of(request, name);
    this.#now = () => context.clock.monotonic();
    this.#observe = (mutation, startedMs) => observe({ ...mutation, seconds: (this.#now() - startedMs) / 1000 });
  }

  async run(invocations: readonly MutatingInvocation[]): Promise<void> {
    for (const invocation of invocations) await this.#invoke(invocation);
    await this.#writeBack();
    this.#rounds.finish(this.#request);
  }

  /** Goes on in the version of a policy, with what those before it made. */
  async #see(through: Through): Promise<Sight> {
    if (this.#sight?.through === through) return this.#sight;
    await this.#writeBack();
    const sight = await this.#sights.of(through);
    this.#input = this.#inputOf(sight);
    return (this.#sight = sight);
  }

  async #invoke(invocation: MutatingInvocation): Promise<void> {
    const { hook, binding, param, through } = invocation;
    const { mutations } = hook.compiled;
    let sight: Sight;
    try {
      sight = await this.#see(through);
    } catch (error) {
      if (through === 'own' || !(error instanceof StatusError)) throw error;
      this.refusals.push(...misconfigured({ policy: hook.policy, problem: `failed to configure policy: ${error.message}` }));
      return;
    }
    const applies = await settled(() => this.#matches(invocation));
    if (typeof applies === 'string') return this.#refuse(invocation, applies);
    if (!applies) return;
    const key = JSON.stringify([
      hook.policy.metadata.name,
      binding.metadata.name,
      param?.metadata.namespace,
      param?.metadata.name,
    ]);
    if (!this.#rounds.includes(key)) return;
    const before = sight.object;
    for (const mutation of mutations) {
      if (!sight.object) continue;
      const object = sight.object as UnknownObject;
      const startedMs = this.#now();
      const done = { policy: hook.policy.metadata.name ?? '', binding: binding.metadata.name ?? '' };
      try {
        sight.object = await settled(() => hook.compiled.mutate(mutation, object, this.#inputFor(param), sight));
        this.#dirty = true;
        this.#observe(done, startedMs);
      } catch (error) {
        if (error instanceof Error) this.#observe({ ...done, problem: error.message }, startedMs);
        if (!(error instanceof MutationProblem)) throw error;
        this.#refuse(invocation, error.message);
      }
    }
    if (!deepEqual(before, sight.object)) this.#rounds.changed();
    if (hook.policy.spec?.reinvocationPolicy === 'IfNeeded') this.#rounds.invoked(key);
  }

  #inputFor(param: MutatingInvocation['param']): Input {
    if (!this.#sight || !this.#input) throw new Error('no policy is at work');
    return withVariables(this.#input, [
      ['object', objectValue(this.#sight.object)],
      ['params', objectValue(param)],
    ]);
  }

  /** Whether the conditions of the policy hold, or why that cannot be said. */
  #matches({ hook, param }: MutatingInvocation): boolean | string {
    const failOpen = hook.policy.spec?.failurePolicy === 'Ignore';
    try {
      const matches = hook.compiled.expressions.matches(this.#inputFor(param));
      return typeof matches === 'string' && failOpen ? false : matches;
    } catch (error) {
      if (error instanceof BudgetError) return failOpen ? false : error.message;
      throw error;
    }
  }

  #refuse({ hook, binding }: MutatingInvocation, why: string): void {
    if (hook.policy.spec?.failurePolicy === 'Ignore') return;
    this.refusals.push({ message: refusalText(hook.policy, binding, why), reason: 'Invalid' });
  }

  /** The request's object becomes the mutated one. */
  async #writeBack(): Promise<void> {
    if (!this.#dirty || !this.#sight?.object) return;
    this.#dirty = false;
    this.#rounds.changed();
    await writeBack(this.#sight, this.#sight.object as UnknownObject);
    this.#sights.forget();
    this.#sight = undefined;
  }
}

const refusalText = (
  policy: MutatingAdmissionPolicy,
  binding: MutatingAdmissionPolicyBinding | undefined,
  why: string,
): string =>
  binding
    ? `policy '${policy.metadata.name}' with binding '${binding.metadata.name}' denied request: ${why}`
    : `policy ${JSON.stringify(policy.metadata.name)} denied request: ${why}`;

const misconfigured = ({ policy, binding, problem }: Broken): Refusal[] =>
  policy.spec?.failurePolicy === 'Ignore' ? [] : [{ message: refusalText(policy, binding, problem), reason: 'Forbidden' }];

/** 403 with the first refusal's words, and all of them as causes. */
function refused(request: AdmissionRequest, refusals: readonly Refusal[]): StatusError | undefined {
  const [first] = refusals;
  if (!first) return undefined;
  const { status } = deny(request, '');
  const causes = refusals.map(({ message }) => ({ message }));
  return new StatusError({ code: 403, reason: first.reason, message: first.message, details: { ...status.details, causes } });
}

export const mutatingAdmissionPolicy: PluginFactory = (context) => {
  const list = new PolicyList<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding, CompiledMutations>(
    context.cluster,
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
    ({ spec }) => new CompiledMutations(spec ?? {}),
  );
  const observe = context.metrics ? mutationMetrics(context.metrics) : (): void => {};
  const admit = async (request: AdmissionRequest, found: readonly (MutatingInvocation | Broken)[]): Promise<void> => {
    const refusals = found.flatMap((one) => ('problem' in one ? misconfigured(one) : []));
    const invocations = found.filter((one): one is MutatingInvocation => !('problem' in one));
    if (invocations.length > 0) {
      const application = new Application(context, observe, request, authorizationSource(context.authorizer, request.user));
      await application.run(invocations);
      refusals.push(...application.refusals);
    }
    const error = refused(request, refusals);
    if (error) throw error;
  };
  return {
    name,
    // There is nothing to mutate in what is deleted.
    handles: handling('CREATE', 'UPDATE', 'CONNECT'),
    admit(request) {
      if (isUnseen(request) || list.hooks.length === 0) return;
      const found = list.for(request);
      return found.length === 0 ? undefined : admit(request, found);
    },
  };
};

export const plugin = definePlugin('MutatingAdmissionPolicy', mutatingAdmissionPolicy);
