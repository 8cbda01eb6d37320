export function importProblem(file: string, specifier: string, text?: string): string | undefined;
export function impurities(file: string, text: string, reached?: boolean): [number, string][];
export function specifiersOf(text: string): string[];
