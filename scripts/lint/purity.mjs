// Purity of what pure code reaches: a file that is pure may use another one only if that touches nothing of the machine either, nor what that uses in turn.
// Types are free, as nothing of them is there at run time.
import { dirname, join, normalize, sep } from 'node:path';
import { mayWait } from '../rooms.mjs';
import { impurities, isPure } from './room-imports.mjs';

const notShipped = /\.test\.ts$|\/(suite|test-support|fixtures)\//;

/** What of Node only computes: whole modules, or the names of a module that do. */
const computing = { 'node:path': /./, 'node:crypto': /^(?!random|generate|webcrypto)/, 'node:net': /^isIP/ };

const statement = /(?:^|[\n;])\s*(import|export)\s+(type\s+)?([^'"`;]*?)\bfrom\s*['"]([^'"]+)['"]/g;

/** The names that a clause takes from the other file, by the names that they have in this one; undefined: all of them. */
function namesOf(clause) {
  const list = /\{([^}]*)\}/.exec(clause);
  const rest = list ? clause.replace(list[0], '') : clause;
  if (rest.includes('*')) return undefined;
  const names = new Map();
  for (const item of (list?.[1] ?? '').split(',')) {
    const [, type, theirs, own] = /^\s*(type\s+)?(\w+)(?:\s+as\s+(\w+))?\s*$/.exec(item) ?? [];
    if (theirs && !type) names.set(own ?? theirs, theirs);
  }
  const [byDefault] = /\w+/.exec(rest) ?? [];
  if (byDefault) names.set(byDefault, 'default');
  return names;
}

/** What a file takes from others at run time, to use it or to pass it on. */
function taken(text) {
  const found = [...text.matchAll(statement)].flatMap(([, word, type, clause, specifier]) =>
    type ? [] : [{ passedOn: word === 'export', specifier, names: namesOf(clause) }],
  );
  const later = [...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]\s*\)/g)];
  return [...found, ...later.map(([, specifier]) => ({ passedOn: false, specifier, names: undefined }))];
}

/** The path below src/ that a specifier means; undefined for a package. */
function pathOf(file, specifier) {
  if (specifier.startsWith('#')) return `${specifier.slice(1)}/index.ts`;
  return specifier.startsWith('.')
    ? normalize(join(dirname(file), specifier))
        .split(sep)
        .join('/')
    : undefined;
}

const declares = (text, name) =>
  new RegExp(`\\bexport (?:default |async |abstract |declare )*(?:const|let|function\\*?|class|enum) ${name}\\b`).test(text) ||
  new RegExp(`\\bexport \\{[^}]*\\b${name}\\b[^}]*\\};`).test(text) ||
  (name === 'default' && /\bexport default\b/.test(text));

/** Why a file is nothing for pure code to call. */
function touches(file, text, uses) {
  const nodes = uses.filter(({ specifier, names }) => {
    const harmless = computing[specifier];
    return specifier.startsWith('node:') && !(harmless && names && [...names.values()].every((name) => harmless.test(name)));
  });
  return [
    ...nodes.map(({ specifier }) => `'${specifier}'`),
    ...impurities(file, text, 'reached').map(([line, why]) => `${line}: ${why}`),
  ];
}

/**
 * What pure files reach that touches the machine: `pure.ts -> between.ts -> file.ts: why`. `actions` of a control loop are a shell: what they use is theirs.
 * @param {ReadonlyMap<string, string>} files texts by paths below src/
 */
export function impureImports(files) {
  const uses = new Map([...files].map(([file, text]) => [file, taken(text)]));
  /** The file in which a name is made that `file` exports: doors only pass names on. */
  const originOf = (file, name) => {
    if (declares(files.get(file) ?? '', name)) return file;
    for (const { passedOn, specifier, names } of uses.get(file) ?? []) {
      const target = passedOn && (names === undefined || names.has(name)) ? pathOf(file, specifier) : undefined;
      const origin = target && originOf(target, names?.get(name) ?? name);
      if (origin) return origin;
    }
    return undefined;
  };
  const reachedBy = (file) =>
    (uses.get(file) ?? []).flatMap(({ specifier, names }) => {
      const target = pathOf(file, specifier);
      if (target === undefined || !files.has(target)) return [];
      return names ? [...names.values()].map((name) => originOf(target, name) ?? target) : [target];
    });
  const problems = [];
  const reached = new Set();
  const visit = (file, way) => {
    if (reached.has(file) || mayWait(file)) return;
    reached.add(file);
    const why = touches(file, files.get(file), uses.get(file));
    if (why.length > 0 && way.length > 0) problems.push(`${[...way, file].join(' -> ')}: ${why.join('; ')}`);
    if (why.length === 0) for (const next of reachedBy(file)) visit(next, [...way, file]);
  };
  for (const [file, text] of files) if (isPure(file, text) && !notShipped.test(file)) visit(file, []);
  return problems;
}
