// MutatingAdmissionWebhook and ValidatingAdmissionWebhook
// (https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/; k8s.io/apiserver/pkg/admission/plugin/webhook).
import type { AdmissionResponse } from '#api/admission/v1';
import type { MutatingWebhook, ValidatingWebhook } from '#api/admissionregistration/v1';
import { builtinSchema } from '#api';
import { badRequest, internalError, StatusError, type Status } from '#apimachinery/errors';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { applyOperations, type Json, jsonPatchOperationsMax, jsonTypeName } from '#apimachinery/patch';
import { goEscaped } from '#apimachinery/codec';
import { decode, DecodeError, parseJson } from '#apimachinery/schema';
import type { AdmissionRequest, AdmittedType } from '../../registry/generic/admission.ts';
import type { ReadOnlyCluster } from '../../storage/read-only-cluster.ts';
import { byClusterIp } from '../../outbound/service-resolver.ts';
import type { AuthorizationSource } from '#cel';
import { handling, type PluginContext, type PluginFactory } from '../plugin.ts';
import { authorizationSource } from '../policy/authorization.ts';
import type { PolicyExpressions } from '../policy/expressions.ts';
import { type ObservedCall, webhookMetrics } from '../metrics.ts';
import { Rounds } from '../reinvocation.ts';
import { type Sight, Sights, type Through, writeBack } from '../sight.ts';
import { CallFailure, WebhookCaller } from './call.ts';
import { compileConditions, conditionsCheck, type ConditionsCheck } from './conditions.ts';
import { compileSelectors, isExempt, matchesSelectors, namedThrough, type Selectors } from '../matching.ts';

const group = 'admissionregistration.k8s.io';
const defaultTimeoutSeconds = 10;
const httpCodeMax = 599;

type AnyWebhook = MutatingWebhook | ValidatingWebhook;

interface Hook<T extends AnyWebhook> {
  /** Among all webhooks of its kind. */
  key: string;
  configuration: string;
  /** Among all webhooks of its kind. */
  index: number;
  webhook: T;
  selectors: Selectors;
  /** Absent: there are none. */
  conditions: PolicyExpressions | undefined;
}

/** A webhook, and the resource by which its rules name a request. */
interface Named<T extends AnyWebhook> {
  hook: Hook<T>;
  through: Through;
}

/** 500 for what cannot be converted. */
const converted = async (sight: Sight | Promise<Sight>): Promise<Sight> => {
  try {
    return await sight;
  } catch (error) {
    throw error instanceof StatusError ? internalError(error.message) : error;
  }
};

/** The webhooks of all configurations, by configuration name; made anew when one changes. */
class HookList<T extends AnyWebhook> {
  readonly #cluster: ReadOnlyCluster;
  readonly #resource: string;
  readonly #check: ConditionsCheck;
  #hooks: readonly Hook<T>[] | undefined;

  constructor({ cluster, ...context }: PluginContext, type: 'admit' | 'validate', changed: () => void) {
    this.#cluster = cluster;
    this.#resource = type === 'admit' ? 'mutatingwebhookconfigurations' : 'validatingwebhookconfigurations';
    this.#check = conditionsCheck(context, type);
    const resource = this.#resource;
    cluster.onChange(group, resource, () => {
      this.#hooks = undefined;
      changed();
    });
  }

  /** The webhooks whose rules name the request. */
  named(request: AdmissionRequest): Named<T>[] {
    if (isExempt(request)) return [];
    this.#hooks ??= this.#load();
    return this.#hooks.flatMap((hook) => {
      const through = namedThrough(hook.webhook.rules, hook.webhook.matchPolicy, request);
      return through ? [{ hook, through }] : [];
    });
  }

  /** What one of them is to see, where its labels and conditions fit as well at this moment: others may have changed the object. */
  async sight(
    { hook: { webhook, selectors, conditions }, through }: Named<T>,
    request: AdmissionRequest,
    sights: Sights,
    source: AuthorizationSource,
  ): Promise<Sight | undefined> {
    if (!matchesSelectors(this.#cluster, selectors, request)) return undefined;
    await request.rest?.();
    const sight = await converted(sights.of(through));
    return !conditions || (await this.#check(webhook, conditions, sight, source)) ? sight : undefined;
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
        conditions: compileConditions(hook.webhook),
      }));
  }
}

/** The refusal of a webhook, with its own status where it gave one. */
export function denial(name: string, given: Partial<Status> | undefined): StatusError {
  const head = `admission webhook ${JSON.stringify(name)} denied the request`;
  const why = given?.message || given?.reason;
  const { code = 0, reason, details } = given ?? {};
  return new StatusError({
    // Beyond these it is no code that HTTP can say.
    code: code < 400 || code > httpCodeMax ? 400 : code,
    message: why ? `${head}: ${why}` : `${head} without explanation`,
    ...(reason && { reason }),
    ...(details && { details }),
  });
}

/** What webhooks of one type are asked with. */
interface Asking {
  context: PluginContext;
  caller: WebhookCaller;
  mutating: boolean;
  observe: ((call: ObservedCall) => void) | undefined;
}

