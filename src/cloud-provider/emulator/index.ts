// What a vendor's package brings so that its API can stand in front of the local cloud (`sagong up --cloud-provider-emulator`). Public:
// `import ... from 'sagong/cloud-provider/emulator'`; the package exports the definition as the default of its `./emulator`.
export * from './types.ts';
export * from './account.ts';
export { type AnsweringApi, answeringApi } from './answering.ts';
