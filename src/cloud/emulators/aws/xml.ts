// Answers of the query protocol: a value whose keys are the names of elements. Pure.

export type Xml = string | number | boolean | undefined | readonly Xml[] | { readonly [name: string]: Xml };

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' };
// XML 1.0 section 2.2: these cannot be in a document, not even escaped.
const forbidden = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g;

const escaped = (text: string): string =>
  text.replace(forbidden, '\uFFFD').replace(/[&<>"\r]/g, (character) => entities[character] ?? character);

/** An element; nothing for undefined. `item`: the name of a list's elements (`item` in EC2, `member` elsewhere). */
export function element(name: string, value: Xml, item: string): string {
  if (value === undefined) return '';
  return `<${name}>${content(value, item)}</${name}>`;
}

function content(value: Exclude<Xml, undefined>, item: string): string {
  if (typeof value === 'string') return escaped(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return value.map((each) => element(item, each, item)).join('');
  return Object.entries(value)
    .map(([key, each]) => element(key, each, item))
    .join('');
}

const isList = (value: readonly Xml[] | object): value is readonly Xml[] => Array.isArray(value);

const namespaces = {
  ec2: 'http://ec2.amazonaws.com/doc/2016-11-15/',
  elb: 'http://elasticloadbalancing.amazonaws.com/doc/2012-06-01/',
  elbv2: 'http://elasticloadbalancing.amazonaws.com/doc/2015-12-01/',
  sts: 'https://sts.amazonaws.com/doc/2011-06-15/',
} as const;

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** EC2 has its fields beside the id of the request, the others have them in a result. */
export function resultXml(service: keyof typeof namespaces, action: string, result: Xml, requestId: string): string {
  const body =
    service === 'ec2'
      ? element('requestId', requestId, 'item') + (result === undefined ? '' : content(result, 'item'))
      : element(`${action}Result`, result ?? {}, 'member') + element('ResponseMetadata', { RequestId: requestId }, 'member');
  return `${declaration}<${action}Response xmlns="${namespaces[service]}">${body}</${action}Response>`;
}

export function errorXml(
  service: keyof typeof namespaces,
  { code, message, status }: { code: string; message: string; status: number },
  requestId: string,
): string {
  const error = { Code: code, Message: message };
  if (service === 'ec2')
    return `${declaration}${element('Response', { Errors: { Error: error }, RequestID: requestId }, 'item')}`;
  const type = status >= 500 ? 'Receiver' : 'Sender';
  const body = element('Error', { Type: type, ...error }, 'member') + element('RequestId', requestId, 'member');
  return `${declaration}<ErrorResponse xmlns="${namespaces[service]}">${body}</ErrorResponse>`;
}
