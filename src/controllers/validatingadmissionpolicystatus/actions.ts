// The shell of the loop: asks the apiserver which kinds a policy's rules name and what their objects look like.
import type { ExpressionWarning, ParamKind, ValidatingAdmissionPolicySpec } from '#api/admissionregistration/v1';
import { parseApiVersion } from '#apimachinery/meta';
import type { Type } from '#cel';
import type { ActionDeps } from '#controller-runtime';
import { type CheckedKind, TypeChecker } from './check.ts';
import { type GroupVersionKind, kindsOfRuleMax, resourcesOfRules, sortedKinds } from './kinds.ts';
import { typeOf } from './schemas.ts';

/** Group versions that are asked for one policy. */
const groupVersionsMax = 100;

const pathOf = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${encodeURIComponent(group)}/${encodeURIComponent(version)}`;

interface ResourceList {
  resources?: { name?: unknown; kind?: unknown }[];
}

/** What the apiserver says of its kinds, each document asked for once. */
class Server {
  readonly #deps: Pick<ActionDeps, 'client'>;
  readonly #signal: AbortSignal;
  readonly #documents = new Map<string, Promise<unknown>>();

  constructor(deps: Pick<ActionDeps, 'client'>, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
  }
  /** The document; undefined where it does not exist. Rejects when the apiserver does not answer. */
  #document(path: string): Promise<unknown> {
    const known = this.#documents.get(path);
    if (known) return known;
    if (this.#documents.size >= groupVersionsMax) return Promise.resolve(undefined);
    const asked = this.#deps.client.transport.raw('GET', path, undefined, this.#signal).then(({ status, text }): unknown => {
      if (status >= 500) throw new Error(`${path}: the server answered ${status}`);
      return status === 200 ? JSON.parse(text) : undefined;
    });
    this.#documents.set(path, asked);
    return asked;
  }
  async kindOf(group: string, version: string, resource: string): Promise<string | undefined> {
    const list = (await this.#document(`/${pathOf(group, version)}`)) as ResourceList | undefined;
    const kind = Array.isArray(list?.resources) ? list.resources.find(({ name }) => name === resource)?.kind : undefined;
    return typeof kind === 'string' ? kind : undefined;
  }
  async typeOf(kind: GroupVersionKind): Promise<Type | undefined> {
    const document = await this.#document(`/openapi/v3/${pathOf(kind.group, kind.version)}`);
    return document === undefined ? undefined : typeOf(document, kind);
  }
}

async function kindsOf(server: Server, spec: ValidatingAdmissionPolicySpec): Promise<GroupVersionKind[]> {
  const found: GroupVersionKind[] = [];
  for (const rule of resourcesOfRules(spec)) {
    let ofRule = 0;
    for (const { group, version, resource } of rule) {
      const kind = await server.kindOf(group, version, resource);
      if (kind === undefined) continue;
      found.push({ group, version, kind });
      if (++ofRule === kindsOfRuleMax) return sortedKinds(found);
    }
  }
  return sortedKinds(found);
}

async function typeOfParams(server: Server, { apiVersion = '', kind = '' }: ParamKind): Promise<Type | undefined> {
  const { group, version } = parseApiVersion(apiVersion);
  return kind === '' ? undefined : server.typeOf({ group, version, kind });
}

/** The warnings about a policy's expressions. Rejects when the apiserver does not answer. */
export async function checkTypes(
  { client, clock }: Pick<ActionDeps, 'client' | 'clock'>,
  spec: ValidatingAdmissionPolicySpec,
  signal: AbortSignal,
): Promise<ExpressionWarning[]> {
  const server = new Server({ client }, signal);
  const kinds: CheckedKind[] = [];
  for (const kind of await kindsOf(server, spec)) {
    const type = await server.typeOf(kind);
    if (type) kinds.push({ kind, type });
  }
  const checker = new TypeChecker(spec, kinds, spec.paramKind && (await typeOfParams(server, spec.paramKind)));
  const warnings: ExpressionWarning[] = [];
  for (const index of (spec.validations ?? []).keys()) {
    warnings.push(...checker.warningsOf(index));
    await clock.sleep(0, signal);
  }
  return warnings;
}
