// ComponentStatus (core/v1, deprecated): the health of what the control plane is made of, asked at each read
// (k8s.io/kubernetes pkg/registry/core/componentstatus).
import type { Column, Printer } from '#api';
import type { ComponentStatus } from '#api/core/v1';
import { notFound } from '#apimachinery/errors';
import type { KubeObject } from '#apimachinery/meta';
import type { SpecialContext, SpecialRest } from './special.ts';
import { deprecationWarning } from './deprecations.ts';

export interface ComponentProbe {
  name: string;
  /** What the component says of itself; rejects when it cannot be asked. */
  probe(): Promise<string>;
}

const kind = { group: '', version: 'v1', kind: 'ComponentStatus' };

const nameText =
  'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names';
const ofConditions = (name: string): Column => ({
  name,
  type: 'string',
  description: `${name} of the component conditions`,
});

const printer: Printer<KubeObject> = {
  columns: [
    { name: 'Name', type: 'string', format: 'name', description: nameText },
    ofConditions('Status'),
    ofConditions('Message'),
    ofConditions('Error'),
  ],
  cells(object) {
    const { metadata, conditions = [] } = object as ComponentStatus;
    const health = conditions.find(({ type }) => type === 'Healthy');
    const status = health?.status === 'True' ? 'Healthy' : 'Unhealthy';
    return [metadata.name ?? '', status, health?.message ?? '', health?.error ?? ''];
  },
};

async function statusOf({ name, probe }: ComponentProbe): Promise<KubeObject> {
  const condition = await probe().then(
    (message) => ({ type: 'Healthy', status: 'True', message }),
    (error: Error) => ({ type: 'Healthy', status: 'False', message: error.message }),
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
    printer,
    async handle({ request, target: { name } }: SpecialContext) {
      const warning = deprecationWarning('v1', kind.kind);
      if (warning !== undefined) request.notes.warn(warning);
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
