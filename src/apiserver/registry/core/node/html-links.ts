// Links in HTML that passes a proxy, rewritten as it passes. Text is taken byte by byte (latin1), and what is no link stays exactly as it is. Pure.
// Which attributes are links: the HTML 4 and 5 lists of attributes of type URL, as upstream's proxy.Transport takes them.

const linkAttributes: ReadonlyMap<string, readonly string[]> = new Map([
  ['a', ['href']],
  ['applet', ['codebase']],
  ['area', ['href']],
  ['audio', ['src']],
  ['base', ['href']],
  ['blockquote', ['cite']],
  ['body', ['background']],
  ['button', ['formaction']],
  ['command', ['icon']],
  ['del', ['cite']],
  ['embed', ['src']],
  ['form', ['action']],
  ['frame', ['longdesc', 'src']],
  ['head', ['profile']],
  ['html', ['manifest']],
  ['iframe', ['longdesc', 'src']],
  ['img', ['longdesc', 'src', 'usemap']],
  ['input', ['src', 'usemap', 'formaction']],
  ['ins', ['cite']],
  ['link', ['href']],
  ['object', ['classid', 'codebase', 'data', 'usemap']],
  ['q', ['cite']],
  ['script', ['src']],
  ['source', ['src']],
  ['video', ['poster', 'src']],
]);

/** Their content is text, whatever it looks like. */
const rawElements = new Set(['iframe', 'noembed', 'noframes', 'plaintext', 'script', 'style', 'textarea', 'title', 'xmp']);
/** A tag that is longer is passed on as it is. */
const tagCharsMax = 8_192;

/** Where a tag that begins at `from` ends, after its '>'; -1 where it does not end in this text. */
function tagEnd(text: string, from: number): number {
  let quote = '';
  for (let at = from; at < Math.min(text.length, tagCharsMax); at++) {
    const char = text[at] as string;
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '>') return at + 1;
    // A quote opens a value only after the '='.
    else if ((char === '"' || char === "'") && /=\s*$/.test(text.slice(Math.max(from, at - 16), at))) quote = char;
  }
  return -1;
}

/** A tag with its links rewritten. Reads from left to right once. */
function rewriteTag(tag: string, name: string, rewrite: (link: string) => string): string {
  const wanted = linkAttributes.get(name);
  if (!wanted) return tag;
  let out = tag.slice(0, name.length + 1);
  let at = out.length;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(tag)?.[0] ?? '';
    at += found.length;
    return found;
  };
  while (at < tag.length) {
    out += take(/[\s/>"'<=]+/y);
    const attribute = take(/[^\s"'<>/=]+/y);
    const equals = take(/\s*=\s*/y);
    out += attribute + equals;
    if (equals === '') continue;
    const value = take(/"[^"]*"|'[^']*'|[^\s"'>]+/y);
    const quote = /^["']/.exec(value)?.[0] ?? '';
    const link = quote === '' ? value : value.slice(1, -1);
    out += wanted.includes(attribute.toLowerCase()) ? quote + rewrite(link) + quote : value;
  }
  return out;
}

/** Takes text in pieces; what it holds back comes with a later piece, or at the end. */
export class LinkRewriter {
  readonly #rewrite: (link: string) => string;
  #pending = '';
  /** Inside of a comment or of an element whose content is text: where it ends. */
  #until = '';

  constructor(rewrite: (link: string) => string) {
    this.#rewrite = rewrite;
  }
  push(text: string): string {
    this.#pending += text;
    let out = '';
    for (let step = this.#step(); step !== undefined; step = this.#step()) out += step;
    return out;
  }
  end(): string {
    const rest = this.#pending;
    this.#pending = '';
    return rest;
  }

  #take(count: number): string {
    const taken = this.#pending.slice(0, count);
    this.#pending = this.#pending.slice(count);
    return taken;
  }
  /** The next text that is ready; undefined: more is needed. */
  #step(): string | undefined {
    if (this.#pending === '') return undefined;
    if (this.#until !== '') return this.#verbatim();
    const open = this.#pending.indexOf('<');
    if (open !== 0) return this.#take(open < 0 ? this.#pending.length : open);
    if ('<!--'.startsWith(this.#pending)) return undefined;
    if (this.#pending.startsWith('<!--')) {
      this.#until = '-->';
      return this.#take(4);
    }
    const name = /^<([a-zA-Z][^\s/>]{0,30})/.exec(this.#pending)?.[1]?.toLowerCase();
    if (name === undefined) return this.#take(1);
    const end = tagEnd(this.#pending, 1);
    // All that was looked at, so that nothing is looked at again and again.
    if (end < 0) return this.#pending.length >= tagCharsMax ? this.#take(tagCharsMax) : undefined;
    const tag = this.#take(end);
    if (rawElements.has(name)) this.#until = `</${name}`;
    return rewriteTag(tag, name, this.#rewrite);
  }
  #verbatim(): string | undefined {
    const end = this.#pending.toLowerCase().indexOf(this.#until);
    if (end >= 0) {
      const taken = this.#take(end + this.#until.length);
      this.#until = '';
      return taken;
    }
    const ready = this.#pending.length - this.#until.length + 1;
    return ready > 0 ? this.#take(ready) : undefined;
  }
}

export interface ProxiedPage {
  /** Path of the apiserver under which the backend is seen, without '/' at its end. */
  prefix: string;
  /** The host of the backend. */
  host: string;
  /** What the client calls the apiserver. */
  clientHost: string;
}

/** Where a link leads once it is seen through the proxy: only those to the backend itself, with an absolute path, change. */
export function proxiedLink(link: string, { prefix, host, clientHost }: ProxiedPage): string {
  const [, origin = '', authority, path = ''] = /^((?:[a-zA-Z][a-zA-Z0-9+.-]*:)?\/\/([^/?#]*))?(.*)$/s.exec(link) ?? [];
  const isElsewhere = authority !== undefined && authority !== '' && authority !== host && authority !== clientHost;
  if (isElsewhere || !path.startsWith('/')) return link;
  const kept = authority === clientHost ? origin : '';
  return path.startsWith(`${prefix}/`) ? kept + path : kept + prefix + path;
}
