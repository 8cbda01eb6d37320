// emptyDir: a directory for as long as the pod lives, on the node's disk or in memory (upstream pkg/volume/emptydir).
import { parseQuantity } from '#apimachinery/quantity';
import { quote } from '#utils';
import { giveToGroup, makeDirectory } from '../directory.ts';
import type { VolumeContext, VolumePlugin } from '../plugin.ts';

export const emptyDir = ({ exec }: VolumeContext): VolumePlugin => ({
  name: 'empty-dir',
  serves: (volume) => volume.emptyDir !== undefined,
  async setUp({ pod, volume, path }) {
    const { medium = '', sizeLimit } = volume.emptyDir ?? {};
    if (medium !== '' && medium !== 'Memory') throw new Error(`unknown storage medium ${quote(medium)}`);
    const bytes = sizeLimit === undefined ? 0 : parseQuantity(sizeLimit).value();
    await makeDirectory(exec, path, medium === 'Memory', bytes > 0 ? [`size=${bytes}`] : []);
    await giveToGroup(pod, path, false);
    return { hostPath: path, readOnly: false };
  },
});
