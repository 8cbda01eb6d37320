// Drivers of one node (storage.k8s.io/v1; pkg/registry/storage/csinode).
import type { CSINode, CSINodeDriver } from '#api/storage/v1';
import { type Path, root } from '#apimachinery/field';
import { byteLength, isQualifiedName } from '#apimachinery/validation';
import { repeats } from '#utils';
import { immutable } from '../../common/immutable.ts';
import { internalForm } from '../../common/internal-form.ts';
import { nonnegative } from '../../common/numbers.ts';
import { age, column } from '../../common/printing.ts';
import { collect, isEmpty, type Report } from '../../common/report.ts';
import { csiDriverName } from '../../core/common/volume-sources.ts';
import { defineKind } from '../../kind.ts';

const nodeIDLengthMax = 256;
const path = root('spec', 'drivers');
const driversOf = ({ spec }: CSINode): CSINodeDriver[] => spec?.drivers ?? [];

function validateDriver(report: Report, at: Path, driver: CSINodeDriver, isRepeated: boolean): void {
  const { name, allocatable, topologyKeys } = driver;
  const nodeID = driver.nodeID || '';
  const keys = topologyKeys ?? [];
  csiDriverName(report, at.child('name'), name);
  if (isEmpty(nodeID)) report.required(at.child('nodeID'));
  if (byteLength(nodeID) > nodeIDLengthMax)
    report.invalid(at.child('nodeID'), nodeID, `must be ${nodeIDLengthMax} characters or less`);
  nonnegative(report, at.child('allocatable', 'count'), allocatable?.count);
  if (isRepeated) report.duplicate(at.child('name'), name);
  const isRepeat = repeats();
  keys.forEach((key) => {
    if (key === '') report.required(at);
    if (isRepeat(key)) report.duplicate(at, key);
    report.problems(at, key, isQualifiedName(key));
  });
}

function validateCSINode(report: Report, object: CSINode): void {
  const isRepeat = repeats();
  driversOf(object).forEach((driver, index) => validateDriver(report, path.index(index), driver, isRepeat(driver.name)));
}

const fixedPart = ({ allocatable: _, ...driver }: CSINodeDriver): Partial<CSINodeDriver> => driver;

export const csiNode = defineKind<CSINode>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'CSINode',
  metadataRules: 'whole',
  deletion: { returnsObject: true },
  generation: false,
  validate: (object) => collect((report) => validateCSINode(report, object)),
  validateUpdate: (object, old) =>
    collect((report) => {
      validateCSINode(report, object);
      for (const before of driversOf(old))
        for (const driver of driversOf(object))
          if (driver.name === before.name)
            immutable(
              report,
              path,
              fixedPart(driver),
              fixedPart(before),
              internalForm('storage.CSINodeDriver', fixedPart(driver)),
            );
    }),
  allowUnconditionalUpdate: false,
  printer: {
    columns: [column('Name', { name: true }), column('Drivers', { type: 'integer' }), column('Age')],
    cells: (object, now) => [object.metadata.name ?? '', driversOf(object).length, age(object.metadata, now)],
  },
});
