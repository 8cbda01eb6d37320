// $(NAME) references in commands, arguments and environment values (upstream third_party/forked/golang/expansion). `$$` is one `$`; a
// reference nobody defines stays as it is.

export type Lookup = (name: string) => string | undefined;

export function expand(text: string, lookup: Lookup): string {
  let out = '';
  for (let at = 0; at < text.length; ) {
    const dollar = text.indexOf('$', at);
    if (dollar < 0 || dollar === text.length - 1) return out + text.slice(at);
    out += text.slice(at, dollar);
    const next = text[dollar + 1];
    const end = next === '(' ? text.indexOf(')', dollar + 2) : -1;
    if (next === '$') {
      out += '$';
      at = dollar + 2;
    } else if (end >= 0) {
      const name = text.slice(dollar + 2, end);
      out += lookup(name) ?? `$(${name})`;
      at = end + 1;
    } else {
      out += next === '(' ? '$(' : `$${next}`;
      at = dollar + 2;
    }
  }
  return out;
}
