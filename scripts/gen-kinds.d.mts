/** The text of kinds.gen.ts for the API in a folder. */
export function kindsModule(api: string): string;
