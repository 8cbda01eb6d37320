// PodTolerationRestriction: pods get the tolerations of their namespace, and may have only those that it allows
// (plugin/pkg/admission/podtolerationrestriction).
import { computeQOS } from '#api/core/pod';
import type { Namespace, Pod, Toleration } from '#api/core/v1';
import { notFound, plainError } from '#apimachinery/errors';
import { own } from '#utils';
import { type Fields, type FieldsOf, readConfiguration } from '../../../configuration/index.ts';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';
import { areAllowed, mergeTolerations } from '../../tolerations.ts';

const prefix = 'scheduler.alpha.kubernetes.io/';

const toleration = { key: 'string', operator: 'string', value: 'string', effect: 'string', tolerationSeconds: 'int' } as const;
const fields = { default: { list: toleration }, whitelist: { list: toleration } } as const satisfies Fields;

function configurationOf(text: string | undefined): FieldsOf<typeof fields> {
  if (text === undefined) return {};
  const group = 'podtolerationrestriction.admission.k8s.io';
  return readConfiguration(text, { group, kind: 'Configuration', versions: ['v1alpha1'], fields });
}

const isToleration = (value: unknown): value is Toleration =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(toleration).every(([name, shape]) => {
    const given = (value as Record<string, unknown>)[name] ?? undefined;
    return given === undefined || (shape === 'int' ? Number.isSafeInteger(given) : typeof given === 'string');
  });

/** What an annotation of the namespace lists; undefined when it has none. Throws a refusal for an annotation that lists something else. */
function listed({ metadata }: Namespace, name: string): Toleration[] | undefined {
  const text = own(metadata.annotations ?? {}, prefix + name);
  if (text === undefined || text === '') return text === undefined ? undefined : [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw plainError(`invalid annotation ${prefix}${name}: ${(error as Error).message}`);
  }
  if (!Array.isArray(value) || !value.every(isToleration))
    throw plainError(`invalid annotation ${prefix}${name}: not a list of tolerations`);
  return value;
}

const memoryPressure: Toleration = { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' };

export const podTolerationRestriction: PluginFactory = ({ cluster }, text) => {
  const configuration = configurationOf(text);
  const namespaceOf = (name: string): Namespace => {
    const found = cluster.get<Namespace>('', 'namespaces', '', name);
    if (!found) throw notFound({ group: '', resource: 'namespaces' }, name);
    return found;
  };
  const check = (pod: Pod, namespace: Namespace): void => {
    const ofNamespace = listed(namespace, 'tolerationsWhitelist');
    const allowed = ofNamespace ?? (configuration.whitelist as Toleration[] | undefined) ?? [];
    if (areAllowed(pod.spec?.tolerations ?? [], allowed)) return;
    const scope = ofNamespace ? 'namespace' : 'cluster';
    throw plainError(`pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`);
  };
  return {
    name: 'PodTolerationRestriction',
    handles: handling('CREATE', 'UPDATE'),
    admit(request: AdmissionRequest) {
      if (!isFor(request, '', 'pods')) return;
      const pod = request.object as Pod;
      const namespace = namespaceOf(request.namespace);
      const defaults = listed(namespace, 'defaultTolerations') ?? (configuration.default as Toleration[] | undefined) ?? [];
      const isBestEffort = computeQOS(pod.spec ?? { containers: [] }) === 'BestEffort';
      const extra = [...(request.operation === 'CREATE' ? defaults : []), ...(isBestEffort ? [] : [memoryPressure])];
      if (pod.spec && extra.length > 0) pod.spec.tolerations = mergeTolerations(pod.spec.tolerations ?? [], extra);
      check(pod, namespace);
    },
    validate(request: AdmissionRequest) {
      if (isFor(request, '', 'pods')) check(request.object as Pod, namespaceOf(request.namespace));
    },
  };
};

export const plugin = definePlugin('PodTolerationRestriction', podTolerationRestriction, { onByDefault: false });
