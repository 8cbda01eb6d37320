// Everything that reads what others wrote: bodies, queries, headers, expressions, frames, packets, files that somebody hands over.
import { decode as decodePacket, encode as encodePacket } from 'dns-packet';
import { isDeepStrictEqual } from 'node:util';
import { builtinSchema } from '#api';
import { decodeProtobuf, decodeWatchFrame, encodeProtobuf, formatYaml, parseAccept, parseYaml } from '#apimachinery/codec';
import { parseDurationNs } from '#apimachinery/duration';
import { parse as parseFields } from '#apimachinery/fields';
import { parse as parseLabels } from '#apimachinery/labels';
import { atOnce, createFieldManager } from '#apimachinery/managedfields';
import type { UnknownObject } from '#apimachinery/meta';
import { jsonPatch, mergePatch, strategicMergePatch } from '#apimachinery/patch';
import { parseQuantity } from '#apimachinery/quantity';
import { decode, parseJson } from '#apimachinery/schema';
import { parseCIDR, parseIP } from '#apimachinery/validation';
import { celTypes, compile, environmentOf, fromJson, isProgram } from '#cel';
import { createCertificateAuthority, decodeJwt, parseCertificateRequest, parseCertificates } from '#pki';
import { compileRegexp, Work } from '#regexp';
import { parseSchedule } from '../../../src/api/batch/cronjob/schedule.ts';
import { follow, pathOf, Visits } from '../../../src/apiserver/apiextensions/json-path/index.ts';
import { readClaims } from '../../../src/apiserver/authentication/service-account-claims.ts';
import { decodeContinue } from '../../../src/apiserver/registry/generic/continue-token.ts';
import { readUri } from '../../../src/apiserver/request/uri.ts';
import { parseCloudConfig } from '../../../src/cloud/server/config-file.ts';
import { parseIni } from '../../../src/cloud-provider/kit/ini.ts';
import { parseLogLine } from '../../../src/kubelet/logs/cri-log.ts';
import { parseResolvConf } from '../../../src/kubelet/network/dns.ts';
import { decodeRecord } from '../../../src/store/disk/records.ts';
import { decodeFields } from '../../../src/store/snapshot/protobuf.ts';
import { frameParser as spdyParser } from '../../../src/wire/spdy/frames.ts';
import { frameParser as webSocketParser } from '../../../src/wire/websocket/frames.ts';
import { Broken, type FuzzTarget } from './engine.ts';

const schema = builtinSchema();
const podType = 'io.k8s.api.core.v1.Pod';
const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', labels: { a: 'b' }, finalizers: ['a.example.com/b'] },
  spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'E', value: 'v' }] }] },
};
const podText = JSON.stringify(pod);

const holds = (condition: boolean, why: string): void => {
  if (!condition) throw new Broken(why);
};
const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};
const ofText = (name: string, seeds: string[], read: (text: string) => unknown): FuzzTarget => ({
  ...{ name, seeds },
  read: (input) => read(input.toString()),
});

function json(text: string): unknown {
  const plain = attempt(() => [JSON.parse(text) as unknown]);
  const { value } = parseJson(text, { findDuplicates: true });
  if (plain)
    holds(isDeepStrictEqual(structuredClone(value), structuredClone(plain[0])), 'the value is not what JSON.parse reads');
  return value;
}

function yaml(text: string): unknown {
  const { value } = parseYaml(text);
  const written = formatYaml(value as object);
  const again = parseYaml(written).value;
  holds(isDeepStrictEqual(again, value), `what is written reads otherwise: ${written.slice(0, 200)}`);
  return value;
}

function object(text: string): unknown {
  const { object: read, strictErrors } = decode(schema, podType, JSON.parse(text), { strict: true });
  const again = decode(schema, podType, JSON.parse(JSON.stringify(read)), { strict: true });
  holds(JSON.stringify(again.object) === JSON.stringify(read), 'what was read reads otherwise');
  return strictErrors.length;
}

