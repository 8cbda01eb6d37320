// The INI dialect of `--cloud-config` with AWS and Google (git's, as the Go package gopkg.in/gcfg.v1 reads it): `[Section]`,
// `[Section "name"]`, `key = value`, a key alone for true, quotes and escapes, a backslash that continues the line, comments after `#` and `;`. Pure.

export interface IniSection {
  name: string;
  /** The part in quotes of `[ServiceOverride "1"]`; undefined without one. */
  subsection?: string;
  /** Line of the header, for errors. */
  line: number;
  /** In their order; a key may come several times. `undefined`: the key stood alone. */
  entries: { key: string; value: string | undefined; line: number }[];
}

const header = /^\[\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:"((?:[^"\\]|\\["\\])*)")?\s*\]\s*(?:[#;].*)?$/;
const escapes: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', n: '\n', t: '\t', b: '\b' };

/** The value behind `=`, up to a comment outside quotes, without blanks around it. */
function valueOf(text: string, line: number): string {
  let value = '';
  let quoted = false;
  /** Length up to the last character that is kept although it is blank: what was quoted or escaped. */
  let solid = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character === '\\') {
      const escaped = escapes[text[++at] ?? ''];
      if (escaped === undefined) throw new Error(`line ${line}: unknown escape sequence \\${text[at] ?? ''}`);
      value += escaped;
      solid = value.length;
    } else if (character === '"') {
      quoted = !quoted;
      solid = value.length;
    } else if (!quoted && (character === '#' || character === ';')) break;
    else if (quoted || value !== '' || !/\s/.test(character)) {
      value += character;
      if (quoted || !/\s/.test(character)) solid = value.length;
    }
  }
  if (quoted) throw new Error(`line ${line}: a quotation mark is missing`);
  return value.slice(0, solid);
}

/** Lines with those that end in a backslash joined to the next; `line` is the number of the first. */
function* logicalLines(text: string): Generator<{ text: string; line: number }> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1;
    let joined = lines[at] as string;
    while (/(^|[^\\])(\\\\)*\\$/.test(joined) && at + 1 < lines.length) joined = joined.slice(0, -1) + (lines[++at] as string);
    yield { text: joined.trim(), line };
  }
}

/** Throws an error that names the line. */
export function parseIni(text: string): IniSection[] {
  const sections: IniSection[] = [];
  for (const { text: content, line } of logicalLines(text)) {
    if (content === '' || content.startsWith('#') || content.startsWith(';')) continue;
    if (content.startsWith('[')) {
      const [, name, subsection] = header.exec(content) ?? [];
      if (name === undefined) throw new Error(`line ${line}: not a section header: ${content}`);
      sections.push({
        name,
        ...(subsection !== undefined && { subsection: subsection.replace(/\\(["\\])/g, '$1') }),
        line,
        entries: [],
      });
      continue;
    }
    const [, key, rest] = /^([A-Za-z][A-Za-z0-9-]*)\s*(.*)$/.exec(content) ?? [];
    if (key === undefined || rest === undefined) throw new Error(`line ${line}: neither a section nor "key = value": ${content}`);
    const section = sections.at(-1);
    if (!section) throw new Error(`line ${line}: ${key} is in no section`);
    const alone = rest === '' || /^[#;]/.test(rest);
    if (!alone && !rest.startsWith('=')) throw new Error(`line ${line}: ${key} must be followed by "="`);
    section.entries.push({ key, value: alone ? undefined : valueOf(rest.slice(1), line), line });
  }
  return sections;
}
