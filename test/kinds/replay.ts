// Plays recorded creates and updates through the kinds alone and prints where the answer differs; needs no server. For working on a kind:
//   npx esbuild test/kinds/replay.ts --bundle --platform=node --format=esm --conditions=sagong-src --outfile=/tmp/replay.mjs && \
//   node /tmp/replay.mjs CASES [part of a case's path] [kind]
// What admission adds is not known here: it is taken from the recorded answer for a few fields of pods, and ignored elsewhere.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process, { argv } from 'node:process';
import { builtinResources, type KindDefinition } from '#api';
import { errorBody, type FieldError } from '#apimachinery/field';
import type { KubeObject, UnknownObject } from '#apimachinery/meta';
import { create, definitionOf, doorOf, now, read, update, write } from './pipeline.ts';

interface Step {
  id: string;
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: UnknownObject;
  ignore?: string[];
  expect: {
    status: number;
    body?: UnknownObject & { details?: { causes?: { reason: string; field: string; message: string }[] } };
  };
}

const [, , root = '', only = '', onlyKind = ''] = argv;
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;
const neutral = (text: string): string =>
  text
    .replace(times, '<time>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(
      /(\n|: )[ \t\u00a0]*(@@[^\n]*\n)?[ \t\u00a0-]*&?(core|apps|batch|policy|autoscaling|storage)\.[A-Z]\w*\{[\s\S]*$/,
      '$1<diff of internal types>',
    )
    .replace(/(cannot|may not|immutable)([^\n]*)\n[\s\S]*$/, '$1$2\n<diff of internal types>');

function* files(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* files(path);
    else if (entry.name.endsWith('.json')) yield path;
  }
}

interface Target {
  definition: KindDefinition<KubeObject>;
  apiVersion: string;
  namespaced: boolean;
  name: string;
  subresource: string;
}

function targetOf(path: string): Target | undefined {
  const parts = (path.split('?')[0] ?? '').split('/').filter(Boolean);
  const core = parts[0] === 'api';
  const group = core ? '' : (parts[1] ?? '');
  const version = (core ? parts[1] : parts[2]) ?? '';
  let rest = parts.slice(core ? 2 : 3);
  if (rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'status' && rest[2] !== 'finalize') rest = rest.slice(2);
  const facts = builtinResources().find(
    (one) => one.group === group && one.version === version && one.resource === rest[0] && one.subresource === '',
  );
  const definition = facts && definitionOf(group, facts.kind.kind);
  if (!facts || !definition) return undefined;
  return {
    definition,
    apiVersion: group === '' ? version : `${group}/${version}`,
    namespaced: facts.namespaced,
    name: rest[1] ?? '',
    subresource: rest[2] ?? '',
  };
}

// Fields that admission or storage hooks of upstream set, copied from what was recorded.
const adopted: Record<string, string[]> = {
  Pod: [
    'spec.serviceAccountName',
    'spec.serviceAccount',
    'spec.tolerations',
    'spec.priority',
    'spec.preemptionPolicy',
    'spec.volumes',
    'spec.overhead',
    'spec.priorityClassName',
  ],
  PersistentVolume: ['metadata.finalizers'],
  PersistentVolumeClaim: ['metadata.finalizers'],
  Service: ['spec.clusterIP', 'spec.clusterIPs', 'spec.ipFamilies', 'spec.ipFamilyPolicy'],
};

function adopt(definition: KindDefinition<KubeObject>, draft: UnknownObject, answer: UnknownObject): void {
  for (const path of adopted[definition.kind] ?? []) {
    const [head = '', field = ''] = path.split('.');
    const from = answer[head] as Record<string, unknown> | undefined;
    if (from?.[field] !== undefined) (draft[head] as Record<string, unknown>)[field] ??= structuredClone(from[field]);
  }
}

let passed = 0;
let failed = 0;

function report(file: string, step: Step, problem: string): void {
  if (problem === '') passed++;
  else {
    failed++;
    console.log(`${file} ${step.id}: ${problem}`);
  }
}

const causesOf = (errors: FieldError[]): string[] =>
  errors.map((error) => neutral(`${error.field} ${error.type}: ${errorBody(error)}`));

const volatile = new Set([
  'managedFields',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'name',
  'namespace',
  'generateName',
  'deletionTimestamp',
]);
function prune(value: unknown, path: string): void {
  const [head = '', ...rest] = path.split('.');
  if (value === null || typeof value !== 'object') return;
  const owner = value as Record<string, unknown>;
  if (rest.length === 0) delete owner[head];
  else if (head === '*') for (const key of Object.keys(owner)) prune(owner[key], rest.join('.'));
  else prune(owner[head], rest.join('.'));
}

function comparable(written: UnknownObject, ignore: string[] = []): unknown {
  const object = structuredClone(written);
  for (const path of ignore) prune(object, path);
  const { metadata, ...rest } = object;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([key]) => !volatile.has(key)));
  return JSON.parse(neutral(JSON.stringify({ ...rest, metadata: kept })));
}

function difference(want: unknown, got: unknown, path = ''): string {
  if (typeof want !== 'object' || typeof got !== 'object' || want === null || got === null) {
    const volatileText = typeof want === 'string' && /^<\w+>$/.test(want);
    return want === got || volatileText
      ? ''
      : `${path}: want ${JSON.stringify(want)?.slice(0, 200)}, got ${JSON.stringify(got)?.slice(0, 200)}`;
  }
  for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) {
    const found = difference((want as Record<string, unknown>)[key], (got as Record<string, unknown>)[key], `${path}.${key}`);
    if (found !== '') return found;
  }
  return '';
}

