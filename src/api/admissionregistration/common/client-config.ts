// Where a webhook is called (k8s.io/apiserver/pkg/util/webhook, validation); conversion webhooks use the same rules.
import type { Path } from '#apimachinery/field';
import { isDNS1123Subdomain, isPortNumber } from '#apimachinery/validation';
import { quote } from '#utils';
import { isEmpty, type Report } from '../../common/report.ts';

const form = '; desired format: https://host[/path]';

interface UrlParts {
  scheme: string;
  host: string;
  user: string | undefined;
  query: string;
  fragment: string;
}

/** A URL as Go's net/url reads one; or a text that says why it is not a URL. */
function parseUrl(text: string): UrlParts | string {
  const because = (why: string): string => `parse ${quote(text)}: ${why}`;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f) return because('net/url: invalid control character in URL');
  }
  const hash = text.indexOf('#');
  const fragment = hash < 0 ? '' : text.slice(hash + 1);
  let rest = hash < 0 ? text : text.slice(0, hash);
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(rest)?.[1] ?? '';
  if (scheme === '' && rest.startsWith(':')) return because('missing protocol scheme');
  if (scheme !== '') rest = rest.slice(scheme.length + 1);
  const mark = rest.indexOf('?');
  const query = mark < 0 ? '' : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);
  if (scheme === '' && !rest.startsWith('/') && (rest.split('/')[0] ?? '').includes(':'))
    return because('first path segment in URL cannot contain colon');
  if (!rest.startsWith('//')) return { scheme: scheme.toLowerCase(), host: '', user: undefined, query, fragment };
  const authority = rest.slice(2).split('/')[0] ?? '';
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const port = /:([^\]:]*)$/.exec(host)?.[1];
  if (port !== undefined && !/^\d*$/.test(port)) return because(`invalid port ${quote(`:${port}`)} after host`);
  if (host.includes(' ')) return because('invalid character " " in host name');
  const bad = /%(?![0-9a-fA-F]{2}).{0,2}/.exec(rest)?.[0];
  if (bad !== undefined) return because(`invalid URL escape ${quote(bad)}`);
  return { scheme: scheme.toLowerCase(), host, user: at < 0 ? undefined : authority.slice(0, at), query, fragment };
}

export function validateWebhookURL(report: Report, path: Path, url: string): void {
  const parts = parseUrl(url);
  if (typeof parts === 'string') return report.required(path, `url must be a valid URL: ${parts}${form}`);
  if (parts.scheme !== 'https') report.invalid(path, parts.scheme, `'https' is the only allowed URL scheme${form}`);
  if (parts.host === '') report.invalid(path, '', `host must be specified${form}`);
  if (parts.user !== undefined) report.invalid(path, parts.user, 'user information is not permitted in the URL');
  if (parts.fragment !== '') report.invalid(path, parts.fragment, 'fragments are not permitted in the URL');
  if (parts.query !== '') report.invalid(path, parts.query, 'query parameters are not permitted in the URL');
}

export interface ServiceShape {
  namespace?: string;
  name?: string;
  path?: string;
  port?: number;
}

export function validateWebhookService(report: Report, path: Path, service: ServiceShape): void {
  // The paths of the two are swapped, as upstream's caller swaps them.
  if (isEmpty(service.namespace)) report.required(path.child('name'));
  if (isEmpty(service.name)) report.required(path.child('namespace'));
  const port = service.port ?? 0;
  const problems = isPortNumber(port);
  if (problems.length > 0) report.invalid(path.child('port'), port, `port is not valid: ${problems.join(', ')}`);
  validateServicePath(report, path.child('path'), service.path ?? '');
}

function validateServicePath(report: Report, path: Path, url: string): void {
  if (url === '/' || url === '') return;
  if (url === '//') return report.invalid(path, url, 'segment[0] may not be empty');
  if (!url.startsWith('/')) report.invalid(path, url, "must start with a '/'");
  const steps = url.slice(1).replace(/\/$/, '').split('/');
  steps.forEach((step, index) => {
    if (step === '') return report.invalid(path, url, `segment[${index}] may not be empty`);
    for (const problem of isDNS1123Subdomain(step)) report.invalid(path, url, `segment[${index}]: ${problem}`);
  });
}

export interface ClientConfig {
  url?: string;
  service?: ServiceShape;
}

export function validateClientConfig(report: Report, path: Path, { url, service }: ClientConfig): void {
  if ((url === undefined) === (service === undefined)) report.required(path, 'exactly one of url or service is required');
  else if (url !== undefined) validateWebhookURL(report, path.child('url'), url);
  else if (service) validateWebhookService(report, path.child('service'), service);
}
