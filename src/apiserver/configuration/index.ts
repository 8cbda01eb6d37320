export { type ConfigurationSource, type Fields, type FieldsOf, type FileKind, readConfiguration } from './read.ts';
export { followFile, type FollowedFile } from './follow.ts';
