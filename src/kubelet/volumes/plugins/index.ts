// Every source of volumes that this kubelet serves. A new one is a folder here and a line below.
import { claim } from './claim/index.ts';
import { configMap } from './config-map/index.ts';
import { csi, persistentCsi } from './csi/index.ts';
import { downwardApi } from './downward-api/index.ts';
import { emptyDir } from './empty-dir/index.ts';
import { hostPath, persistentHostPath } from './host-path/index.ts';
import { image, type ImageVolumes } from './image/index.ts';
import { localDevices } from './local/devices.ts';
import { local } from './local/index.ts';
import type { VolumeContext, VolumePlugin } from './plugin.ts';
import { projected } from './projected/index.ts';
import { secret } from './secret/index.ts';

export interface VolumePlugins {
  all: readonly VolumePlugin[];
  images: ImageVolumes;
}

export function volumePlugins(context: VolumeContext): VolumePlugins {
  const images = image(context);
  const objects = [configMap(context), secret(context), downwardApi(context), projected(context)];
  const devices = localDevices(context);
  const claims = claim(context, [persistentHostPath, local(devices), persistentCsi(context)]);
  return { all: [emptyDir(context), hostPath, claims, devices, csi(context), ...objects, images], images };
}