function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base: Record<string, unknown> =
    typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...(target as Record<string, unknown>) } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete base[key];
    else base[key] = merge(base[key], value);
  }
  return base;
}

function play(file: string, step: Step, states: Map<string, UnknownObject>): void {
  const target = step.path === undefined ? undefined : targetOf(step.path);
  const { method, body, expect } = step;
  if (!target || expect.body === undefined) return;
  const { definition, apiVersion, subresource } = target;
  if (onlyKind && definition.kind !== onlyKind) return;
  const key = `${definition.group}/${definition.kind}/${target.name || expect.body.metadata?.name}`;
  const ok = expect.status === 200 || expect.status === 201;
  const remember = (): void => {
    if (ok && expect.body?.kind === definition.kind)
      states.set(key, structuredClone(read(definition, expect.body.apiVersion ?? apiVersion, expect.body)));
  };
  if (ok && (expect.body.kind !== definition.kind || !expect.body.metadata?.name)) return;
  if ((!ok && expect.status !== 422) || !method || body === undefined) {
    remember();
    return;
  }
  const context = { now, subresource, requestVersion: apiVersion, user: { name: 'admin', groups: ['system:masters'] } };
  try {
    let errors: FieldError[];
    let draft: UnknownObject;
    if (method === 'POST' && subresource === '') {
      draft = read(definition, apiVersion, body);
      if (ok) adopt(definition, draft, expect.body);
      if (draft.metadata.generateName && !draft.metadata.name) draft.metadata.name = `${draft.metadata.generateName}abcde`;
      if (target.namespaced) draft.metadata.namespace ??= 'ns';
      draft.metadata.uid = '11111111-1111-4111-8111-111111111111';
      draft.metadata.creationTimestamp = new Date(now).toISOString().replace('.000', '');
      errors = create(definition, draft, target.namespaced, context);
    } else {
      const old = states.get(key);
      const door = doorOf(definition, subresource);
      const type = step.headers?.['content-type'] ?? '';
      const isMerge = method === 'PATCH' && type.startsWith('application/merge-patch');
      if (!old || !door || (method !== 'PUT' && !isMerge)) return remember();
      draft = read(definition, apiVersion, isMerge ? merge(write(definition, apiVersion, structuredClone(old)), body) : body);
      if (target.namespaced) draft.metadata.namespace ??= 'ns';
      old.metadata.namespace = draft.metadata.namespace as string;
      if (ok) adopt(definition, draft, expect.body);
      errors = update(definition, door, draft, structuredClone(old), context);
    }
    if (ok) {
      const got =
        errors.length > 0
          ? causesOf(errors).join(' | ')
          : difference(comparable(expect.body, step.ignore), comparable(write(definition, apiVersion, draft), step.ignore));
      report(file, step, got);
    } else {
      const want = (expect.body.details?.causes ?? []).map(({ reason, field, message }) =>
        neutral(`${field} ${reason}: ${message}`),
      );
      const got = causesOf(errors).map((text) => text.replace(/^ /, '<nil> '));
      const wanted = want.map((text) => text.replace(/^ /, '<nil> '));
      report(
        file,
        step,
        wanted.join('\n') === got.join('\n')
          ? ''
          : `\n    want ${wanted.join('\n         ')}\n    got  ${got.join('\n         ')}`,
      );
    }
  } catch (error) {
    if (process.env['VERBOSE']) console.log(error);
    if (expect.status !== 400 && !/unknown field|no conversion/.test(String(error)))
      report(file, step, String((error as Error).stack).slice(0, 400));
  }
  try {
    remember();
  } catch (error) {
    console.log(`${file} ${step.id}: recorded answer unreadable: ${String(error)}`);
  }
}

const uid = '11111111-1111-4111-8111-111111111111';
const micro = '2026-01-02T03:04:05.000000Z';
const microTimes = ['renewTime', 'acquireTime', 'eventTime', 'lastObservedTime'];
const placeholders: Record<string, unknown> = {
  uid,
  resourceVersion: '5',
  clusterIP: '10.96.0.10',
  healthCheckNodePort: 32000,
  nodePort: 32001,
};

// Recorded answers hold placeholders where values differ from run to run; readable ones take their place.
function readable(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value === `<${key}>`) return placeholders[key] ?? (microTimes.includes(key) ? micro : '2026-01-02T03:04:05Z');
  if (value === '<time>' && microTimes.includes(key)) return micro;
  return value
    .replaceAll('<time>', '2026-01-02T03:04:05Z')
    .replaceAll('<uid>', uid)
    .replaceAll('<clusterIP>', '10.96.0.10')
    .replaceAll('<ns>', 'ns')
    .replaceAll('${ns}', 'ns');
}

for (const file of files(root)) {
  const name = file.slice(root.length + 1);
  if (!name.includes(only)) continue;
  const scenario = JSON.parse(readFileSync(file, 'utf8'), readable) as { steps: Step[] };
  const states = new Map<string, UnknownObject>();
  for (const step of scenario.steps) play(name, step, states);
}
console.log(`${passed} passed, ${failed} failed`);
