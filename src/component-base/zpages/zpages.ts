// What a component says of itself at /flagz and /statusz (k8s.io/apiserver/pkg/server/flagz and statusz, KEP-4828 and KEP-4827): text for people, and a
// structured form for those who name it in their Accept header.
import { formatYaml } from '#apimachinery/codec';
import { notAcceptable } from '#apimachinery/errors';
import type { Clock } from '#utils';
import type { FlagTable } from '../flags/index.ts';
import { kubernetesVersion } from '../version.ts';
import { versionInfo } from '../version-info.ts';
import { type AcceptClause, parseAccept } from './accept.ts';

/** The flags of a component by name, with their values as pflag prints them. */
export type FlagTexts = Readonly<Record<string, string>>;

export interface Zpages {
  component: string;
  clock: Clock;
  /** Left out: there is no /flagz. */
  flags?: (() => FlagTexts | Promise<FlagTexts>) | undefined;
  /** What the component serves beside. */
  paths: readonly string[];
}

export interface ZpageAnswer {
  status: number;
  type: string;
  body: string;
  headers?: Record<string, string>;
}

export interface ZpageRequest {
  /** Raw, with its query. */
  target: string;
  accept: string;
  userAgent: string;
}

/** What `/flagz` shows of a table and its values. */
export const flagTexts = (table: FlagTable, values: Readonly<Record<string, unknown>>): FlagTexts =>
  Object.fromEntries(
    Object.entries(table).map(([key, { name, type }]) => {
      const value = values[key];
      return [name, typeof value === 'string' ? value : type.format(value)];
    }),
  );

const group = 'config.k8s.io';
const versions = ['v1alpha1', 'v1beta1'];
const structured = { json: 'application/json', yaml: 'application/yaml' };
const plain = 'text/plain';

interface Form {
  is: 'text' | 'json' | 'yaml';
  version: string;
  pretty: boolean;
}

const matches = (wanted: string, type: string): boolean =>
  wanted === '*/*' || wanted === type || (wanted.endsWith('/*') && type.startsWith(wanted.slice(0, -1)));

function formOf({ type, parameters }: AcceptClause, kind: string): Form | undefined {
  const target = ['as', 'g', 'v'].map((name) => parameters.get(name));
  const asked = target.some((value) => value !== undefined);
  // A structured form has no default version.
  if (asked && (target[0] !== kind || target[1] !== group || !versions.includes(target[2] ?? ''))) return undefined;
  const is = asked
    ? (['json', 'yaml'] as const).find((form) => matches(type, structured[form]))
    : matches(type, plain)
      ? 'text'
      : undefined;
  return is && { is, version: target[2] ?? '', pretty: parameters.get('pretty') === '1' };
}

function negotiate(accept: string, kind: string): Form | undefined {
  if (accept.trim() === '') return { is: 'text', version: '', pretty: false };
  return parseAccept(accept)
    .map((clause) => formOf(clause, kind))
    .find((found) => found !== undefined);
}

