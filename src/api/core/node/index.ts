// Nodes (core/v1; pkg/registry/core/node).
import type { Node, NodeSpec } from '#api/core/v1';
import { root } from '#apimachinery/field';
import { cidrWarnings } from '#apimachinery/validation';
import { age, columns, orNone, wideColumns } from '../../common/printing.ts';
import { roundUpResourceList } from '../../common/quantities.ts';
import { keep } from '../../common/strategy.ts';
import { defineKind } from '../../kind.ts';
import { validateNodeCreate, validateNodeStatusUpdate, validateNodeUpdate } from './validation.ts';

const rolePrefix = 'node-role.kubernetes.io/';

/** `podCIDR` is the first of `podCIDRs`; when they differ, the former counts. */
function alignPodCIDRs(spec: NodeSpec): void {
  const first = spec.podCIDRs?.[0];
  if (spec.podCIDR && spec.podCIDR !== first) spec.podCIDRs = [spec.podCIDR];
  else if (first && !spec.podCIDR) spec.podCIDR = first;
}

function defaults({ spec, status }: Node): void {
  if (spec) alignPodCIDRs(spec);
  if (!status) return;
  if (status.capacity) status.allocatable ??= { ...status.capacity };
  roundUpResourceList(status.capacity);
  roundUpResourceList(status.allocatable);
}

function statusText({ spec, status }: Node): string {
  const ready = status?.conditions?.filter(({ type }) => type === 'Ready').pop();
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return spec?.unschedulable ? `${state},SchedulingDisabled` : state;
}

function roles({ labels = {} }: Node['metadata']): string {
  const found = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.length > rolePrefix.length ? [key.slice(rolePrefix.length)] : [];
    return key === 'kubernetes.io/role' && value ? [value] : [];
  });
  return orNone([...new Set(found)].sort().join(','));
}

const addressOf = ({ status }: Node, type: string): string =>
  status?.addresses?.find((address) => address.type === type)?.address ?? '<none>';

function warnings({ spec }: Node): string[] {
  return [
    ...(spec?.configSource ? ['spec.configSource: the feature is removed'] : []),
    ...(spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...(spec?.podCIDRs ?? []).flatMap((cidr, index) => cidrWarnings(root('spec', 'podCIDRs').index(index), cidr)),
  ];
}

export const node = defineKind<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  generation: false,
  defaults,
  prepareForCreate({ spec, status }) {
    delete spec?.configSource;
    delete status?.config;
  },
  prepareForUpdate(draft, old) {
    keep(draft, old, 'status');
    if (!old.spec?.configSource) delete draft.spec?.configSource;
  },
  validate: validateNodeCreate,
  validateUpdate: validateNodeUpdate,
  warnings,
  resetFields: [['status']],
  status: {
    prepareForUpdate(draft, old) {
      keep(draft, old, 'spec');
      if (!old.status?.config) delete draft.status?.config;
    },
    validateUpdate: validateNodeStatusUpdate,
    resetFields: [['spec']],
  },
  printer: {
    columns: [
      ...columns('Name', 'Status', 'Roles', 'Age', 'Version'),
      ...wideColumns('Internal-IP', 'External-IP', 'OS-Image', 'Kernel-Version', 'Container-Runtime'),
    ],
    cells(object, now) {
      const info = object.status?.nodeInfo;
      const kernel = info?.kernelVersion || '<unknown>';
      return [
        object.metadata.name ?? '',
        statusText(object),
        roles(object.metadata),
        age(object.metadata, now),
        info?.kubeletVersion ?? '',
        addressOf(object, 'InternalIP'),
        addressOf(object, 'ExternalIP'),
        info?.osImage || '<unknown>',
        info?.architecture ? `${kernel} (${info.architecture})` : kernel,
        info?.containerRuntimeVersion || '<unknown>',
      ];
    },
  },
  selectableFields: ({ spec }) => ({ 'spec.unschedulable': String(spec?.unschedulable ?? false) }),
});
