// Acting as somebody else with `Impersonate-*` headers: the constrained modes of KEP-5284 first, then the legacy verb `impersonate`
// (k8s.io/apiserver/pkg/endpoints/filters/impersonation). The mode that last worked for a user is tried first.
import { badRequest } from '#apimachinery/errors';
import { root } from '#apimachinery/field';
import { aggregate } from '#apimachinery/field';
import { validateDomainPrefixedPath } from '#apimachinery/validation';
import { own, setOwn } from '#utils';
import { forbiddenError } from './messages.ts';
import type { Authorizer } from './types.ts';
import type { Cancellation } from '../request/cancellation.ts';
import type { Attributes, Credentials, UserInfo } from '../request/request.ts';
import { headerValue, headerValues, unescapeKey } from '../authentication/headers.ts';
import {
  anonymousUser,
  authenticatedGroup,
  extraKeys,
  mastersGroup,
  nodeOfUserName,
  nodesGroup,
  serviceAccountGroups,
  splitServiceAccountName,
  unauthenticatedGroup,
  withGroup,
} from '../authentication/users.ts';

const userHeader = 'impersonate-user';
const uidHeader = 'impersonate-uid';
const groupHeader = 'impersonate-group';
const extraPrefix = 'impersonate-extra-';

/** Users whose last working mode is remembered. */
const rememberedUsersMax = 10_000;
/** From this many groups or extras on, one check for all of them is tried first. */
const manyChecks = 4;

type Wanted = Omit<UserInfo, 'extra'> & { extra: Record<string, string[]> };

const goString = (text: string): string => JSON.stringify(text);
const goStrings = (items: readonly string[]): string =>
  items.length === 0 ? '[]string(nil)' : `[]string{${items.map(goString).join(', ')}}`;
const goMap = (extra: Record<string, string[]>): string => {
  const entries = Object.keys(extra).sort();
  if (entries.length === 0) return 'map[string][]string(nil)';
  return `map[string][]string{${entries.map((key) => `${goString(key)}:${goStrings(extra[key] ?? [])}`).join(', ')}}`;
};

/** Whether any header is about acting as somebody else: most requests have none. */
export function asksToImpersonate({ headers }: Credentials): boolean {
  for (const header in headers) if (header.startsWith('impersonate-')) return true;
  return false;
}

/** The identity that the headers ask for; undefined when they ask for nobody. Throws 400 when they name groups, a UID or extras without a user. */
export function wantedUser({ headers }: Credentials): Wanted | undefined {
  const name = headerValue(headers, userHeader);
  const uid = headerValue(headers, uidHeader);
  const groups = [...headerValues(headers, groupHeader)];
  const extra: Record<string, string[]> = {};
  for (const header in headers) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = unescapeKey(header.slice(extraPrefix.length));
    setOwn(extra, key, [...(own(extra, key) ?? []), ...headerValues(headers, header)]);
  }
  if (name !== '') return { name, groups, extra, ...(uid !== '' && { uid }) };
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return undefined;
  throw badRequest(
    `requested &user.DefaultInfo{Name:"", UID:${goString(uid)}, Groups:${goStrings(groups)}, Extra:${goMap(extra)}} without impersonating a user name`,
  );
}

const onlyName = (wanted: Wanted): boolean =>
  wanted.uid === undefined && wanted.groups.length === 0 && Object.keys(wanted.extra).length === 0;

const nodeOfRequestor = (requestor: UserInfo): string | undefined =>
  splitServiceAccountName(requestor.name) ? requestor.extra?.[extraKeys.nodeName]?.[0] : undefined;

interface Mode {
  /** '' for legacy. */
  name: string;
  applies(wanted: Wanted, requestor: UserInfo): boolean;
}

const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    applies: (wanted, requestor) => {
      const node = onlyName(wanted) ? nodeOfUserName(wanted.name) : undefined;
      return node !== undefined && node === nodeOfRequestor(requestor);
    },
  },
  { name: 'arbitrary-node', applies: (wanted) => onlyName(wanted) && nodeOfUserName(wanted.name) !== undefined },
  { name: 'serviceaccount', applies: (wanted) => onlyName(wanted) && splitServiceAccountName(wanted.name) !== undefined },
  {
    name: 'user-info',
    applies: (wanted) => nodeOfUserName(wanted.name) === undefined && splitServiceAccountName(wanted.name) === undefined,
  },
  { name: '', applies: () => true },
];

type Check = (
  group: string,
  resource: string,
  name: string,
  more?: { namespace?: string; subresource?: string },
) => Promise<void>;

async function require(authorizer: Authorizer, attributes: Attributes): Promise<void> {
  const decision = await authorizer.authorize(attributes);
  if (!decision.allowed) throw forbiddenError(attributes, decision.reason);
}

async function checkUser(check: Check, mode: Mode, wanted: Wanted): Promise<void> {
  const group = mode.name === '' ? '' : 'authentication.k8s.io';
  const node = mode.name === '' ? undefined : nodeOfUserName(wanted.name);
  const account = splitServiceAccountName(wanted.name);
  if (node !== undefined) await check(group, 'nodes', mode.name === 'associated-node' ? '*' : node);
  else if (account) await check(group, 'serviceaccounts', account.name, { namespace: account.namespace });
  else await check(group, 'users', wanted.name);
}

