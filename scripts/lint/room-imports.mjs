// The import table (scripts/rooms.mjs) as one function, shared by the lint rule and the tidy test.
import { dirname, join, normalize, sep } from 'node:path';
import { above, ambientRooms, inner, mayWait, pureFolders, rooms } from '../rooms.mjs';

const inPureFolder = (file) => pureFolders.some((folder) => file.startsWith(`${folder}/`));

/** Whether the comment that opens a file calls the file pure: a sentence that begins with the word. */
const claimsPurity = (text) => {
  const header = /^(?:#!.*\n)?((?:\/\/.*\n)+)/.exec(text)?.[1] ?? '';
  return /(?:^|[.:] |\/\/ )Pure\b/m.test(header);
};

/** Pure is a file of a pure room or folder, and each file whose opening comment says "Pure". */
export const isPure = (file, text) => Boolean(rooms[file.split('/')[0]]?.pure) || inPureFolder(file) || claimsPurity(text);

/**
 * Why `file` (path below src/, with /) may not import `specifier`, or undefined when it may.
 * @param {string} file
 * @param {string} specifier
 * @param {string} text of the file, which may call itself pure
 */
export function importProblem(file, specifier, text = '') {
  const room = file.split('/')[0];
  const table = rooms[room];
  if (!table) return `src/${room} is not a room: add it to scripts/rooms.mjs`;
  const test = file.endsWith('.test.ts');
  if (specifier.startsWith('.')) {
    const target = normalize(join(dirname(file), specifier)).split(sep);
    if (target[0] !== room) return `'${specifier}' leaves the room ${room}: import '#${target[0]}'`;
    if (isSibling(file, target[1])) return `a controller imports no sibling: '${specifier}'`;
    return test ? undefined : innerProblem(file.split('/'), target);
  }
  if (specifier.startsWith('#')) {
    const target = specifier.slice(1).split('/')[0];
    if (!rooms[target]) return `'${specifier}' names no room`;
    if (target === room && isSibling(file, specifier.split('/')[1])) return `a controller imports no sibling: '${specifier}'`;
    // Kinds reach the generated types and each other by their doors.
    if (target === room && room === 'api') return undefined;
    if (target === room) return `'${specifier}' is this file's own room: import it relatively`;
    const allowed = table.imports.includes('*') ? !above[room]?.includes(target) : table.imports.includes(target);
    if (!allowed) return `${room} may not import ${target} (scripts/rooms.mjs)`;
    return undefined;
  }
  if (specifier.startsWith('node:') && !test) {
    if (isPure(file, text)) return `pure code may not use '${specifier}'`;
    const walls = inner[room];
    if (walls?.node && !walls.node.includes(file.split('/')[1]))
      return `'${specifier}': only ${walls.node.join(', ')} of ${room} asks Node`;
  }
  return undefined;
}

/** Why a file may not import another one of its room: the walls inside large rooms. */
function innerProblem([room, from, deeper], [, to, within]) {
  const walls = inner[room];
  if (!walls || deeper === undefined) return undefined;
  const allowed = walls.folders[from];
  if (!allowed) return `src/${room}/${from} is not in the table of ${room}: add it to scripts/rooms.mjs`;
  if (from === to || to === walls.below || allowed.includes('*') || allowed.includes(to)) return undefined;
  if (within === undefined && walls.shared.includes(to)) return undefined;
  return `${room}/${from} may not import ${room}/${to} (scripts/rooms.mjs)`;
}

/** Whether a controller's file names another controller's folder; controllers/index.ts lists them all, controllers/config.ts serves all. */
function isSibling(file, folder) {
  const [room, own, inner] = file.split('/');
  return room === 'controllers' && inner !== undefined && folder !== own && !folder?.endsWith('.ts');
}

/** Ambient time and chance, which only `ambientRooms` touch: everybody else takes a Clock or an Rng as an argument. */
const ambient = [
  [/\bDate\.now\b/, 'take `now` or a Clock as an argument'],
  [/\bnew Date\(\s*\)/, 'take `now` or a Clock as an argument'],
  [/\bperformance\.now\b/, 'take a Clock as an argument'],
  [/\bMath\.random\b/, 'take an Rng'],
];

/** Timers, consoles and processes, which pure code may not touch, with what to do instead. */
const outside = [
  [/\b(setTimeout|setInterval|setImmediate|queueMicrotask)\b/, 'return a requeue time; the shell schedules'],
  [/\bconsole\./, 'return data; the shell logs'],
  [/\bprocess\./, 'take what you need as an argument'],
  [/\bglobalThis\.crypto\b|\bcrypto\.(randomUUID|getRandomValues)\b/, 'take an Rng'],
];

/** Waiting, which is the shell's. */
const waiting = [/\basync\b|\bawait\b/, 'return data; the shell waits'];

/**
 * What `file` with `text` uses although it may not: `[line, message]` pairs. Pure code touches no time, chance or I/O and does not wait, except where
 * `mayWait` says so. Other code touches ambient time and chance in `ambientRooms` only. `reached`: the file is judged as one that pure code uses, which
 * touches none of these either, but may wait for what it is given.
 */
export function impurities(file, text, reached = false) {
  if (/\.test\.ts$|\/(suite|test-support|fixtures)\//.test(file)) return [];
  const pure = reached || isPure(file, text);
  const ambientIsFine = !pure && ambientRooms.includes(file.split('/')[0]);
  const banned = [
    ...(ambientIsFine ? [] : ambient),
    ...(pure ? outside : []),
    ...(pure && !reached && !mayWait(file) ? [waiting] : []),
  ];
  const where = pure ? 'pure code' : file.split('/')[0];
  const found = [];
  text.split('\n').forEach((line, index) => {
    const code = line
      .replace(/^\s*(\/\/|\*|\/\*).*$/, '')
      .replace(/\/\/.*$/, '')
      .replace(/'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''");
    for (const [pattern, instead] of banned)
      if (pattern.test(code)) found.push([index + 1, `${pattern.source} in ${where}: ${instead}`]);
  });
  return found;
}

/** All module specifiers that `text` imports. */
export function specifiersOf(text) {
  const pattern =
    /(?:^|[\n;])\s*(?:import|export)\b[^'"`;]*?\bfrom\s*['"]([^'"]+)['"]|(?:^|[\n;])\s*import\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3]);
}
