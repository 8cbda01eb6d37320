export { addressesOf } from './name-lookup.ts';
export { containerdPaths } from './containerd-config.ts';
export { parseRegistryMirror, type RegistryMirror } from './registry-mirrors.ts';
