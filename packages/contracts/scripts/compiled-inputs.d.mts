export const generatedFolder: string;
export const hashFile: string;
export const libraries: readonly string[];
export function packageFolder(name: string): string;
export function readSources(): Record<string, { content: string }>;
export function inputHash(): string;
export function isCompiled(): boolean;
