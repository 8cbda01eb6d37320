export { containerdPaths } from './containerd-config.ts';
export { parseRegistryMirror, type RegistryMirror } from './registry-mirrors.ts';
