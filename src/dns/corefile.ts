// The part of CoreDNS's configuration that says what a cluster's name server is to do (https://coredns.io/manual/configuration/): one server block, with the
// plugins that clusters made by kubeadm have. What is asked for and not served is refused by its name and line. Pure.

export interface Corefile {
  port: number;
  /** `cluster.local`. */
  domain: string;
  /** Name servers for all other names: addresses, or files in the form of resolv.conf(5). */
  upstreams: string[];
  /** Ports of the endpoints `/health` and `/ready`; absent: they are not served. */
  health?: number;
  ready?: number;
  /** What was said and changes nothing. */
  warnings: string[];
}

interface Line {
  words: string[];
  number: number;
  /** What stands in braces after it. */
  block: Line[];
}

const fail = (line: number, what: string): never => {
  throw new Error(`Corefile:${line}: ${what}`);
};

/** Words of lines, with the lines in braces below the one that opens them. */
function linesOf(text: string): Line[] {
  const top: Line[] = [];
  const open: Line[][] = [top];
  for (const [index, raw] of text.split('\n').entries()) {
    const words = raw
      .replace(/(^|\s)#.*$/, '')
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '');
    if (words.length === 0) continue;
    const number = index + 1;
    if (words.length === 1 && words[0] === '}') {
      if (open.length === 1) fail(number, 'a brace is closed that was not opened');
      open.pop();
      continue;
    }
    const opens = words.at(-1) === '{';
    const inline = words.indexOf('{');
    // `health { lameduck 5s }` on one line.
    const closes = inline >= 0 && words.at(-1) === '}';
    const line: Line = { words: inline >= 0 ? words.slice(0, inline) : words, number, block: [] };
    if (inline >= 0 && !opens && !closes) fail(number, 'a brace is opened in the middle of the line');
    if (closes) line.block.push({ words: words.slice(inline + 1, -1), number, block: [] });
    open.at(-1)?.push(line);
    if (opens) open.push(line.block);
  }
  if (open.length > 1) fail(text.split('\n').length, 'a brace is not closed');
  return top;
}

function portOf(address: string | undefined, fallback: number, line: number): number {
  if (address === undefined) return fallback;
  const port = Number(/:(\d{1,5})$/.exec(address)?.[1]);
  return port >= 1 && port <= 65_535 ? port : fail(line, `${address} must be an address with a port`);
}

const withoutEffect: Readonly<Record<string, string>> = {
  errors: '',
  cache: '',
  loadbalance: '',
  log: 'questions are not logged',
  loop: 'a server that is its own upstream is not looked for',
  reload: 'the file is read at the start',
  prometheus: 'there are no metrics of the name server',
};
const kubernetesWords: Readonly<Record<string, readonly string[] | undefined>> = {
  pods: ['insecure'],
  fallthrough: undefined,
  ttl: undefined,
};

function kubernetes({ words, block, number }: Line): string {
  const zones = words.slice(1).filter((zone) => !/(^|\.)(in-addr|ip6)\.arpa\.?$/.test(zone));
  const [zone] = zones;
  if (zone === undefined || zones.length > 1) fail(number, 'kubernetes must name one zone beside those of addresses');
  for (const { words: option, number: at } of block) {
    const [name = '', value = ''] = option;
    if (!Object.hasOwn(kubernetesWords, name)) fail(at, `kubernetes: ${name} is not served here`);
    const allowed = kubernetesWords[name];
    if (allowed && !allowed.includes(value)) fail(at, `kubernetes: ${name} must be ${allowed.join(', ')}`);
  }
  return (zone as string).replace(/\.$/, '');
}

function forward({ words, number }: Line): string[] {
  const [, from, ...to] = words;
  if (from !== '.') fail(number, 'forward is for all names: forward . ADDRESS...');
  if (to.length === 0) fail(number, 'forward must name at least one upstream');
  for (const upstream of to) if (upstream.includes('://')) fail(number, `forward to ${upstream} is not served here`);
  return to;
}

/** Throws a sentence with the line of what is wrong, or not served. */
export function parseCorefile(text: string): Corefile {
  const servers = linesOf(text);
  const [server, second] = servers;
  if (!server) throw new Error('Corefile: there is no server block');
  if (second) fail(second.number, 'a second server block is not served here');
  const [zone = '', ...others] = server.words;
  const [, port = '53'] = /^\.(?::(\d{1,5}))?$/.exec(zone) ?? fail(server.number, 'the server block must be for all names: .:53');
  if (others.length > 0) fail(server.number, 'the server block must be for all names: .:53');
  const file: Corefile = { port: Number(port), domain: '', upstreams: [], warnings: [] };
  for (const line of server.block) {
    const [plugin = '', argument] = line.words;
    if (plugin === 'kubernetes') file.domain = kubernetes(line);
    else if (plugin === 'forward') file.upstreams = forward(line);
    else if (plugin === 'health') file.health = portOf(argument, 8080, line.number);
    else if (plugin === 'ready') file.ready = portOf(argument, 8181, line.number);
    else if (Object.hasOwn(withoutEffect, plugin)) {
      if (withoutEffect[plugin]) file.warnings.push(`Corefile:${line.number}: ${plugin} has no effect: ${withoutEffect[plugin]}`);
    } else fail(line.number, `the plugin ${plugin} is not served here`);
  }
  if (file.domain === '') fail(server.number, 'the plugin kubernetes is missing');
  return file;
}
