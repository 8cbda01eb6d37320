// What commands say: names, reasons and versions in it come from servers, nodes and files of others.
import { visible } from '#utils';

/** A line, or several, on standard output. */
export const say = (text: string): void => void process.stdout.write(`${visible(text)}\n`);

/** A line on standard error, as the program says it. */
export const warn = (text: string): void => void process.stderr.write(`sagong: ${visible(text)}\n`);
