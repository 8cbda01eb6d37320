// What can happen to one machine of a control plane, or to one program on it, and how it is made good.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestCluster } from '../cluster/harness.ts';
import { failureKinds, type Planes, programs } from './planes.ts';

export interface Damage {
  what: string;
  happen(): Promise<unknown>;
  mend(): Promise<unknown>;
}

const byItself = (): Promise<void> => Promise.resolve();

/** Of a whole machine. */
export function machineDamages(cluster: TestCluster, planes: Planes, name: string): Damage[] {
  return [
    ...failureKinds.map((kind) => ({
      what: kind,
      happen: () => planes.fail(kind, name),
      mend: () => planes.mend(kind, name),
    })),
    { what: 'crashed', happen: () => planes.signal(name, 'KILL'), mend: () => planes.node('start', name) },
    {
      what: 'disk gone',
      async happen() {
        await planes.node('stop', name);
        await rm(join(cluster.dataDir, 'control-planes', name, 'etcd'), { recursive: true });
      },
      mend: () => planes.node('start', name),
    },
    {
      what: 'replaced',
      happen: () => planes.node('terminate', name),
      mend: () => planes.node('add', name),
    },
  ];
}

/** Of one program: it is killed, and started again by its machine, or it stands still for a while. */
export function programDamages(planes: Planes, name: string): Damage[] {
  return programs.flatMap((program) => [
    { what: `${program} killed`, happen: () => planes.signal(name, 'KILL', program), mend: byItself },
    {
      what: `${program} paused`,
      happen: () => planes.signal(name, 'STOP', program),
      mend: () => planes.signal(name, 'CONT', program),
    },
  ]);
}
