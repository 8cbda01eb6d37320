// Which requests were refused, and what would allow them. Pure.
import type { Refusal } from '#apiserver';
import type { ClusterRoleBinding, RoleBinding, Subject } from '#api/rbac/v1';
import { ageText, someNames } from './words.ts';

const refusalsShownMax = 5;

export interface Rights {
  bindings: readonly RoleBinding[];
  clusterBindings: readonly ClusterRoleBinding[];
}

/** A user as RBAC knows one: by name and groups. */
export interface Who {
  name: string;
  groups: readonly string[];
}

const accountPrefix = 'system:serviceaccount:';

/** The user that a service account is. */
export function accountUser(namespace: string, name: string): Who {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { name: `${accountPrefix}${namespace}:${name}`, groups };
}

function names({ kind, name, namespace }: Subject, who: Who, ownNamespace: string | undefined): boolean {
  if (kind === 'User') return name === who.name;
  if (kind === 'Group') return who.groups.includes(name);
  return `${accountPrefix}${namespace ?? ownNamespace}:${name}` === who.name;
}

/** The roles that somebody has, and by what. Groups that everybody is in are left out. */
export function rightsSentences(who: Who, { bindings, clusterBindings }: Rights): string[] {
  const own = { ...who, groups: who.groups.filter((group) => group !== 'system:authenticated') };
  const named = [...clusterBindings, ...bindings]
    .filter(({ subjects, metadata }) => (subjects ?? []).some((subject) => names(subject, own, metadata.namespace)))
    .map(
      ({ metadata, roleRef }) =>
        `${roleRef.kind} ${roleRef.name}${metadata.namespace ? ` in ${metadata.namespace}` : ' in all namespaces'} (${metadata.name})`,
    );
  return named.length > 0
    ? [`has, beside what everybody has: ${someNames(named, 8)}`]
    : [`no RoleBinding and no ClusterRoleBinding names ${who.name}: it may do only what everybody may`];
}

/** As one word of a shell, whatever somebody has put into it. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** What an administrator would type. */
function remedy({ user, verb, target, path }: Refusal): string {
  const account = user.startsWith(accountPrefix);
  const subject = account ? `--serviceaccount=${word(user.slice(accountPrefix.length))}` : `--user=${word(user)}`;
  if (!target)
    return `kubectl create clusterrole NAME --verb=${word(verb)} --non-resource-url=${word(path)} && kubectl create clusterrolebinding NAME --clusterrole=NAME ${subject}`;
  const { group, resource, subresource, namespace, name } = target;
  const what = `${resource}${group ? `.${group}` : ''}${subresource ? `/${subresource}` : ''}`;
  const kind = namespace ? 'role' : 'clusterrole';
  const within = namespace ? ` -n ${word(namespace)}` : '';
  const named = name && verb !== 'create' ? ` --resource-name=${word(name)}` : '';
  return `kubectl create ${kind} NAME${within} --verb=${word(verb)} --resource=${word(what)}${named} && kubectl create ${kind}binding NAME${within} --${kind}=NAME ${subject}`;
}

export interface RefusedText {
  nowMs: number;
  /** Whether who was refused is said, too. */
  withUser: boolean;
}

function refusalSentences(refusal: Refusal, { nowMs, withUser }: RefusedText): string[] {
  const { user, verb, times, atMs, message, unauthorized, code } = refusal;
  const often = times > 1 ? `, ${times} times` : '';
  const who = withUser ? `${user} ` : '';
  return [
    `${who}was refused ${ageText(atMs, nowMs)} ago${often} (${code}): ${message}`,
    ...(unauthorized && code === 403 && message.includes(` cannot ${verb} `)
      ? [`  would be allowed by: ${remedy(refusal)}`]
      : []),
  ];
}

/** Says what was refused, the newest first. */
export const refusedSentences = (refusals: readonly Refusal[], options: RefusedText): string[] => [
  ...refusals.slice(0, refusalsShownMax).flatMap((refusal) => refusalSentences(refusal, options)),
  ...(refusals.length > refusalsShownMax ? [`and ${refusals.length - refusalsShownMax} more refusals before`] : []),
];
