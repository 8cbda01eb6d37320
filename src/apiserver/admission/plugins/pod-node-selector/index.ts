// PodNodeSelector: pods of a namespace go to the nodes that its annotation or the cluster's configuration names, and to no others
// (plugin/pkg/admission/podnodeselector).
import type { Namespace, Pod } from '#api/core/v1';
import { parseYaml } from '#apimachinery/codec';
import { forbidden, notFound, plainError } from '#apimachinery/errors';
import { isLabelValue, isQualifiedName } from '#apimachinery/validation';
import { own } from '#utils';
import type { AdmissionRequest } from '../../../registry/generic/admission.ts';
import { definePlugin, handling, isFor, type PluginFactory } from '../../plugin.ts';

type Labels = Record<string, string>;

const annotation = 'scheduler.alpha.kubernetes.io/node-selector';
const clusterDefault = 'clusterDefaultNodeSelector';

/** Reads `a=b,c=d` as labels. Throws the refusal that the client sees. */
function labelsOf(text = ''): Labels {
  const labels: Labels = {};
  for (const part of text === '' ? [] : text.split(',')) {
    const words = part.split('=');
    const [key = '', value = ''] = words.map((word) => word.trim());
    if (words.length !== 2) throw plainError(`invalid selector: [${words.join(' ')}]`);
    const problems = [...isQualifiedName(key), ...isLabelValue(value)];
    if (problems.length > 0) throw plainError(`invalid selector: ${part}: ${problems.join('; ')}`);
    labels[key] = value;
  }
  return labels;
}

const conflicts = (a: Labels, b: Labels): boolean => Object.keys(a).some((key) => (own(b, key) ?? a[key]) !== a[key]);
const isWithin = (labels: Labels, allowed: Labels): boolean =>
  Object.keys(allowed).length === 0 || Object.entries(labels).every(([key, value]) => own(allowed, key) === value);

/** The selectors by namespace. Such a file has no kind. Throws an Error when it is of another shape. */
function selectorsOf(configuration: string | undefined): Labels {
  const { value } = parseYaml(configuration ?? '{}');
  const selectors = (value as { podNodeSelectorPluginConfig?: unknown } | null)?.podNodeSelectorPluginConfig ?? {};
  if (typeof selectors !== 'object' || selectors === null || Object.values(selectors).some((one) => typeof one !== 'string'))
    throw new Error('podNodeSelectorPluginConfig: must be a map from namespaces to selectors');
  return selectors as Labels;
}

const refuse = (pod: Pod, why: string): never => {
  throw forbidden({ group: '', resource: 'pods' }, pod.metadata.name ?? '', why);
};

export const podNodeSelector: PluginFactory = ({ cluster }, configuration) => {
  const selectors = selectorsOf(configuration);
  const wantedIn = (name: string): Labels => {
    const namespace = cluster.get<Namespace>('', 'namespaces', '', name);
    if (!namespace) throw notFound({ group: '', resource: 'namespaces' }, name);
    return labelsOf(own(namespace.metadata.annotations ?? {}, annotation) ?? own(selectors, clusterDefault));
  };
  const check = (pod: Pod, namespace: string): Labels => {
    const wanted = wantedIn(namespace);
    if (conflicts(wanted, pod.spec?.nodeSelector ?? {}))
      refuse(pod, 'pod node label selector conflicts with its namespace node label selector');
    return wanted;
  };
  const checkAllowed = (pod: Pod, namespace: string): void => {
    if (!isWithin(pod.spec?.nodeSelector ?? {}, labelsOf(own(selectors, namespace))))
      refuse(pod, 'pod node label selector labels conflict with its namespace whitelist');
  };
  return {
    name: 'PodNodeSelector',
    handles: handling('CREATE'),
    admit(request: AdmissionRequest) {
      if (!isFor(request, '', 'pods')) return;
      const pod = request.object as Pod;
      const nodeSelector = { ...check(pod, request.namespace), ...pod.spec?.nodeSelector };
      if (pod.spec && Object.keys(nodeSelector).length > 0) pod.spec.nodeSelector = nodeSelector;
      checkAllowed(pod, request.namespace);
    },
    validate(request: AdmissionRequest) {
      if (!isFor(request, '', 'pods')) return;
      check(request.object as Pod, request.namespace);
      checkAllowed(request.object as Pod, request.namespace);
    },
  };
};

export const plugin = definePlugin('PodNodeSelector', podNodeSelector, { onByDefault: false });
