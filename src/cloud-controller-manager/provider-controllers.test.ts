import { describe, expect, it } from 'vitest';
import type { CloudControllerDefinition, CloudProviderDefinition, ProviderFlags } from '#cloud-provider';
import { FakeCloud, fakeProvider } from '#cloud-provider/fake';
import { createMetrics, parseFlags } from '#component-base';
import { selectControllers } from '#controller-runtime/manager';
import { type Clock, seededRng } from '#utils';
import {
  cloudControllers,
  cloudMetrics,
  defaultCloudControllersConfig,
  providerValuesOf,
  tableOfProvider,
  textFlagIn,
} from './index.ts';

const clock: Clock = { now: () => 0, monotonic: () => 0, setTimer: () => ({ cancel() {} }), sleep: () => Promise.resolve() };
const controller = (more: Partial<CloudControllerDefinition> = {}): CloudControllerDefinition => ({
  name: 'tagging',
  rights: [],
  watches: [],
  view: () => ({}),
  reconcile: () => ({ effects: [] }),
  ...more,
});
const entries = (...controllers: CloudControllerDefinition[]) =>
  cloudControllers(
    { ...fakeProvider(new FakeCloud({ clock })), controllers },
    'fake',
    defaultCloudControllersConfig(),
    cloudMetrics(createMetrics()),
    { clock, rng: seededRng(1) },
  );

describe('controllers of a provider', () => {
  const chosen = (given: Partial<CloudControllerDefinition>, ...wanted: string[]) =>
    selectControllers(entries(controller(given)), wanted).some(({ name }) => name === 'tagging');
  it('are chosen as the manager’s own', () => {
    expect(chosen({}, '*')).toBe(true);
    expect(chosen({}, '*', '-tagging')).toBe(false);
    expect(chosen({ disabledByDefault: true }, '*')).toBe(false);
    expect(chosen({ disabledByDefault: true }, '*', 'tagging')).toBe(true);
    expect(chosen({ aliases: ['tags'] }, 'tags')).toBe(true);
  });
  it('have names of their own', () => {
    expect(() => entries(controller({ name: 'service' }))).toThrow('"service" has the name of another controller');
    expect(() => entries(controller(), controller())).toThrow('"tagging" has the name of another controller');
  });
  it('become loops with their rights and one worker', () => {
    const rights = [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }];
    const made = entries(controller({ rights, serviceAccount: 'tagging-controller' }))
      .at(-1)
      ?.make();
    expect(made).toMatchObject({ name: 'tagging', serviceAccount: 'tagging-controller', rights, concurrency: 1 });
  });
});

describe('flags of a provider', () => {
  const flags: ProviderFlags = {
    tags: { name: 'tags', type: 'stringMap', default: {}, help: '' },
    rate: { name: 'tagging-rate', type: 'float', default: 0, help: '' },
    batch: { name: 'tagging-batch', type: 'bool', default: false, help: '' },
  };
  const definition = { name: 'a', flags } as unknown as CloudProviderDefinition;
  it('are parsed with the manager’s', () => {
    const { values } = parseFlags(tableOfProvider(definition, {}), ['--tags=a=1,b=2', '--tags', 'c=', '--tagging_rate=1.5']);
    expect(providerValuesOf(definition, values)).toEqual({ tags: { a: '1', b: '2', c: '' }, rate: 1.5, batch: false });
  });
  it('take no name that is taken', () => {
    const own = tableOfProvider(definition, {});
    expect(() => tableOfProvider(definition, own)).toThrow('cloud provider "a": flag redefined: tags');
  });
  it('are known by two flags that are looked for first', () => {
    expect(textFlagIn(['--cloud-provider=aws', '--v=2'], 'cloud-provider')).toBe('aws');
    expect(textFlagIn(['--cloud_provider', 'aws'], 'cloud-provider')).toBe('aws');
    expect(textFlagIn(['--', '--cloud-provider=aws'], 'cloud-provider')).toBe('');
  });
});