const askingOf = (context: PluginContext, caller: WebhookCaller, type: 'admit' | 'validate'): Asking => ({
  ...{ context, caller, mutating: type === 'admit' },
  observe: context.metrics && webhookMetrics(context.metrics, type),
});

/** Asks one webhook, and counts what came of it. */
async function ask(asking: Asking, hook: Hook<AnyWebhook>, sight: Sight, place: string): Promise<Patching | undefined> {
  const { name, failurePolicy } = hook.webhook;
  const { clock } = asking.context;
  const { request } = sight;
  const started = clock.monotonic();
  const seen = { rejected: false, errorType: 'no_error' as ObservedCall['errorType'], code: 200, failedOpen: false };
  try {
    return await call(asking, hook.webhook, sight);
  } catch (error) {
    if (!(error instanceof CallFailure)) {
      const status = error instanceof StatusError ? error.status : undefined;
      Object.assign(seen, {
        rejected: true,
        code: status?.code ?? 0,
        errorType: status ? 'no_error' : 'apiserver_internal_error',
      });
      throw error;
    }
    const failsOpen = failurePolicy === 'Ignore';
    Object.assign(seen, { rejected: !failsOpen, code: 500, errorType: 'calling_webhook_error', failedOpen: failsOpen });
    const told = failsOpen ? 'failed calling webhook, failing open' : 'failed calling webhook, failing closed';
    asking.context.logger.warn(told, { webhook: name, err: error.message });
    if (!failsOpen) throw internalError(`failed calling webhook ${JSON.stringify(name)}: ${error.message}`);
    request.annotate?.(`failed-open.${asking.mutating ? 'mutation' : 'validating'}.webhook.admission.k8s.io/${place}`, name);
    return undefined;
  } finally {
    const spentMs = clock.monotonic() - started;
    request.onAway?.(spentMs);
    asking.observe?.({ name, operation: request.operation, seconds: spentMs / 1000, ...seen });
  }
}

/** The operations that a webhook answered, and their text. */
interface Patching {
  text: string;
  operations: readonly object[];
}

/** Rejects with `CallFailure` where the webhook has not answered, and with its refusal. */
async function call({ caller, mutating }: Asking, webhook: AnyWebhook, sight: Sight): Promise<Patching | undefined> {
  const { name, clientConfig, sideEffects, timeoutSeconds = defaultTimeoutSeconds } = webhook;
  const { request } = sight;
  if (request.dryRun && sideEffects !== 'None' && sideEffects !== 'NoneOnDryRun')
    throw badRequest(`admission webhook ${JSON.stringify(name)} does not support dry run`);
  const response = await caller.call({ name, clientConfig, timeoutSeconds }, sight, mutating);
  for (const [key, value] of Object.entries(response.auditAnnotations ?? {})) request.annotate?.(`${name}/${key}`, value);
  for (const warning of response.warnings ?? []) request.warn(warning);
  if (!response.allowed) throw denial(name, response.status as Partial<Status> | undefined);
  await request.rest?.();
  return patchOf(name, response, sight);
}

/** The patch of an answer, if it has one. Throws `CallFailure` where it cannot be read. */
function patchOf(name: string, { patch = '', patchType }: AdmissionResponse, { object }: Sight): Patching | undefined {
  if (patch === '') return undefined;
  const text = Buffer.from(patch, 'base64').toString('utf8');
  const operations = readOperations(text);
  if (operations.length === 0) return undefined;
  if (!object) {
    throw internalError(
      `admission webhook ${JSON.stringify(name)} attempted to modify the object, which is not supported for this operation`,
    );
  }
  if (patchType !== 'JSONPatch') throw new CallFailure(`unsupported patch type "${patchType ?? ''}"`);
  return { text, operations };
}

function readOperations(text: string): readonly object[] {
  const undecodable = (why: string) => new CallFailure(`received undecodable patch in webhook response: ${why}`);
  let value: Json;
  try {
    value = parseJson(text).value as Json;
  } catch (error) {
    throw undecodable((error as Error).message);
  }
  if (value === null) return [];
  if (!Array.isArray(value)) throw undecodable(misfit(value, 'Patch'));
  if (value.length > jsonPatchOperationsMax) throw undecodable(`more than ${jsonPatchOperationsMax} operations`);
  for (const one of value)
    if (typeof one !== 'object' || one === null || Array.isArray(one)) throw undecodable(misfit(one, 'Operation'));
  return value as object[];
}

const misfit = (value: Json, type: string): string =>
  `json: cannot unmarshal ${jsonTypeName(value)} into Go value of type jsonpatch.${type}`;

