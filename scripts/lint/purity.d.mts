export function impureImports(files: ReadonlyMap<string, string>): string[];