async function checkGroups(
  check: Check,
  refuse: (resource: string, name: string, why: string) => Error,
  mode: Mode,
  wanted: Wanted,
) {
  const group = mode.name === '' ? '' : 'authentication.k8s.io';
  const { groups } = wanted;
  if (mode.name !== '') {
    if (groups.includes('')) throw refuse('groups', '', 'impersonating the empty string group is not allowed');
    if (groups.includes(mastersGroup)) {
      throw refuse('groups', mastersGroup, 'impersonating the system:masters group is not allowed');
    }
    if (groups.length >= manyChecks && (await passes(check(group, 'groups', '*')))) return;
  }
  for (const name of groups) await check(group, 'groups', name);
}

const passes = (check: Promise<void>): Promise<boolean> =>
  check.then(
    () => true,
    () => false,
  );

function extraProblem(extra: Record<string, string[]>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const problems = validateDomainPrefixedPath(root('extra', 'key'), key);
    if (problems.length > 0) return `impersonating an invalid key in extra is not allowed: ${aggregate(problems)}`;
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

async function checkExtra(
  check: Check,
  refuse: (resource: string, name: string, why: string) => Error,
  mode: Mode,
  wanted: Wanted,
) {
  const entries = Object.entries(wanted.extra);
  if (entries.length === 0) return;
  if (mode.name !== '') {
    const problem = extraProblem(wanted.extra);
    if (problem !== undefined) throw refuse('userextras', '', problem);
    const count = entries.reduce((sum, [, values]) => sum + values.length, 0);
    const large = entries.length >= manyChecks || count >= manyChecks;
    if (large && (await passes(check('authentication.k8s.io', 'userextras', '*', { subresource: '*' })))) return;
  }
  for (const [subresource, values] of entries) {
    for (const value of values) await check('authentication.k8s.io', 'userextras', value, { subresource });
  }
}

function resultingUser(mode: Mode, wanted: Wanted): UserInfo {
  const account = splitServiceAccountName(wanted.name);
  const fixed = account
    ? serviceAccountGroups(account.namespace)
    : mode.name !== '' && nodeOfUserName(wanted.name) !== undefined
      ? [nodesGroup]
      : [];
  const { extra, ...rest } = wanted;
  const user: UserInfo = {
    ...rest,
    groups: wanted.groups.length > 0 ? wanted.groups : fixed,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
  if (user.name === anonymousUser) return withGroup(user, unauthenticatedGroup);
  return user.groups.includes(unauthenticatedGroup) ? user : withGroup(user, authenticatedGroup);
}

/** What the constrained node mode may know of who asks: which extras there are, not what they say. */
const anonymizedRequestor = (user: UserInfo): UserInfo => ({
  ...user,
  extra: { 'authentication.kubernetes.io/associated-node-keys': Object.keys(user.extra ?? {}).sort() },
});

async function attempt(authorizer: Authorizer, mode: Mode, wanted: Wanted, request: Attributes): Promise<UserInfo> {
  const user = mode.name === 'associated-node' ? anonymizedRequestor(request.user) : request.user;
  const verb = mode.name === '' ? 'impersonate' : `impersonate:${mode.name}`;
  const attributesOf = (
    group: string,
    resource: string,
    name: string,
    more: { namespace?: string; subresource?: string } = {},
  ) => ({
    user,
    verb,
    target: { group, version: 'v1', resource, subresource: '', namespace: '', name, ...more },
  });
  const check: Check = (...args) => require(authorizer, attributesOf(...args));
  const refuse = (resource: string, name: string, why: string) =>
    forbiddenError(attributesOf('authentication.k8s.io', resource, name), why);
  if (mode.name !== '') {
    await require(authorizer, { ...request, user, verb: `impersonate-on:${mode.name}:${request.verb}` });
  }
  await checkUser(check, mode, wanted);
  if (wanted.uid !== undefined) await check('authentication.k8s.io', 'uids', wanted.uid);
  await checkGroups(check, refuse, mode, wanted);
  await checkExtra(check, refuse, mode, wanted);
  return resultingUser(mode, wanted);
}

/**
 * Answers the user to act as, given the request as `request.user` makes it; undefined without impersonation headers. Rejects with 400 or
 * 403. `constraint` is for the audit log: the verb of the constrained mode that allowed it, '' for legacy.
 */
export type Impersonation = (
  source: Credentials & { readonly cancellation?: Cancellation },
  request: Attributes,
) => Promise<{ user: UserInfo; constraint: string } | undefined>;

export function createImpersonation(authorizer: Authorizer): Impersonation {
  const lastMode = new Map<string, Mode>();
  return async (source, request) => {
    const wanted = wantedUser(source);
    if (!wanted) return undefined;
    const ofRequest: Authorizer = { authorize: (attributes) => authorizer.authorize(attributes, source.cancellation) };
    const last = lastMode.get(request.user.name);
    const order = last ? [last, ...modes.filter((mode) => mode !== last)] : modes;
    let firstError: unknown;
    for (const mode of order) {
      if (!mode.applies(wanted, request.user)) continue;
      try {
        const user = await attempt(ofRequest, mode, wanted, request);
        if (lastMode.size >= rememberedUsersMax) lastMode.delete(lastMode.keys().next().value as string);
        lastMode.set(request.user.name, mode);
        return { user, constraint: mode.name === '' ? '' : `impersonate:${mode.name}` };
      } catch (error) {
        firstError ??= error;
      }
    }
    throw firstError;
  };
}