function isPretty({ target, userAgent }: ZpageRequest, form: Form): boolean {
  const asked = new URLSearchParams(target.split('?')[1] ?? '').get('pretty') ?? '';
  if (asked !== '') return /^(1|t|true)$/i.test(asked);
  return form.pretty || /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

const header = (component: string, page: string): string =>
  `\n${component} ${page}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`;

function flagsText(component: string, flags: FlagTexts): string {
  const lines = Object.entries(flags).map(([name, value]) => `${name}=${value}\n`);
  return `${header(component, 'flagz')}${lines.join('')}`;
}

interface Status {
  startTime: string;
  uptimeSeconds: number;
  goVersion: string;
  binaryVersion: string;
  emulationVersion: string;
  paths: string[];
}

/** Not for debugging; the others are shown by the first part of their path. */
const leftOut = new Set(['/apis', '/api', '/openid', '/openapi', '/.well-known']);

function statusOf({ clock, paths }: Zpages): Status {
  const { major, minor, patch } = kubernetesVersion;
  const uptimeSeconds = Math.max(0, Math.floor(process.uptime()));
  const folders = new Set(paths.map((path) => `/${path.split('/')[1] ?? ''}`));
  return {
    startTime: `${new Date(clock.now() - uptimeSeconds * 1_000).toISOString().slice(0, 19)}Z`,
    uptimeSeconds,
    goVersion: versionInfo().goVersion,
    binaryVersion: `${major}.${minor}.${patch}`,
    emulationVersion: `${major}.${minor}`,
    paths: [...folders].filter((path) => path !== '/' && !leftOut.has(path)).sort(),
  };
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number): string => String(value).padStart(2, '0');

/** As `date` prints it in UTC. */
function unixDate(text: string): string {
  const at = new Date(text);
  const day = String(at.getUTCDate()).padStart(2);
  return `${days[at.getUTCDay()]} ${months[at.getUTCMonth()]} ${day} ${text.slice(11, 19)} UTC ${at.getUTCFullYear()}`;
}

function statusText(component: string, status: Status): string {
  const { uptimeSeconds: up, paths } = status;
  const lines = [
    `Started: ${unixDate(status.startTime)}`,
    `Up: ${Math.floor(up / 3600)} hr ${two(Math.floor(up / 60) % 60)} min ${two(up % 60)} sec`,
    `Go version: ${status.goVersion}`,
    `Binary version: ${status.binaryVersion}`,
    `Emulation version: ${status.emulationVersion}`,
    paths.length === 0 ? '' : `Paths: ${paths.join(' ')}`,
  ];
  return `${header(component, 'statusz')}\n${lines.join('\n')}\n`;
}

/** The refusal is in the first plain form that was asked for as well; JSON in one line then. Everybody else may be a person. */
function refusal(accept: string): ZpageAnswer {
  const { status } = notAcceptable([...Object.values(structured), plain]);
  const wanted = parseAccept(accept).filter(({ parameters }) => !parameters.has('as'));
  const form = wanted.flatMap(({ type }) => Object.values(structured).find((known) => matches(type, known)) ?? [])[0];
  if (form === structured.yaml) return { status: 406, type: form, body: formatYaml(status) };
  const isJson = form === structured.json;
  const body = isJson ? `${JSON.stringify(status)}\n` : JSON.stringify(status, undefined, 2);
  return { status: 406, type: structured.json, body };
}

interface Asked extends ZpageRequest {
  kind: string;
  component: string;
}

function structuredAnswer(request: Asked, form: Form, value: object): ZpageAnswer {
  const { kind, component } = request;
  const type = `${structured[form.is as 'json' | 'yaml']};g=${group};v=${form.version};as=${kind}`;
  const body = { kind, apiVersion: `${group}/${form.version}`, metadata: { name: component }, ...value };
  const page = kind.toLowerCase();
  const old = form.version === 'v1alpha1';
  const warning = `299 - "This version of the ${page} endpoint is deprecated. Please use a newer version."`;
  const headers = { 'cache-control': 'no-cache, private', ...(old && { warning }) };
  if (form.is === 'yaml') return { status: 200, type, body: formatYaml(body), headers };
  const text = isPretty(request, form) ? JSON.stringify(body, undefined, 2) : `${JSON.stringify(body)}\n`;
  return { status: 200, type, body: text, headers };
}

const inOrder = (flags: FlagTexts): FlagTexts => Object.fromEntries(Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Answers `/flagz` and `/statusz`; undefined for every other path. */
export async function routeZpage(request: ZpageRequest, pages: Zpages): Promise<ZpageAnswer | undefined> {
  const path = request.target.split('?')[0];
  const { component, flags } = pages;
  const isFlags = path === '/flagz' && flags !== undefined;
  if (!isFlags && path !== '/statusz') return undefined;
  const kind = isFlags ? 'Flagz' : 'Statusz';
  const form = negotiate(request.accept, kind);
  if (form === undefined) return refusal(request.accept);
  const value = isFlags ? { flags: inOrder(await flags()) } : statusOf(pages);
  if (form.is !== 'text') return structuredAnswer({ ...request, kind, component }, form, value);
  const body = 'flags' in value ? flagsText(component, value.flags) : statusText(component, value);
  return { status: 200, type: 'text/plain; charset=utf-8', body };
}