function protobuf(input: Buffer): unknown {
  const read = decodeProtobuf(schema, input);
  const again = decodeProtobuf(schema, encodeProtobuf(schema, read));
  holds(isDeepStrictEqual(JSON.stringify(again), JSON.stringify(read)), 'what is written reads otherwise');
  return read;
}

/** Two documents in one input, apart by a line. */
const two = (text: string): [unknown, unknown] => {
  const [left = '', right = ''] = text.split('\n');
  return [JSON.parse(left), JSON.parse(right)];
};

const manager = atOnce(createFieldManager(schema, podType));
function apply(text: string): unknown {
  const [live, patch] = two(text) as [UnknownObject, UnknownObject];
  const writer = { manager: 'm', time: '2026-01-01T00:00:00Z', apiVersion: 'v1', force: true };
  const first = manager.apply(decode(schema, podType, live).object as UnknownObject, patch, writer);
  const second = manager.apply(first, patch, writer);
  holds(isDeepStrictEqual(JSON.stringify(second), JSON.stringify(first)), 'the same again changes something');
  return first;
}

function expression(text: string): unknown {
  const program = compile(text, environmentOf([['object', celTypes.dyn]]));
  if (!isProgram(program)) return program.problem.slice(0, 20);
  program.evaluate(new Map([['object', fromJson(pod, celTypes.dyn)]]), { costMax: 100_000, work: new Work(1_000_000) });
  return 'evaluated';
}

function pattern(text: string): unknown {
  const [source = '', subject = ''] = text.split('\n');
  const work = new Work(1_000_000);
  const regexp = compileRegexp(source, work);
  return [regexp.test(subject, work), regexp.test(subject.repeat(50), work)];
}

const selector = (text: string): unknown => {
  const read = parseLabels(text);
  const shown = String(read);
  if (shown.startsWith('[object')) return read.matches({ a: 'b' });
  holds(String(parseLabels(shown)) === shown, `the selector shows as ${shown}, which reads otherwise`);
  return read.matches({ a: 'b' });
};

const quantity = (text: string): unknown => {
  const shown = String(parseQuantity(text));
  holds(String(parseQuantity(shown)) === shown, `the quantity shows as ${shown}, which reads otherwise`);
  return shown.length;
};

const claims = (text: string): unknown => readClaims(decodeJwt(text).claims as Record<string, unknown>);

const framed =
  (parser: () => (chunk: Buffer) => void) =>
  (input: Buffer): unknown => {
    const [whole, cut] = [parser(), parser()];
    whole(Buffer.from(input));
    for (let at = 0; at < input.length; at += 7) cut(Buffer.from(input.subarray(at, at + 7)));
    return 'parsed';
  };

const token = (payload: object): string =>
  `${['{"alg":"RS256","kid":"k"}', JSON.stringify(payload)].map((part) => Buffer.from(part).toString('base64url')).join('.')}.c2ln`;

const apiTexts = [
  podText,
  '{"apiVersion":"v1","kind":"Pod","metadata":{"name":1},"spec":null}',
  '[]',
  '{"a":{"a":{"a":[1,2.5e3,"\\u00e9",null]}}}',
];
const yamlTexts = [
  'a: &x [1, 0x10, .inf]\nb: *x\n<<: {c: d}\n',
  '- |\n  a\n- >-\n  b\n- ? x\n  : y\n',
  formatYaml(pod),
  '{a: 1, "b": [x, ~, !!str 2]}',
];
const celTexts = [
  'object.spec.containers.all(c, c.name.matches("^[a-z]+$") && size(c.ports) < 3)',
  'has(object.metadata.labels) ? object.metadata.labels["a"].split(",").map(x, x + "!").join("") : "none"',
  'quantity("1Gi").isGreaterThan(quantity("500m")) || ip("::1").isLoopback() || timestamp("2026-01-01T00:00:00Z") > timestamp(0)',
  '[1, 2u, 3.0, b"\\x00", r"\\n", null, {"a": [1]}].size() == 7 && duration("1h") < duration("2h")',
];

