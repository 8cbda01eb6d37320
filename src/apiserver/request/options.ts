// The options of a request (metav1.ListOptions, CreateOptions, DeleteOptions, ...), read once from the query string. A value that its
// parameter cannot have is kept as a problem. Operations that have the parameter refuse it; other operations ignore it, as upstream's do.
import { parseGoInt } from '#utils';

export interface RequestOptions {
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion?: string;
  resourceVersionMatch?: string;
  limit?: number;
  continue?: string;
  watch?: boolean;
  allowWatchBookmarks?: boolean;
  sendInitialEvents?: boolean;
  timeoutSeconds?: number;
  dryRun?: readonly string[];
  fieldManager?: string;
  fieldValidation?: string;
  /** Server-side apply: takes over fields owned by others. */
  force?: boolean;
  gracePeriodSeconds?: number;
  orphanDependents?: boolean;
  propagationPolicy?: string;
  /** Preconditions of a DELETE without a body. */
  uid?: string;
  /** The client's own bound on the request: a Go duration. */
  timeout?: string;
  /** Of a GET, once: no longer supported. */
  export?: string;
  /** What is wrong with the text of a number, by its parameter. */
  problems?: Readonly<Record<string, string>>;
}

type Name = Exclude<keyof RequestOptions, 'problems'>;

const kinds: Readonly<Record<Name, 'text' | 'number' | 'bool' | 'texts'>> = {
  labelSelector: 'text',
  fieldSelector: 'text',
  resourceVersion: 'text',
  resourceVersionMatch: 'text',
  limit: 'number',
  continue: 'text',
  watch: 'bool',
  allowWatchBookmarks: 'bool',
  sendInitialEvents: 'bool',
  timeoutSeconds: 'number',
  dryRun: 'texts',
  fieldManager: 'text',
  fieldValidation: 'text',
  force: 'bool',
  gracePeriodSeconds: 'number',
  orphanDependents: 'bool',
  propagationPolicy: 'text',
  uid: 'text',
  timeout: 'text',
  export: 'text',
};

export const noOptions: RequestOptions = Object.freeze({});

/** Go's conversion of a query parameter to bool: everything but "false" and "0" is true. */
export const boolOf = (text: string): boolean => text !== '0' && text.toLowerCase() !== 'false';

function numberProblem(text: string): string | undefined {
  if (!/^[+-]?\d+$/.test(text)) return `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
  if (parseGoInt(text, 64) !== undefined) return undefined;
  return `strconv.ParseInt: parsing ${JSON.stringify(text)}: value out of range`;
}

/** The query without what Go leaves out: parameters with a semicolon, and those with invalid escapes. */
function readable(query: string): string {
  if (!query.includes(';') && !/%(?![0-9a-f]{2})/i.test(query)) return query;
  const kept = query.split('&').filter((pair) => !pair.includes(';') && !/%(?![0-9a-f]{2})/i.test(pair));
  return kept.join('&');
}

/**
 * Reads the query of a request. When a parameter is given twice, its first value counts. Unknown parameters are left to the endpoints that know them.
 */
export function readOptions(query: string): RequestOptions {
  if (query === '') return noOptions;
  const options: Record<string, unknown> = {};
  let problems: Record<string, string> | undefined;
  for (const [name, text] of new URLSearchParams(readable(query))) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name as Name] : undefined;
    if (kind === undefined) continue;
    if (kind === 'texts') ((options[name] ??= []) as string[]).push(text);
    else if (name in options || (problems && name in problems)) continue;
    else if (kind === 'text') options[name] = text;
    else if (kind === 'bool') options[name] = boolOf(text);
    else {
      const problem = numberProblem(text);
      if (problem === undefined) options[name] = Number(text);
      else problems = { ...problems, [name]: problem };
    }
  }
  return problems ? { ...options, problems } : options;
}
