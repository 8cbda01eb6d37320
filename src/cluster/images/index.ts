// Images that are made rather than pulled.
export {
  type BusyboxImageOptions,
  buildBusyboxImage,
  buildPauseImage,
  type ImportTarget,
  importArchive,
  importImage,
  pauseImageReference,
} from './images.ts';
export { machinePrograms } from './machine-programs.ts';
export { buildImage, type ImageDefinition } from './oci-image.ts';
export { buildProgramImage, type ProgramImageOptions } from './program-image.ts';
