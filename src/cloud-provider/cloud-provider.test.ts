import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Node, Service } from '#api/core/v1';
import { type Clock, silentLogger } from '#utils';
import {
  checkedProvider,
  type CloudProvider,
  type ConfigSchema,
  defaultLoadBalancerName,
  defineCloudProvider,
  implementedElsewhere,
  instanceIdOf,
  isImplementedElsewhere,
  type LoadBalancer,
  loadCloudProvider,
  retryAfter,
  retryAfterOf,
  sourceRangesOf,
  validateConfig,
  vendorPackages,
} from './index.ts';
import { FakeCloud, fakeCloudProvider, fakeProvider } from './fake/index.ts';

const clock: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };

describe('errors', () => {
  it('asks for a delay through causes, from any copy of the package', () => {
    const wrapped = new Error('outer', { cause: new Error('middle', { cause: retryAfter('busy', 1500) }) });
    expect(retryAfterOf(wrapped)).toBe(1500);
    expect(retryAfterOf(new Error('plain'))).toBeUndefined();
    expect(retryAfterOf({ code: 'Retry', retryAfterMs: 7 })).toBe(7);
  });
  it('sees «implemented elsewhere» only itself', () => {
    expect(isImplementedElsewhere(implementedElsewhere())).toBe(true);
    expect(isImplementedElsewhere(new Error('x', { cause: implementedElsewhere() }))).toBe(false);
  });
});

describe('helpers', () => {
  const service = (more: Partial<Service['spec']>, annotations: Record<string, string> = {}): Service => ({
    metadata: { name: 'a', uid: '0123456789-abcdef-0123456789-abcdef-01', annotations },
    spec: more,
  });
  it('names load balancers', () => {
    expect(defaultLoadBalancerName(service({}))).toBe('a0123456789abcdef0123456789abcde');
  });
  it.each<[string, Service, string[]]>([
    ['nothing', service({}), ['0.0.0.0/0']],
    ['the field', service({ loadBalancerSourceRanges: [' 10.0.0.0/8'] }), ['10.0.0.0/8']],
    [
      'the annotation',
      service({}, { 'service.beta.kubernetes.io/load-balancer-source-ranges': '1.2.3.0/24, 4.5.6.0/24' }),
      ['1.2.3.0/24', '4.5.6.0/24'],
    ],
  ])('source ranges from %s', (_from, given, expected) => expect(sourceRangesOf(given)).toEqual(expected));
  it('reads its own provider IDs only', () => {
    expect(instanceIdOf('fake', 'fake://i-1')).toBe('i-1');
    expect(instanceIdOf('fake', 'aws:///zone/i-1')).toBeUndefined();
  });
});

describe('configuration', () => {
  const schema: ConfigSchema = {
    type: 'object',
    required: ['token'],
    properties: {
      token: { type: 'string', minLength: 1 },
      retries: { type: 'integer', minimum: 0, default: 3 },
      nets: { type: 'array', items: { type: 'object', properties: { cidr: { type: 'string', pattern: '/' } } } },
    },
  };
  it('fills in defaults', () => {
    expect(validateConfig('x', schema, { token: 't' })).toEqual({ token: 't', retries: 3 });
  });
  it.each<[unknown, string]>([
    [{}, 'token: is required'],
    [{ token: '' }, 'token: must not be empty'],
    [{ token: 't', retries: 1.5 }, 'retries: must be an integer'],
    [{ token: 't', retries: -1 }, 'retries: must be at least 0, not -1'],
    [{ token: 't', tokn: 't' }, 'tokn: is not known; known are token, retries, nets'],
    [{ token: 't', nets: [{ cidr: 'x' }] }, 'nets[0].cidr: must match /, not "x"'],
    ['text', 'the configuration: must be an object'],
  ])('%j', (config, problem) => expect(() => validateConfig('x', schema, config)).toThrow(problem));
});