/** Applies a webhook's patch to the object, in place. True when something changed. */
async function applyPatch(sight: Sight, operations: readonly object[]): Promise<boolean> {
  const { object, type } = sight;
  const rest = (): Promise<void> | undefined => sight.request.rest?.();
  const before = JSON.stringify(object);
  let patched: UnknownObject;
  try {
    await rest();
    const outcome = applyOperations(JSON.parse(before), operations);
    if ('problem' in outcome) throw internalError(outcome.problem);
    await rest();
    if (JSON.stringify(outcome.result) === before) return false;
    await rest();
    patched = readPatched(outcome.result, type);
    await rest();
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
  checkKind(patched, object ?? {});
  type?.setDefaults(patched);
  await writeBack(sight, patched);
  return true;
}

/** What a patch made, as an object of the type that it is of. Throws `DecodeError`. */
function readPatched(made: unknown, type: AdmittedType | undefined): UnknownObject {
  const { schema = builtinSchema(), typeName = anyObject } = type ?? {};
  const { object } = type?.read?.(made, false) ?? decode(schema, typeName, made);
  const { apiVersion, kind } = made as UnknownObject;
  // Of what no table knows only the metadata has a type.
  const whole = (type ? object : made) as UnknownObject;
  return { ...whole, apiVersion, kind, metadata: (object as Partial<UnknownObject>).metadata ?? {} } as UnknownObject;
}

const anyObject = 'io.k8s.apimachinery.pkg.apis.meta.v1.PartialObjectMetadata';

/** A patch may not make it something else. */
function checkKind(made: UnknownObject, { apiVersion, kind }: Partial<UnknownObject>): void {
  if (made.kind === kind && made.apiVersion === apiVersion) return;
  const [from, to] = [`${made.apiVersion}, Kind=${made.kind}`, `${apiVersion}, Kind=${kind}`];
  throw internalError(`failed to convert object: converting (${from}) to (${to}): unknown conversion`);
}

const callerOf = ({ cluster, clock, rng, webhooks }: PluginContext): WebhookCaller =>
  new WebhookCaller({ reach: webhooks ?? { resolve: byClusterIp(cluster) }, clock, uuid: () => rng.uuid() });

export const mutatingAdmissionWebhook: PluginFactory = (context) => {
  const caller = callerOf(context);
  const asking = askingOf(context, caller, 'admit');
  const hooks = new HookList<MutatingWebhook>(context, 'admit', () => caller.forget());
  const invoke = async (hook: Hook<MutatingWebhook>, sight: Sight): Promise<boolean> => {
    const { request } = sight;
    const { configuration, webhook, index } = hook;
    const place = `round_${request.reinvocation?.running ? 1 : 0}_index_${index}`;
    const tell = (kind: 'mutation' | 'patch', what: object, level: 'Metadata' | 'Request'): void => {
      const value = { configuration, webhook: webhook.name, ...what };
      request.annotate?.(`${kind}.webhook.admission.k8s.io/${place}`, goEscaped(JSON.stringify(value)), level);
    };
    let mutated = false;
    try {
      const answer = await ask(asking, hook, sight, place);
      if (!answer) return false;
      mutated = await applyPatch(sight, answer.operations);
      if (request.annotate) tell('patch', { patch: JSON.parse(answer.text), patchType: 'JSONPatch' }, 'Request');
      return mutated;
    } finally {
      if (request.annotate) tell('mutation', { mutated }, 'Metadata');
    }
  };
  const run = async (request: AdmissionRequest, named: readonly Named<MutatingWebhook>[]): Promise<void> => {
    const rounds = Rounds.of(request, 'MutatingAdmissionWebhook');
    const source = authorizationSource(context.authorizer, request.user);
    const sights = new Sights(request);
    for (const one of named) {
      const { hook } = one;
      const sight = await hooks.sight(one, request, sights, source);
      if (!sight || !rounds.includes(hook.key)) continue;
      if (await invoke(hook, sight)) {
        sights.forget();
        rounds.changed();
      }
      if (hook.webhook.reinvocationPolicy === 'IfNeeded') rounds.invoked(hook.key);
    }
    rounds.finish(request);
  };
  return {
    name: 'MutatingAdmissionWebhook',
    handles: handling('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    admit(request) {
      const named = hooks.named(request);
      return named.length === 0 ? undefined : run(request, named);
    },
  };
};

export const validatingAdmissionWebhook: PluginFactory = (context) => {
  const caller = callerOf(context);
  const asking = askingOf(context, caller, 'validate');
  const hooks = new HookList<ValidatingWebhook>(context, 'validate', () => caller.forget());
  const run = async (request: AdmissionRequest, named: readonly Named<ValidatingWebhook>[]): Promise<void> => {
    const source = authorizationSource(context.authorizer, request.user);
    const sights = new Sights(request);
    const fitting: { hook: Hook<ValidatingWebhook>; sight: Sight }[] = [];
    for (const one of named) {
      const sight = await hooks.sight(one, request, sights, source);
      if (sight) fitting.push({ hook: one.hook, sight });
    }
    // All at once; the first refusal in the order of the configurations is the answer.
    const asked = fitting.map(({ hook, sight }, index) => ask(asking, hook, sight, `round_0_index_${index}`));
    for (const answer of await Promise.allSettled(asked)) if (answer.status === 'rejected') throw answer.reason;
  };
  return {
    name: 'ValidatingAdmissionWebhook',
    handles: handling('CREATE', 'UPDATE', 'DELETE', 'CONNECT'),
    validate(request) {
      const named = hooks.named(request);
      return named.length === 0 ? undefined : run(request, named);
    },
  };
};
