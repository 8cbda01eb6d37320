// ComponentStatus (core/v1, deprecated): the health of what the control plane is made of, asked at each read
// (k8s.io/kubernetes pkg/registry/core/componentstatus).
import { notFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { SpecialContext, SpecialRest } from '../contracts.ts';
import { deprecationWarning } from './deprecations.ts';

export interface ComponentProbe {
  name: string;
  /** What the component says of itself; rejects when it cannot be asked. */
  probe(): Promise<string>;
}

const kind = { group: '', version: 'v1', kind: 'ComponentStatus' };

async function statusOf({ name, probe }: ComponentProbe): Promise<KubeObject> {
  const condition = await probe().then(
    (message) => ({ type: 'Healthy', status: 'True', message }),
    (error: Error) => ({ type: 'Healthy', status: 'Unhealthy', message: error.message }),
  );
  return { kind: kind.kind, apiVersion: 'v1', metadata: { name }, conditions: [condition] } as KubeObject;
}

export function componentStatusEndpoint(probes: readonly ComponentProbe[]): SpecialRest {
  return {
    group: '',
    version: 'v1',
    resource: 'componentstatuses',
    subresource: '',
    namespaced: false,
    methods: ['GET'],
    kind,
    async handle({ name, warn }: SpecialContext) {
      const warning = deprecationWarning('v1', kind.kind);
      if (warning !== undefined) warn(warning);
      if (name === '') {
        const items = (await Promise.all(probes.map(statusOf))).map(({ kind: _, apiVersion: __, ...rest }) => rest);
        return {
          status: 200,
          object: { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items } as unknown as KubeObject,
        };
      }
      const probe = probes.find((candidate) => candidate.name === name);
      if (!probe) throw notFound({ group: '', resource: 'componentstatus' }, name);
      return { status: 200, object: await statusOf(probe) };
    },
  };
}
