// Vendors' APIs in front of the local cloud; a vendor's code is loaded when it is named.
export type { EmulatedNetwork, Emulator, EmulatorContext, EmulatorDefinition, ManagerSetup } from './emulator.ts';
export { type EmulatorName, emulatorNameOf, emulatorNames, loadEmulator, providerOfEmulator } from './names.ts';
export { type EmulatorServer, serveEmulator } from './serve.ts';
