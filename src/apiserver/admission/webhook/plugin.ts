// MutatingAdmissionWebhook and ValidatingAdmissionWebhook
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/; k8s.io/apiserver/pkg/admission/plugin/webhook).
import type { MutatingWebhook, ValidatingWebhook } from '#api/admissionregistration/v1';
import { badRequest, forbidden, internalError, StatusError, type Status } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import { jsonPatch } from '#apimachinery/patch';
import { goEscaped } from '../../audit/index.ts';
import type { AdmissionRequest, ReadOnlyCluster } from '../../contracts.ts';
import { byClusterIp } from '../../service-resolver.ts';
import { handling, type PluginContext, type PluginFactory } from '../plugin.ts';
import { Rounds } from '../reinvocation.ts';
import { CallFailure, WebhookCaller } from './call.ts';
import { compileSelectors, isExempt, matchesRule, matchesSelectors, type Selectors } from './rules.ts';

const group = 'admissionregistration.k8s.io';
const defaultTimeoutSeconds = 10;

type AnyWebhook = MutatingWebhook | ValidatingWebhook;

interface Hook<T extends AnyWebhook> {
  /** Among all webhooks of its kind. */
  key: string;
  configuration: string;
  /** Among all webhooks of its kind. */
  index: number;
  webhook: T;
  selectors: Selectors;
}

/** The webhooks of all configurations, by configuration name; made anew when one changes. */
class HookList<T extends AnyWebhook> {
  readonly #cluster: ReadOnlyCluster;
  readonly #resource: string;
  #hooks: readonly Hook<T>[] | undefined;

  constructor(cluster: ReadOnlyCluster, resource: string, changed: () => void) {
    this.#cluster = cluster;
    this.#resource = resource;
    cluster.onChange(group, resource, () => {
      this.#hooks = undefined;
      changed();
    });
  }

  matching(request: AdmissionRequest): Hook<T>[] {
    if (isExempt(request)) return [];
    this.#hooks ??= this.#load();
    return this.#hooks.filter(
      ({ webhook, selectors }) =>
        (webhook.rules ?? []).some((rule) => matchesRule(rule, request)) && matchesSelectors(this.#cluster, selectors, request),
    );
  }

  #load(): readonly Hook<T>[] {
    const configurations = [...this.#cluster.list<KubeObject & { webhooks?: T[] }>(group, this.#resource)];
    configurations.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
    return configurations
      .flatMap(({ metadata, webhooks = [] }) =>
        webhooks.map((webhook) => ({
          key: JSON.stringify([metadata.name, webhook.name]),
          configuration: metadata.name ?? '',
          webhook,
        })),
      )
      .map((hook, index) => ({
        ...hook,
        index,
        selectors: compileSelectors(hook.webhook.namespaceSelector, hook.webhook.objectSelector),
      }));
  }
}

/** The refusal of a webhook, with its own status where it gave one. */
export function denial(name: string, given: Partial<Status> | undefined): StatusError {
  const head = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = given?.message || given?.reason;
  const { code = 0, reason, details } = given ?? {};
  return new StatusError({
    code: code < 400 ? 400 : code,
    message: why ? `${head}: ${why}` : `${head} without explanation`,
    ...(reason && { reason }),
    ...(details && { details }),
  });
}

async function ask(
  context: PluginContext,
  caller: WebhookCaller,
  { webhook }: Hook<AnyWebhook>,
  request: AdmissionRequest,
  mutating: boolean,
  place: string,
): Promise<{ patch?: string; patchType?: string } | undefined> {
  const { name, clientConfig, sideEffects, failurePolicy, timeoutSeconds = defaultTimeoutSeconds } = webhook;
  if (request.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun') {
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
  }
  try {
    if (webhook.matchConditions?.length && !(await conditionsMatch(context, webhook, request))) return undefined;
    const response = await caller.call({ name, clientConfig, timeoutSeconds }, request, mutating);
    for (const [key, value] of Object.entries(response.auditAnnotations ?? {})) request.annotate?.(`${name}/${key}`, value);
    for (const warning of response.warnings ?? []) request.warn(warning);
    if (!response.allowed) throw denial(name, response.status as Partial<Status> | undefined);
    return response;
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    const text = `failed calling webhook ${JSON.stringify(name)}: ${error.message}`;
    context.logger.warn(
      failurePolicy === 'Ignore' ? 'failed calling webhook, failing open' : 'failed calling webhook, failing closed',
      {
        webhook: name,
        err: error.message,
      },
    );
    if (failurePolicy !== 'Ignore') throw internalError(text);
    request.annotate?.(`failed-open.${mutating ? 'mutation' : 'validating'}.webhook.admission.k8s.io/${place}`, name);
    return undefined;
  }
}

