// Compares two answers to one request: what differs by nature (uids, versions, the times of now, addresses drawn by chance) is replaced first. Each difference has a
// class, so that thousands of requests become a short list.
import { differences } from './differences.mjs';

const drawn = new Set(['uid', 'resourceVersion', 'selfLink', 'continue', 'clusterIP', 'healthCheckNodePort', 'nodePort', 'token']);
const year = new Date().getUTCFullYear();
const now = new RegExp(`(${year}|${year + 1})-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z`, 'g');

const text = (value) =>
  value
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(now, '<now>')
    .replace(/(kube-api-access-|gen-|x{58})[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1<suffix>')
    .replace(/([rR]esource ?[vV]ersion:?) \d+/g, '$1 <version>')
    .replace(/(resourceVersion: ")\d+/g, '$1<version>')
    .replace(/(resourceVersion\\?":\\?")\d+/g, '$1<version>')
    .replace(/(clusterIPs?\\+":\[?\\+")10\.96\.\d+\.\d+/g, '$1<address>')
    .replace(/(odePort\\+":)\d+/g, '$1<port>')
    .replace(/^(IPAddress\S* ")?10\.96\.\d+\.\d+/, '$1<address>')
    .replace(/Key: \/registry\//g, 'Key: /')
    .replace(/(Too large resource version: \S+ current: )\d+/, '$1<version>')
    .replace(/ in scheme "[^"]*"/g, ' in scheme "<scheme>"')
    .replace(/(dial tcp: lookup \S+) on [\d.]+:53/g, '$1')
    .replace(/(ResourceVersion in (?:the )?(?:record|precondition):? ?\(?)\d+/g, '$1<version>')
    .replace(/(\n|: )[ \t\u00a0]*(@@[^\n]*\n)?[ \t\u00a0-]*&?(\w+)\.[A-Z]\w*\{[\s\S]*$/, '$1<difference>');

/** Owners stand in the order of their times, which the next second changes. */
const ownersInOrder = (entries) => {
  const place = (entry) => ['manager', 'operation', 'apiVersion', 'subresource'].map((name) => entry?.[name]).join(' ');
  return entries.map((entry) => normal(entry)).sort((one, other) => place(one).localeCompare(place(other)));
};

function normal(value, key) {
  if (Array.isArray(value) && key === 'managedFields') return ownersInOrder(value);
  if (Array.isArray(value)) return value.map((item) => normal(item, key === 'clusterIPs' ? 'clusterIP' : undefined));
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).map(([name, item]) => [text(name), normal(item, name)]));
  if (drawn.has(key) && value !== null && value !== 'None' && value !== '' && value !== 0) return `<${key}>`;
  return typeof value === 'string' ? text(value) : value;
}

/** A table's ages are times in disguise, a Service's address was drawn, and nobody parses the words about its columns. `columns`: those of the watch's first event. */
export function steady(body, columns = []) {
  if (body?.kind !== 'Table') return body;
  const ages = (body.columnDefinitions ?? columns).flatMap(({ name }, at) => (/^(age|last seen|duration|last schedule|cluster-ip)$/i.test(name) ? [at] : []));
  for (const row of body.rows ?? []) for (const at of ages) row.cells[at] = '<age>';
  for (const column of body.columnDefinitions ?? []) delete column.description;
  return body;
}

function bodyOf(answer) {
  try {
    return normal(steady(JSON.parse(answer.text)));
  } catch {
    return text(answer.text);
  }
}

/** A message without what is particular: values in quotes, numbers, indexes. */
export const general = (message) =>
  String(message)
    .replace(/\S+ in version "/g, 'K in version "')
    .replace(/(handled as an?|must be of type) \w+/g, '$1 K')
    .replace(/struct field \w+\./g, 'struct field K.')
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/\{[^{}]*(\{[^{}]*\}[^{}]*)*\}/g, '{…}')
    .replace(/\[\d+\]/g, '[N]')
    .replace(/\b\d+(\.\d+)?\b/g, 'N')
    .slice(0, 300);

/** A field's path without indexes and keys. */
const place = (field) => String(field).replace(/\[[^\]]*\]/g, '[]');
const cut = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? 'nothing').slice(0, 700);
const isFailure = (body) => body?.kind === 'Status' && body.status === 'Failure';
const pieces = (message) => String(message).split(/, |: \[|\]$/).sort().join(', ');

/** `{ name, example }` of each difference. A client's fault that upstream answers with 500 is a 400 here (docs/differences.md). */
export function compareAnswers(upstream, sagong) {
  const [one, other] = [bodyOf(upstream), bodyOf(sagong)];
  const found = [];
  const add = (name, example) => found.push({ name, example });
  const excused = upstream.status === 500 && sagong.status === 400 && one.message === other.message;
  if (excused) return found;
  if (upstream.status !== sagong.status) {
    const told = (answer, body) => (answer.status >= 300 ? general(body?.message ?? body) : '');
    add(`${upstream.status} here ${sagong.status}: ${told(upstream, one)} | ${told(sagong, other)}`, `${cut(one?.message ?? one)} | ${cut(other?.message ?? other)}`);
    return found;
  }
  if (text(upstream.headers.warning ?? '') !== text(sagong.headers.warning ?? ''))
    add(`warning: ${general(upstream.headers.warning)} | ${general(sagong.headers.warning)}`, `${cut(upstream.headers.warning)} | ${cut(sagong.headers.warning)}`);
  const type = (answer) => answer.headers['content-type'] ?? '';
  if (type(upstream) !== type(sagong)) add(`content type: ${type(upstream)} | ${type(sagong)}`, '');
  if (isFailure(one) && isFailure(other)) compareFailures(one, other, add);
  else
    for (const { path, ...values } of differences(one, other))
      add(`${path.map((key) => (/^\d+$/.test(key) ? 'N' : key)).join('.')}: ${general(values.upstream).slice(0, 80)} | ${general(values.sagong).slice(0, 80)}`, `${path.join('.')}: ${values.upstream} | ${values.sagong}`);
  return found;
}

function compareFailures(one, other, add) {
  const causes = (body) => new Map((body.details?.causes ?? []).map((cause) => [`${cause.reason} ${cause.field} ${cause.message}`, cause]));
  const [theirs, ours] = [causes(one), causes(other)];
  const told = ({ reason, field, message }) => `${reason} ${place(field)}: ${general(message)}`;
  let cause = false;
  for (const [key, value] of theirs) if (!ours.has(key)) { add(`cause missing: ${told(value)}`, key); cause = true; }
  for (const [key, value] of ours) if (!theirs.has(key)) { add(`cause too many: ${told(value)}`, key); cause = true; }
  if (cause) return;
  if (one.message !== other.message) {
    // Upstream judges the fields of a custom resource in an order that chance makes.
    const shuffled = pieces(one.message) === pieces(other.message);
    if (!shuffled) add(`message: ${general(one.message)} | ${general(other.message)}`, `${cut(one.message)} | ${cut(other.message)}`);
    else if (!/\.example\.com "/.test(one.message)) add('order of messages', `${cut(one.message)} | ${cut(other.message)}`);
  }
  const rest = ({ message: _, details, ...body }) => ({ ...body, details: details && { ...details, causes: undefined } });
  for (const { path, ...values } of differences(rest(one), rest(other))) add(`failure ${path.join('.')}: ${general(values.upstream)} | ${general(values.sagong)}`, `${cut(one.message)}`);
}
