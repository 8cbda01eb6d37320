// Who may do what, from the options: the authorizers in the order of modes or of a file, which may change while the server runs
// (k8s.io/kubernetes pkg/kubeapiserver/authorizer).
import { readText } from '../platform/files.ts';
import type { Rng } from '#utils';
import {
  type AuthorizerConfiguration,
  createNodeAuthorizer,
  createWebhookAuthorizer,
  mastersAuthorizer,
  parseAuthorizationConfiguration,
  readAccessServer,
  RbacAuthorizer,
  unionAuthorizer,
} from '../authorization/index.ts';
import type { Authorizer } from '../authorization/types.ts';
import { followFile } from '../configuration/index.ts';
import type { PartsInput } from '../server-options.ts';
import type { KubeApiServerOptions } from './options.ts';
import { reloadCounter } from './reload-metrics.ts';

type Union = ReturnType<typeof unionAuthorizer>;

export interface Authorization {
  authorizer: Union;
  /** Absent: roles mean nothing. */
  rbac: RbacAuthorizer | undefined;
  close(): void;
}

interface Closable {
  close(): void;
}

/** Counts what each authorizer decided (k8s.io/kubernetes pkg/kubeapiserver/authorizer, apiserver_authorization_decisions_total). */
function counted(inner: Authorizer, type: string, name: string, { metrics }: PartsInput): Authorizer {
  const total = metrics.counter({
    name: 'apiserver_authorization_decisions_total',
    help: 'Total number of terminal decisions made by an authorizer split by authorizer type, name, and decision.',
    labels: ['type', 'name', 'decision'],
  });
  const [allowed, denied] = [total.labels(type, name, 'allowed'), total.labels(type, name, 'denied')];
  const { rulesFor } = inner;
  const count = <T extends { allowed: boolean; denied?: boolean }>(decision: T): T => {
    if (decision.allowed) allowed.inc();
    else if (decision.denied) denied.inc();
    return decision;
  };
  return {
    authorize(attributes, cancellation) {
      const decision = inner.authorize(attributes, cancellation);
      return decision instanceof Promise ? decision.then(count) : count(decision);
    },
    ...(rulesFor && { rulesFor: (user, namespace) => rulesFor.call(inner, user, namespace) }),
  };
}

interface Configured {
  /** The file's; '' where there is none. */
  text: string;
  list: readonly AuthorizerConfiguration[];
}

async function configured({ access = {}, authorizationModes }: KubeApiServerOptions): Promise<Configured> {
  const { authorizationConfig: path, authorizers } = access;
  if (path !== undefined) {
    const text = await readText(path);
    return { text, list: parseAuthorizationConfiguration(text, path) };
  }
  const modes = authorizationModes.length > 0 ? authorizationModes : ['AlwaysAllow'];
  return { text: '', list: authorizers ?? modes.map((type) => ({ type, name: type.toLowerCase() })) };
}

/** Reads what authorizers are made from, and makes none. Rejects as making them would. */
export async function checkAuthorizationFiles(options: KubeApiServerOptions): Promise<void> {
  for (const { webhook } of (await configured(options)).list) if (webhook) await readAccessServer(webhook);
}

/** Rejects with an Error in upstream's words for files that cannot be read. */
export async function authorizationOf(options: KubeApiServerOptions, rng: Rng, input: PartsInput): Promise<Authorization> {
  const { cluster, clock, logger, metrics } = input;
  const { authorizationConfig: path } = options.access ?? {};
  const { text, list: first } = await configured(options);
  const types = first.map(({ type }) => type);
  const rbac = types.includes('RBAC') ? new RbacAuthorizer(cluster) : undefined;
  const fixed: Record<string, Authorizer | undefined> = {
    AlwaysAllow: { authorize: () => ({ allowed: true, reason: '' }) },
    AlwaysDeny: { authorize: () => ({ allowed: false, reason: 'Everything is forbidden.' }) },
    ...(types.includes('Node') && { Node: createNodeAuthorizer(cluster) }),
    ...(rbac && { RBAC: rbac }),
  };
  const make = async (list: readonly AuthorizerConfiguration[]): Promise<{ union: Union; closing: Closable[] }> => {
    const closing: Closable[] = [];
    const made: Authorizer[] = [];
    for (const { type, name, webhook } of list) {
      if (webhook) {
        const authorizer = await createWebhookAuthorizer(name, webhook, { clock, rng, logger, metrics });
        closing.push(authorizer);
        made.push(counted(authorizer, type, name, input));
        continue;
      }
      const authorizer = fixed[type];
      if (!authorizer) throw new Error(`authorization-mode ${JSON.stringify(type)} is not available`);
      made.push(counted(authorizer, type, name, input));
    }
    return { union: unionAuthorizer([mastersAuthorizer, ...made]), closing };
  };
  let current = await make(first);
  const count = reloadCounter(metrics, 'authorization', () => clock.now());
  const followed =
    path === undefined
      ? undefined
      : followFile({
          path,
          loaded: text,
          async load(next) {
            const before = current;
            current = await make(parseAuthorizationConfiguration(next, path, types));
            for (const one of before.closing) one.close();
          },
          onResult: ({ error }) => count(!error),
          clock,
          logger,
        });
  return {
    authorizer: {
      authorize: (attributes, cancellation) => current.union.authorize(attributes, cancellation),
      rulesFor: (user, namespace) => current.union.rulesFor(user, namespace),
    },
    rbac,
    close() {
      followed?.close();
      for (const one of current.closing) one.close();
    },
  };
}
