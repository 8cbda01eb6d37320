// Which objects a quota is about (core/v1 ResourceQuota scopes and scope selectors).
import type { ResourceQuota } from '#api/core/v1';
import { isOneOf } from '#utils';

export interface ScopeSelector {
  scopeName: string;
  operator: string;
  /** Whether a value (undefined: none) is selected. */
  matches(value: string | undefined): boolean;
}

function matcher(operator: string, values: readonly string[]): ScopeSelector['matches'] {
  switch (operator) {
    case 'In':
      return (value) => value !== undefined && isOneOf(value, values);
    case 'NotIn':
      return (value) => value === undefined || !isOneOf(value, values);
    case 'DoesNotExist':
      return (value) => value === undefined;
    default:
      return (value) => value !== undefined;
  }
}

/** All that a quota selects by; an object must match all of it. */
export const scopesOf = ({ spec }: ResourceQuota): ScopeSelector[] => [
  ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists', matches: matcher('Exists', []) })),
  ...(spec?.scopeSelector?.matchExpressions ?? []).map(({ scopeName, operator, values = [] }) => ({
    scopeName,
    operator,
    matches: matcher(operator, values),
  })),
];
