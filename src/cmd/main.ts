// The `sagong` binary: follows the command line to a command, and says why the process ends when it cannot go on.
import { handStray } from '#component-base/failures';
import { runCommandLine } from '#component-base/flags';
import { boundGarbage } from '#host';
import { fail, failOnUnhandled } from './process/fail.ts';
import { sagong } from './tree/index.ts';

failOnUnhandled(handStray);
boundGarbage();
void runCommandLine(sagong, process.argv.slice(2)).catch(fail);
