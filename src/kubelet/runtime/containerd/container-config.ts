// The runtime's description of a container (upstream kuberuntime_container.go generateContainerConfig). Pure.
import type { Container, Pod } from '#api/core/v1';
import type { ContainerConfig, Mount } from '#cri';
import { expand } from '../../env/expand.ts';
import type { ImageInfo } from '../../container/runtime.ts';
import { containerAnnotations, containerLabels } from './labels.ts';
import { containerResources } from './resources.ts';
import { containerSecurity } from './security-context.ts';

export interface ContainerInput {
  pod: Pod;
  container: Container;
  image: ImageInfo;
  restartCount: number;
  environment: ReadonlyMap<string, string>;
  mounts: Mount[];
  devices?: ContainerConfig['devices'];
  memoryCapacityBytes: number;
  seccompDir: string;
  seccompDefault?: boolean;
  targetId?: string;
}

export const containerLogPath = (name: string, restartCount: number): string => `${name}/${restartCount}.log`;

export function containerConfig(input: ContainerInput): ContainerConfig {
  const { pod, container, image, restartCount, environment } = input;
  const lookup = (name: string): string | undefined => environment.get(name);
  const expanded = (words: readonly string[] | undefined): string[] => (words ?? []).map((word) => expand(word, lookup));
  return {
    metadata: { name: container.name, attempt: restartCount },
    image: { image: image.id, userSpecifiedImage: container.image ?? '' },
    command: expanded(container.command),
    args: expanded(container.args),
    workingDir: container.workingDir ?? '',
    envs: [...environment].map(([key, value]) => ({ key, value: Buffer.from(value) })),
    mounts: input.mounts,
    ...(input.devices?.length && { devices: input.devices }),
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, restartCount),
    logPath: containerLogPath(container.name, restartCount),
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: {
      resources: containerResources(pod, container, input.memoryCapacityBytes),
      securityContext: containerSecurity(pod, container, image, input),
    },
  };
}