async function conditionsMatch(
  { matchConditions }: PluginContext,
  webhook: AnyWebhook,
  request: AdmissionRequest,
): Promise<boolean> {
  if (!matchConditions) throw new CallFailure('match conditions cannot be evaluated by this server');
  try {
    return await matchConditions(webhook.matchConditions ?? [], request);
  } catch (error) {
    if (webhook.failurePolicy === 'Ignore') return false;
    throw forbidden({ group: request.group, resource: request.resource }, request.name, (error as Error).message);
  }
}

/** Applies a webhook's patch to the object, in place. True when something changed. */
function applyPatch(name: string, request: AdmissionRequest, patch: string, patchType: string): boolean {
  const { object } = request;
  if (patchType !== 'JSONPatch')
    throw internalError(`failed calling webhook ${JSON.stringify(name)}: unsupported patch type "${patchType}"`);
  if (!object) {
    throw internalError(
      `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  const before = JSON.stringify(object);
  const patched = jsonPatch(JSON.parse(before), JSON.parse(Buffer.from(patch, 'base64').toString('utf8'))) as Record<
    string,
    unknown
  >;
  if (JSON.stringify(patched) === before) return false;
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, patched);
  request.setDefaults?.(object);
  return true;
}

const callerOf = ({ cluster, clock, rng, webhooks }: PluginContext): WebhookCaller =>
  new WebhookCaller({ reach: webhooks ?? { resolve: byClusterIp(cluster) }, clock, uuid: () => rng.uuid() });

export const mutatingAdmissionWebhook: PluginFactory = (context) => {
  const caller = callerOf(context);
  const hooks = new HookList<MutatingWebhook>(context.cluster, 'mutatingwebhookconfigurations', () => caller.forget());
  const invoke = async (hook: Hook<MutatingWebhook>, request: AdmissionRequest): Promise<boolean> => {
    const { configuration, webhook, index } = hook;
    const place = `round_${request.reinvocation?.running ? 1 : 0}_index_${index}`;
    const tell = (kind: 'mutation' | 'patch', what: object, level: 'Metadata' | 'Request'): void => {
      const value = { configuration, webhook: webhook.name, ...what };
      request.annotate?.(`${kind}.webhook.admission.k8s.io/${place}`, goEscaped(JSON.stringify(value)), level);
    };
    let mutated = false;
    try {
      const answer = await ask(context, caller, hook, request, true, place);
      if (!answer?.patch) return false;
      const { patch, patchType = '' } = answer;
      mutated = applyPatch(webhook.name, request, patch, patchType);
      if (request.annotate) tell('patch', { patch: JSON.parse(Buffer.from(patch, 'base64').toString()), patchType }, 'Request');
      return mutated;
    } finally {
      if (request.annotate) tell('mutation', { mutated }, 'Metadata');
    }
  };
  const run = async (request: AdmissionRequest, matching: readonly Hook<MutatingWebhook>[]): Promise<void> => {
    const rounds = Rounds.of(request, 'MutatingAdmissionWebhook');
    for (const hook of matching) {
      if (!rounds.includes(hook.key)) continue;
      if (await invoke(hook, request)) rounds.changed();
      if (hook.webhook.reinvocationPolicy === 'IfNeeded') rounds.invoked(hook.key);
    }
    rounds.finish(request);
  };
  return {
    name: 'MutatingAdmissionWebhook',
    handles: handling('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    admit(request) {
      const matching = hooks.matching(request);
      return matching.length === 0 ? undefined : run(request, matching);
    },
  };
};

export const validatingAdmissionWebhook: PluginFactory = (context) => {
  const caller = callerOf(context);
  const hooks = new HookList<ValidatingWebhook>(context.cluster, 'validatingwebhookconfigurations', () => caller.forget());
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: handling('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    validate(request) {
      const matching = hooks.matching(request);
      if (matching.length === 0) return;
      // All at once; the first refusal in the order of the configurations is the answer.
      const asked = matching.map((hook, index) => ask(context, caller, hook, request, false, `round_0_index_${index}`));
      return Promise.allSettled(asked).then((answers) => {
        const refused = answers.find((answer) => answer.status === 'rejected');
        if (refused?.status === 'rejected') throw refused.reason;
      });
    },
  };
};
