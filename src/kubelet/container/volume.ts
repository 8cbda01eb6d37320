// A pod's volume, as those see it who give it to containers or say how full it is.

interface Amounts {
  available: number;
  total: number;
  used: number;
}

/** What is in a volume; what nobody knows of it is absent. */
export interface VolumeUse {
  bytes?: Amounts;
  inodes?: Amounts;
  /** Why the volume is not well. */
  abnormal?: string;
}

/** A volume that containers can be given. */
export interface MountedVolume {
  hostPath: string;
  readOnly: boolean;
  /** What is at `hostPath` is a device, or a link to one. */
  block?: boolean;
  /** The PersistentVolumeClaim that the volume belongs to. */
  claim?: { namespace: string; name: string };
  /** Says how much of the volume is used. Where it is absent, the kubelet measures what is at `hostPath`, if it can. */
  stats?(): Promise<VolumeUse>;
}