describe('answers of a provider', () => {
  const node: Node = { metadata: { name: 'a' } };
  const service: Service = { metadata: { name: 'a' } };
  /** What a method of this provider says when it answers so. */
  const says = (answer: unknown) => {
    const method = (): never => answer as never;
    return checkedProvider({
      hasClusterId: () => true,
      instancesV2: { instanceExists: method, instanceShutdown: method, instanceMetadata: method },
      loadBalancer: {
        getLoadBalancer: method,
        getLoadBalancerName: () => 'name',
        ensureLoadBalancer: method,
        updateLoadBalancer: method,
        ensureLoadBalancerDeleted: method,
      },
      routes: { listRoutes: method, createRoute: method, deleteRoute: method },
    });
  };
  it.each<[string, unknown, (cloud: CloudProvider) => Promise<unknown> | undefined]>([
    ['instanceExists', undefined, ({ instancesV2 }) => instancesV2?.instanceExists(node)],
    ['instanceExists', 'maybe', ({ instancesV2 }) => instancesV2?.instanceExists(node)],
    ['instanceShutdown', null, ({ instancesV2 }) => instancesV2?.instanceShutdown(node)],
    ['instanceMetadata', 'text', ({ instancesV2 }) => instancesV2?.instanceMetadata(node)],
    ['instanceMetadata', { providerId: 'x://y' }, ({ instancesV2 }) => instancesV2?.instanceMetadata(node)],
    ['instanceMetadata', { nodeAddresses: [], zone: 5 }, ({ instancesV2 }) => instancesV2?.instanceMetadata(node)],
    ['ensureLoadBalancer', 'text', ({ loadBalancer }) => loadBalancer?.ensureLoadBalancer('c', service, [])],
    ['getLoadBalancer', { ingress: '1.2.3.4' }, ({ loadBalancer }) => loadBalancer?.getLoadBalancer('c', service)],
    ['listRoutes', undefined, ({ routes }) => routes?.listRoutes('c')],
    ['listRoutes', [{ name: 'x' }], ({ routes }) => routes?.listRoutes('c')],
  ])('%s: %j is none', async (method, answer, ask) => {
    await expect(ask(says(answer))).rejects.toThrow(new RegExp(`${method} must answer with `));
  });
  it('are let through, with `this`, also of a frozen provider', async () => {
    class Machines {
      readonly #known = new Set(['a']);
      instanceExists({ metadata }: Node) {
        return Promise.resolve(this.#known.has(metadata.name ?? ''));
      }
      instanceShutdown = () => Promise.resolve(false);
      instanceMetadata = () => Promise.resolve(undefined);
    }
    const cloud = checkedProvider(Object.freeze({ hasClusterId: () => true, instancesV2: Object.freeze(new Machines()) }));
    expect(await cloud.instancesV2?.instanceExists(node)).toBe(true);
    expect(await cloud.instancesV2?.instanceMetadata(node)).toBeUndefined();
    expect(cloud.hasClusterId()).toBe(true);
    expect(cloud.loadBalancer).toBeUndefined();
  });
  it('are rejections when they are thrown before there is a promise', async () => {
    const { loadBalancer } = fakeProvider(new FakeCloud({ clock }));
    const throwing = checkedProvider({
      hasClusterId: () => true,
      loadBalancer: {
        ...(loadBalancer as LoadBalancer),
        ensureLoadBalancer: () => {
          throw implementedElsewhere();
        },
      },
    });
    const call = throwing.loadBalancer?.ensureLoadBalancer('c', service, []);
    expect(isImplementedElsewhere(await call?.catch((error: unknown) => error))).toBe(true);
  });
});

describe('loading', () => {
  let dir = '';
  const builtIn = { fake: () => Promise.resolve(fakeCloudProvider as never) };
  const load = (provider: string, configFile = join(dir, 'cloud.yaml')) =>
    loadCloudProvider({ provider, configFile, builtIn }, { clock, logger: silentLogger });
  const define = (more: string) =>
    `export default { name: 'mine', apiVersion: 'sagong.dev/cloud-provider/v1', configSchema: { type: 'object', properties: { a: { type: 'string' } } }, create: ({ config }) => ({ hasClusterId: () => config.a === 'yes' }), ${more} };`;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'cloud-provider-'));
    const module = join(dir, 'node_modules', 'packaged');
    await mkdir(module, { recursive: true });
    await writeFile(join(dir, 'cloud.yaml'), 'a: "yes"\n');
    await writeFile(join(dir, 'wrong.yaml'), 'b: 1\n');
    await writeFile(join(dir, 'file.mjs'), define(''));
    await writeFile(join(dir, 'old.mjs'), define("apiVersion: 'sagong.dev/cloud-provider/v0'"));
    await writeFile(join(dir, 'broken.mjs'), define("create() { throw new Error('no key') }"));
    await writeFile(join(dir, 'five.mjs'), define('create: () => 5'));
    await writeFile(
      join(dir, 'half.mjs'),
      define('create: () => ({ hasClusterId: () => true, instancesV2: { instanceExists() {}, instanceMetadata() {} } })'),
    );
    await writeFile(join(dir, 'lonely.mjs'), "import 'sagong/cloud-provider';");
    await writeFile(join(dir, 'none.mjs'), 'export const x = 1;');
    await writeFile(join(module, 'package.json'), '{"name":"packaged","type":"module","exports":{".":{"import":"./main.js"}}}');
    await writeFile(join(module, 'main.js'), define(''));
  });
  afterAll(() => rm(dir, { recursive: true }));

  it('gives none for «external» and for no name', async () => {
    expect(await load('')).toBeUndefined();
    expect(await load('external')).toBeUndefined();
  });
  it.each(['./file.mjs', 'packaged'])('%s, from the folder of the configuration', async (provider) => {
    const loaded = await load(provider);
    expect(loaded?.name).toBe('mine');
    expect(loaded?.cloud.hasClusterId()).toBe(true);
  });
  it('finds the package of a vendor from the folder of the configuration, and says how to install a missing one', async () => {
    const options = { builtIn, vendors: { acme: 'packaged', moon: '@moon/cloud-provider' } };
    const configFile = join(dir, 'cloud.yaml');
    const deps = { clock, logger: silentLogger };
    expect((await loadCloudProvider({ ...options, provider: 'acme', configFile }, deps))?.name).toBe('mine');
    await expect(loadCloudProvider({ ...options, provider: 'moon', configFile }, deps)).rejects.toThrow(
      /cloud provider "moon" is the npm package @moon\/cloud-provider, which is found neither .* npm install @moon\/cloud-provider$/,
    );
  });
  it('gives a built-in one', async () => expect((await load('fake', ''))?.name).toBe('fake'));
  it.each<[string, string, string]>([
    [
      'nonsense',
      'cloud.yaml',
      `unknown cloud provider "nonsense": built in are fake; packages of vendors are ${Object.keys(vendorPackages).sort().join(', ')}; no npm package of that name`,
    ],
    ['./missing.mjs', 'cloud.yaml', 'cannot be loaded'],
    ['./lonely.mjs', 'cloud.yaml', '(npm install sagong beside it)'],
    ['./none.mjs', 'cloud.yaml', 'no defineCloudProvider(...) as default export'],
    ['./old.mjs', 'cloud.yaml', 'is written for sagong.dev/cloud-provider/v0, this manager speaks sagong.dev/cloud-provider/v1'],
    ['./broken.mjs', 'cloud.yaml', 'could not init cloud provider "mine": no key'],
    ['./five.mjs', 'cloud.yaml', 'could not init cloud provider "mine": its create must give an object with hasClusterId()'],
    ['./half.mjs', 'cloud.yaml', 'it offers instancesV2, but has no instancesV2.instanceShutdown'],
    ['./file.mjs', 'wrong.yaml', 'invalid configuration of cloud provider "mine": b: is not known; known are a'],
    ['./file.mjs', 'absent.yaml', "couldn't open cloud provider configuration"],
  ])('%s with %s: %s', async (provider, config, problem) => {
    await expect(load(provider, join(dir, config))).rejects.toThrow(problem);
  });
  it('refuses names that cannot be asked for', () => {
    expect(() => defineCloudProvider({ ...fakeCloudProvider, name: 'No Name' })).toThrow('cannot be named');
  });
});
