// The text of a refusal (k8s.io/apiserver/pkg/endpoints/handlers/responsewriters).
import { forbidden, type StatusError } from '#apimachinery/errors';
import { quote } from '#utils';
import type { Attributes } from '../request/request.ts';

const sanitize = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** `User "x" cannot list resource "pods" in API group "" in the namespace "y"`. */
export function denialText({ user, verb, target, path }: Attributes): string {
  const who = `User ${quote(user.name)} cannot ${verb}`;
  if (!target) return `${who} path ${quote(path ?? '')}`;
  const name = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
  const scope = target.namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(target.namespace)}`;
  return `${who} resource ${quote(name)} in API group ${quote(target.group)} ${scope}`;
}

/** 403 for what was asked. `reason` is the authorizer's, '' for none. */
export function forbiddenError(attributes: Attributes, reason: string): StatusError {
  const text = sanitize(denialText(attributes));
  const { group = '', resource = '', name = '' } = attributes.target ?? {};
  return forbidden({ group, resource }, name, reason === '' ? text : `${text}: ${reason}`);
}