export const targets: readonly FuzzTarget[] = [
  ofText('JSON', apiTexts, json),
  ofText('YAML', [...yamlTexts, ...apiTexts], yaml),
  ofText('objects', apiTexts, object),
  { name: 'protobuf', seeds: [Buffer.from(encodeProtobuf(schema, pod)), Buffer.from([0x6b, 0x38, 0x73, 0])], read: protobuf },
  { name: 'watch frames', seeds: [Buffer.from([10, 3, 65, 68, 68, 18, 2, 10, 0])], read: decodeWatchFrame },
  ofText(
    'JSON patch',
    [
      `${podText}\n[{"op":"add","path":"/metadata/labels/x","value":1},{"op":"move","from":"/spec/containers/0","path":"/spec/containers/-"},{"op":"test","path":"/a~1b","value":null},{"op":"copy","from":"/metadata","path":"/spec/m"}]`,
    ],
    (text) => jsonPatch(...(two(text) as [never, never])),
  ),
  ofText('merge patch', [`${podText}\n{"metadata":{"labels":null},"spec":{"containers":[{"name":"d"}]}}`], (text) =>
    mergePatch(...(two(text) as [never, never])),
  ),
  ofText(
    'strategic merge patch',
    [
      `${podText}\n{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"name":"c","$patch":"delete"},{"name":"d","env":[{"name":"E","value":"w"}]}],"$retainKeys":["containers"]}}`,
      `${podText}\n{"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}}`,
    ],
    (text) => {
      const [document, patch] = two(text);
      return strategicMergePatch(schema, podType, document as never, patch as never).object;
    },
  ),
  ofText(
    'apply',
    [
      `${podText}\n${podText}`,
      `${podText}\n{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"x":"y"}},"spec":{"containers":[{"name":"c","image":"j"}]}}`,
    ],
    apply,
  ),
  ofText('label selectors', ['a=b,c!=d,e in (f,g),!h,i notin (j),k', 'a==b', 'x>1,y<2', ''], selector),
  ofText('field selectors', ['metadata.name=a,spec.nodeName!=b', 'a=\\,\\=\\\\'], (text) => String(parseFields(text))),
  ofText('quantities', ['1Gi', '-0.5', '1e3', '12E', '100m', '0.000001u', '9223372036854775807Ki'], quantity),
  ofText('durations', ['1h2m3.5s', '-1.5µs', '0', '9223372036854775807ns'], parseDurationNs),
  ofText('CEL', celTexts, expression),
  ofText(
    'patterns',
    [
      '^(a+)+$\naaaaaaaa!',
      '(?i)[\\p{Greek}\\x{10FFFF}^-]{2,5}?\nΑΒγ',
      '\\bfoo|(?P<n>bar)*\\z\nfoobar',
      '[[:alpha:]]+(?:x|y){3,}\nabc',
    ],
    pattern,
  ),
  ofText(
    'JSON paths',
    ['.spec.containers[0].name', '{..name}', "{.a[?(@.b=='c')].d[*]['e','f'][1:3:-1]}", '{range .items[*]}{.a}{end}', '.a.b\\.c'],
    (text) => follow([pod], pathOf(text), new Visits(100_000)).length,
  ),
  ofText(
    'schedules',
    ['*/5 1-3,4 * JAN-MAR mon#2', '@every 1h', '@daily', 'TZ=Europe/Berlin 0 0 29 2 *', 'CRON_TZ=UTC 1 2 3 4 5'],
    parseSchedule,
  ),
  ofText('addresses', ['10.0.0.1', '::ffff:1.2.3.4', 'fe80::1%eth0', '10.0.0.0/8', '2001:db8::/32'], (text) => [
    parseIP(text),
    parseCIDR(text),
  ]),
  ofText(
    'queries',
    [
      'labelSelector=a%3Db&limit=500&continue=x&watch=1',
      'dryRun=All&dryRun=All&fieldManager=m&%zz=%',
      'resourceVersion=10&timeoutSeconds=-1',
    ],
    (text) => readUri('GET', `/api/v1/pods?${text}`).options,
  ),
  ofText(
    'paths',
    ['/api/v1/namespaces/a/pods/b/exec', '/apis/apps/v1/watch/deployments', '/api/v1/nodes/%2e%2e/proxy/x%00y', '//a/../b'],
    (text) => readUri('GET', text),
  ),
  ofText('continue tokens', [Buffer.from('{"v":"meta.k8s.io/v1","rv":5,"start":"a/b\\u0000"}').toString('base64url')], (text) =>
    decodeContinue(text, '/registry/pods/'),
  ),
  ofText(
    'Accept headers',
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.5', 'a/b;c="d\\"e",*/*', 'text/plain; ; x'],
    parseAccept,
  ),
  ofText(
    'tokens',
    [
      token({
        iss: 'i',
        sub: 'system:serviceaccount:a:b',
        aud: ['x'],
        exp: 9e9,
        'kubernetes.io': { namespace: 'a', pod: { name: 'p', uid: 'u' }, serviceaccount: { name: 'b', uid: 'u' } },
      }),
    ],
    claims,
  ),
  ofText('certificates', [createCertificateAuthority({ commonName: 'fuzz' }).cert], parseCertificates),
  ofText(
    'certificate requests',
    ['-----BEGIN CERTIFICATE REQUEST-----\nMIGGMDoCAQAwBzEFMAMGA1UEAzAqMAUGAytlcAMhAAAA\n-----END CERTIFICATE REQUEST-----\n'],
    parseCertificateRequest,
  ),
  {
    name: 'WebSocket frames',
    seeds: [
      Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b]),
      Buffer.from([0x88, 0x80, 0, 0, 0, 0]),
      Buffer.from([0x82, 0xfe, 0, 4, 0, 0, 0, 0, 1, 2, 3, 4]),
    ],
    read: framed(() => webSocketParser({ expectMasked: true, wholeBytesMax: 1_000 }, () => {})),
  },
  {
    name: 'SPDY frames',
    seeds: [
      Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1]),
      Buffer.from([0, 0, 0, 1, 1, 0, 0, 2, 65, 66]),
      Buffer.from([0x80, 3, 0, 1, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
    ],
    read: framed(() => spdyParser({ control() {}, data() {}, dataEnd() {} } as never)),
  },
  {
    name: 'DNS packets',
    seeds: [
      encodePacket({
        type: 'query',
        id: 1,
        questions: [{ type: 'A', name: 'a.svc.cluster.local' }],
        additionals: [{ type: 'OPT', name: '.', udpPayloadSize: 4096, flags: 0, options: [] } as never],
      }),
    ],
    read: (input) => attempt(() => decodePacket(input)) !== undefined,
  },
  { name: 'records of the store', seeds: [Buffer.alloc(64, 1)], read: (input) => decodeRecord(input, 0, input.length, 0) },
  { name: 'snapshots', seeds: [Buffer.from([8, 1, 18, 3, 65, 66, 67])], read: decodeFields },
  ofText('cloud configuration', ['{"listen":"127.0.0.1:1","name":"a"}', 'listen: 127.0.0.1:1\n'], (text) =>
    parseCloudConfig(text, 'cloud.yaml'),
  ),
  ofText('INI files', ['[Global]\nzone = "a" ; x\n# y\nkey\n[S "t"]\nb=\\"c\n'], parseIni),
  {
    name: 'lines of container logs',
    seeds: [Buffer.from('2026-01-01T00:00:00.123456789Z stdout F hello'), Buffer.from('2026-01-01T00:00:00Z stderr P ')],
    read: parseLogLine,
  },
  ofText('resolv.conf', ['nameserver 10.0.0.1\nsearch a b c\noptions ndots:5\n; x\n'], parseResolvConf),
];
