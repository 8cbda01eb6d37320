// Lint of the prose as a test: what can be told by a rule of doc comments that a stranger understands (docs/contributing.md, "Write").
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

const walk = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    return entry.isDirectory() ? walk(join(dir, entry.name)) : [join(dir, entry.name)];
  });

const files = ['src', 'providers']
  .flatMap((folder) => walk(join(root, folder)))
  .filter((path) => path.endsWith('.ts') && !/\.(test|gen|d)\.ts$/.test(path));

interface DocComment {
  line: number;
  text: string;
  exported: boolean;
  /** A function or a method follows. */
  called: boolean;
}

const docComment = /\/\*\*([\s\S]*?)\*\/\s*\n\s*(.*)/g;
const isExported = /^export\s+(?:abstract\s+|async\s+)?(?:function|const|class|interface|type)\b/;
const isCalled = /^(?:export\s+)?(?:(?:async|get|static|override|function)\s+)*#?\w+\??(?:<[^(]*>)?\(/;

const docCommentsOf = (text: string): DocComment[] =>
  [...text.matchAll(docComment)].map(({ 1: inside = '', 2: declaration = '', index }) => ({
    line: text.slice(0, index).split('\n').length,
    text: inside
      .replace(/\n\s*\* ?/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
    exported: isExported.test(declaration),
    called: isCalled.test(declaration),
  }));

/** Words with which a comment begins that has its subject in the name below it. */
const subjectElsewhere = /^(The same|Told|It|They|Those)\b/;
/** "Of the volume." above `name`: also on a member, a reader has to guess what of it. */
const onlyGenitive = /^Of /;
/** Prepositions: with a comma after their phrase a whole sentence may follow. */
const onlyPhrase = /^(Of|Between|As|By|Only|Until|With|After) /;
/** "Throws for what is none": a reader cannot tell of what. */
const noneAsNoun = /\b(that|what|which|who|it) (is|are|was|were) none\b/;
/** "Undefined: there is none.": a reader learns what happens at the edge, and not what the thing is. */
const onlyEdge = /^(Undefined|Absent)\b/;
/** "Those that exist." above a method: a reader has to guess which things. */
const onlyPronoun = /^(The same|Those|These)\b/;
const wordsMin = 3;
const atTheEdge = 'says what happens at the edge, and not what the thing is';
const noSubject = 'has no subject, or one that stands elsewhere';

/** What is wrong with a doc comment; undefined: nothing that a rule can tell. */
function proseProblem({ text, exported, called }: DocComment): string | undefined {
  const [first = ''] = text.split(/[.;:] /);
  if (text.includes('@')) return undefined;
  if (!/[.!?)»`]$/.test(text) && !/https:\/\/\S+$/.test(text)) return 'does not end as a sentence does';
  if (noneAsNoun.test(text)) return 'says "none" for what has a name';
  if (onlyGenitive.test(text) && !first.includes(',')) return noSubject;
  if (called && onlyEdge.test(text)) return atTheEdge;
  if (called && onlyPronoun.test(text)) return noSubject;
  if (!exported) return undefined;
  if (text.split(' ').length < wordsMin) return 'says nothing that its name does not say';
  if (/^[a-z]/.test(text) && !/^[a-z]+(?:[A-Z./-]|'s )/.test(text)) return 'begins with a small letter';
  if (onlyEdge.test(text)) return atTheEdge;
  if (subjectElsewhere.test(text) || (onlyPhrase.test(text) && !first.includes(','))) return noSubject;
  return undefined;
}

/** Files of this project that comments of a text name, as far below a folder as they say. */
const filesNamedIn = (text: string): string[] =>
  text.split('\n').flatMap((line) => {
    const [comment = ''] = /(?:^|\s)\/\/ .*|^\s*\/?\*.*/.exec(line) ?? [];
    return [...comment.matchAll(/(?<![\w./*-])(?:[\w-]+\/)*[\w-]+(?:\.[\w-]+)*\.(?:ts|mjs)\b/g)].map(([name]) => name);
  });

const problemsIn = (text: string): (string | undefined)[] => docCommentsOf(text).map(proseProblem);

describe('doc comments', () => {
  it('are sentences with a subject', () => {
    let seen = 0;
    const wrong = files.flatMap((path) =>
      docCommentsOf(readFileSync(path, 'utf8')).flatMap((comment) => {
        seen++;
        const problem = proseProblem(comment);
        return problem ? [`${relative(root, path)}:${comment.line}: ${problem}: ${comment.text}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
    expect(seen).toBeGreaterThan(9_000);
  });

  it('name files that are there', () => {
    const folders = ['src', 'providers', 'scripts', 'test', 'bench', 'bin', 'spec'];
    const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
    const byName = new Map<string, string[]>();
    for (const path of folders.flatMap((folder) => walk(join(root, folder))).map((one) => `/${relative(root, one)}`))
      byName.set(nameOf(path), [...(byName.get(nameOf(path)) ?? []), path]);
    const exists = (name: string): boolean => byName.get(nameOf(name))?.some((path) => path.endsWith(`/${name}`)) ?? false;
    const gone = files.flatMap((path) =>
      filesNamedIn(readFileSync(path, 'utf8')).flatMap((name) => (exists(name) ? [] : [`${relative(root, path)}: ${name}`])),
    );
    expect(gone).toEqual([]);
    expect(filesNamedIn('// Read by a/b-c.ts, see https://x.io/y.ts.\nconst d = "e.ts";\n/** `f.test.ts` tests it. */')).toEqual([
      'a/b-c.ts',
      'f.test.ts',
    ]);
  });

  it('that are not are found', () => {
    expect(problemsIn('/** Of a pod. */\nexport function f() {}')).toEqual(['has no subject, or one that stands elsewhere']);
    expect(problemsIn('interface F {\n  /** Of a pod. */\n  name: string;\n}')).toEqual([
      'has no subject, or one that stands elsewhere',
    ]);
    expect(problemsIn('/** Those that exist. */\nexport const f = 1;')).toEqual(['has no subject, or one that stands elsewhere']);
    expect(problemsIn('/** The same, exact. */\nexport const f = 1;')).toEqual(['has no subject, or one that stands elsewhere']);
    expect(problemsIn('/** After a failure, the next is tried. */\nexport const f = 1;')).toEqual([undefined]);
    expect(problemsIn('/** PEM. */\nexport const f = 1;')).toEqual(['says nothing that its name does not say']);
    expect(problemsIn('/** undefined: none is there. */\nexport async function f() {}')).toEqual(['begins with a small letter']);
    expect(problemsIn('/** Throws for what is none. */\nconst f = 1;')).toEqual(['says "none" for what has a name']);
    expect(problemsIn('/** Undefined: it is gone. */\nexport function f() {}')).toEqual([
      'says what happens at the edge, and not what the thing is',
    ]);
    expect(problemsIn('interface F {\n  /** Undefined: it is gone. */\n  find(name: string): F | undefined;\n}')).toEqual([
      'says what happens at the edge, and not what the thing is',
    ]);
    expect(problemsIn('class F {\n  /** Those that exist. */\n  async #all<T>(of: T): Promise<T[]> {\n')).toEqual([
      'has no subject, or one that stands elsewhere',
    ]);
    expect(problemsIn('interface F {\n  /** Undefined: it is gone. */\n  pod: Pod | undefined;\n}')).toEqual([undefined]);
    expect(problemsIn('/** A thing */\nconst f = 1;')).toEqual(['does not end as a sentence does']);
    expect(problemsIn('/**\n * A thing that stands\n * on two lines.\n */\nexport class F {}')).toEqual([undefined]);
  });
});
