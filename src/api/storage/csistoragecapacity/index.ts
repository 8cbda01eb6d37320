// What a driver has left for one class and topology (storage.k8s.io/v1; KEP-1472; pkg/registry/storage/csistoragecapacity).
import type { CSIStorageCapacity } from '#api/storage/v1';
import { root } from '#apimachinery/field';
import { isDNS1123Subdomain, negativeError } from '#apimachinery/validation';
import { immutable } from '../../common/immutable.ts';
import { selectorHasInvalidValue, validateLabelSelector } from '../../common/labels.ts';
import { compareQuantities } from '../../common/quantities.ts';
import { collect, type Report } from '../../common/report.ts';
import { nodeLabelWarning, nodeSelectorTermWarnings } from '../../core/common/node-labels.ts';
import { defineKind } from '../../kind.ts';

const topologyPath = root('nodeTopology');

function validateCapacity(report: Report, object: Partial<CSIStorageCapacity>, allowInvalidValues: boolean): void {
  const { nodeTopology, storageClassName = '', capacity } = object;
  validateLabelSelector(report, topologyPath, nodeTopology, allowInvalidValues);
  report.problems(root('storageClassName'), storageClassName, isDNS1123Subdomain(storageClassName));
  if (capacity !== undefined && compareQuantities(capacity, '0') < 0) report.invalid(root('capacity'), capacity, negativeError);
}

export const csiStorageCapacity = defineKind<CSIStorageCapacity>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSIStorageCapacity',
  validate: (object) => collect((report) => validateCapacity(report, object, false)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateCapacity(report, object, selectorHasInvalidValue(old.nodeTopology));
      immutable(report, topologyPath, object.nodeTopology, old.nodeTopology);
      immutable(report, root('storageClassName'), object.storageClassName, old.storageClassName);
    }),
  warnings: ({ nodeTopology }) => [
    ...nodeSelectorTermWarnings(topologyPath, nodeTopology, false),
    ...Object.keys(nodeTopology?.matchLabels ?? {}).flatMap((label) => {
      const message = nodeLabelWarning(label);
      return message === undefined ? [] : [`${topologyPath.child('matchLabels', label).toString()}: ${message}`];
    }),
  ],
  allowUnconditionalUpdate: false,
});
