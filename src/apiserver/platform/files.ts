// Configuration files and the paths in them.
import { readFile } from 'node:fs/promises';
import { dirname, posix, resolve } from 'node:path';

/** The text of a file. Rejects with the error of the system, whose message names the path. */
export const readText = (path: string): Promise<string> => readFile(path, 'utf8');

/** The folder that a file is in. */
export const folderOf = (path: string): string => dirname(path);

/** A path of a configuration file, which is relative to its folder unless it is absolute. */
export const pathBeside = (folder: string, path: string): string => resolve(folder, path);

/** The path of a URL without empty, `.` and `..` segments. */
export const normalizedPath = (path: string): string => posix.normalize(path);
