// ValidatingAdmissionPolicy (https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/;
// k8s.io/apiserver/pkg/admission/plugin/policy/validating).
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '#api/admissionregistration/v1';
import { StatusError, type StatusReason } from '#apimachinery/errors';
import type { AuthorizationSource } from '#cel';
import { goEscaped } from '#apimachinery/codec';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import type { AddAnnotation } from '../../../request/notes.ts';
import { definePlugin, deny, handling, type PluginFactory } from '../../plugin.ts';
import { authorizationSource, PendingAnswer } from '../../policy/authorization.ts';
import { type Invocation, type Misconfiguration, PolicyList } from '../../policy/hooks.ts';
import { type Input, inputOf, isUnseen, objectValue, withVariables } from '../../policy/input.ts';
import { type Sight, Sights } from '../../sight.ts';
import { type Annotation, CompiledPolicy, type Denial } from './evaluation.ts';

interface Outcome {
  denials: Denial[];
  warnings: string[];
  /** For the audit log: values by key, and the refusals that are only recorded. */
  annotations: Annotation[];
  failures: string[];
}

type Validation = Invocation<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, CompiledPolicy>;
type Broken = Misconfiguration<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>;
/** A policy with what it sees of the request. */
type Judged = (Validation & { sight: Sight }) | Broken;

/** At once where all policies see the client's own version. What cannot be converted counts as a broken binding. */
function seen(found: readonly (Validation | Broken)[], sights: Sights): Judged[] | Promise<Judged[]> {
  const judged: (Judged | Promise<Judged>)[] = found.map((one) => {
    if ('problem' in one) return one;
    const sight = sights.of(one.through);
    if (!(sight instanceof Promise)) return { ...one, sight };
    return sight.then(
      (made) => ({ ...one, sight: made }),
      (error: unknown) => {
        if (!(error instanceof StatusError)) throw error;
        const problem = `failed to configure binding: failed to convert object version: ${error.message}`;
        return { policy: one.hook.policy, binding: one.binding, problem };
      },
    );
  });
  return judged.some((one) => one instanceof Promise) ? Promise.all(judged.map(async (one) => one)) : (judged as Judged[]);
}

/** What a policy says through one of its bindings, with one parameter. */
function evaluated({ hook, binding, param }: Validation, input: () => Input): Outcome {
  const bound = `ValidatingAdmissionPolicy '${hook.policy.metadata.name}' with binding '${binding.metadata.name}'`;
  const denied = ({ message, reason }: Denial): Denial => ({ message: `${bound} denied request: ${message}`, reason });
  const outcome: Outcome = { denials: [], warnings: [], annotations: [], failures: [] };
  const { validations, annotations, published } = hook.compiled.evaluate(
    withVariables(input(), [['params', objectValue(param)]]),
  );
  for (const denial of validations)
    for (const action of binding.spec?.validationActions ?? []) {
      if (action === 'Deny') outcome.denials.push(denied(denial));
      else if (action === 'Warn') outcome.warnings.push(`Validation failed for ${bound}: ${denial.message}`);
      else outcome.failures.push(failureText(denial, binding));
    }
  outcome.denials.push(...annotations.map(denied));
  const { name } = hook.policy.metadata;
  outcome.annotations.push(...published.map(({ key, value }) => ({ key: `${name}/${key}`, value })));
  return outcome;
}

/** A refusal as the annotation `validation_failure` shows it. */
const failureText = ({ message, index = 0 }: Denial, { metadata, spec }: ValidatingAdmissionPolicyBinding): string =>
  goEscaped(
    JSON.stringify([
      {
        message,
        policy: spec?.policyName,
        binding: metadata.name,
        expressionIndex: index,
        validationActions: spec?.validationActions,
      },
    ]),
  );

/** The refusal that a broken policy or binding is, unless it fails open. */
function misconfigured({ policy, binding, problem }: Broken): Outcome {
  if (policy.spec?.failurePolicy === 'Ignore') return { denials: [], warnings: [], annotations: [], failures: [] };
  const at = binding ? ` with binding '${binding.metadata.name}'` : '';
  const message = `ValidatingAdmissionPolicy '${policy.metadata.name}'${at} denied request: ${problem}`;
  return { denials: [{ message, reason: 'Invalid' }], warnings: [], annotations: [], failures: [] };
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 };

/** The refusal for the first of all denials. */
function refusal(request: AdmissionRequest, { message, reason }: Denial): StatusError {
  const { status } = deny(request, message);
  const details = { ...status.details, causes: [{ message }] };
  return new StatusError({ code: codes[reason] ?? 422, reason: reason as StatusReason, message: status.message ?? '', details });
}

/** Distinct values of one key stand together; of refusals only the first. */
function annotate(add: AddAnnotation, outcomes: readonly Outcome[]): void {
  const values = new Map<string, Set<string>>();
  for (const { annotations, failures } of outcomes) {
    for (const failure of failures) add('validation.policy.admission.k8s.io/validation_failure', failure);
    for (const { key, value } of annotations) values.set(key, (values.get(key) ?? new Set()).add(value));
  }
  for (const [key, distinct] of values) add(key, [...distinct].join(', '));
}

/** Says what the outcomes say. Throws `StatusError`. */
function publish(request: AdmissionRequest, outcomes: readonly Outcome[]): void {
  for (const { warnings } of outcomes) for (const warning of warnings) request.warn(warning);
  if (request.annotate) annotate(request.annotate, outcomes);
  const [first] = outcomes.flatMap(({ denials }) => denials);
  if (first) throw refusal(request, first);
}

export const validatingAdmissionPolicy: PluginFactory = ({ cluster, authorizer }) => {
  const list = new PolicyList<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding, CompiledPolicy>(
    cluster,
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    ({ spec }) => new CompiledPolicy(spec ?? {}),
  );
  /** All policies; again from the start when an answer that was missing is there. */
  const judge = (request: AdmissionRequest, found: readonly Judged[], source: AuthorizationSource): void | Promise<void> => {
    const inputs = new Map<Sight, Input>();
    const inputFor = (sight: Sight): Input => {
      const input = inputs.get(sight) ?? inputOf(cluster, sight, source);
      inputs.set(sight, input);
      return input;
    };
    let outcomes: Outcome[];
    try {
      outcomes = found.map((one) => ('problem' in one ? misconfigured(one) : evaluated(one, () => inputFor(one.sight))));
    } catch (error) {
      if (!(error instanceof PendingAnswer)) throw error;
      return error.answered.then(() => judge(request, found, source));
    }
    publish(request, outcomes);
  };
  const validate = (request: AdmissionRequest, source: AuthorizationSource): void | Promise<void> => {
    const found = seen(list.for(request), new Sights(request));
    return found instanceof Promise ? found.then((all) => judge(request, all, source)) : judge(request, found, source);
  };
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: handling('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    validate: (request) =>
      isUnseen(request) || list.hooks.length === 0 ? undefined : validate(request, authorizationSource(authorizer, request.user)),
  };
};

export const plugin = definePlugin('ValidatingAdmissionPolicy', validatingAdmissionPolicy);
