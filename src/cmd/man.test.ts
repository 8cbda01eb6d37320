import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { command, flag } from '#component-base/flags';
import { manPage } from './man.ts';
import { sagong } from './tree/index.ts';

const run = (): void => {};
const page = manPage(
  {
    name: 'boat',
    description: 'A boat.',
    commands: [
      command({
        name: 'sail',
        takes: '<where>',
        description: '.hidden \\files and --dashes',
        flags: {
          speed: flag.int({ name: 'speed', shorthand: 's', default: 3, help: 'In knots.' }),
          old: flag.bool({ name: 'old', default: false, deprecated: 'gone', help: 'no' }),
        },
        run,
      }),
      command({ name: 'ghost', hidden: true, description: 'nobody sees it', flags: {}, run }),
      { name: 'engine', description: 'A program.', load: () => Promise.reject(new Error('not loaded for the page')) },
      { name: 'crew', description: 'a group', commands: [command({ name: 'add', description: 'One more.', flags: {}, run })] },
    ],
  },
  '1.2.3',
);

describe('the manual page', () => {
  it('has each command that help shows, with its flags, and no other', () => {
    expect(page).toContain(String.raw`\fBboat sail\fR \fI<where>\fR`);
    expect(page).toContain(String.raw`\fB\-s\fR, \fB\-\-speed\fR \fIint\fR` + '\nIn knots. (default 3)');
    expect(page).toContain(String.raw`\fBboat crew add\fR`);
    expect(page).toContain(String.raw`All its flags: \fBboat engine \-\-help\fR.`);
    expect(page).not.toMatch(/ghost|\\-old/);
  });
  it('hands no text to roff as a request', () => {
    expect(page).toContain(String.raw`\&.hidden \efiles and \-\-dashes`);
    const requests = page.split('\n').filter((line) => /^[.']/.test(line));
    expect(new Set(requests.map((line) => line.split(' ')[0]))).toEqual(new Set(['.TH', '.SH', '.TP', '.RS', '.RE']));
  });
  it.runIf(spawnSync('groff', ['--version']).status === 0)('is read by groff without a warning', () => {
    const made = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input: manPage(sagong, '0.0.0'), encoding: 'utf8' });
    expect(made.stderr).toBe('');
    // Bold and italic are struck over, or escape sequences.
    const text = made.stdout.replaceAll(/.\u0008|\u001b\[[\d;]*m/gu, '');
    expect(text).toMatch(/sagong up\n +Start a cluster and stay in the foreground/);
    expect(text).toMatch(/--control-planes int/);
  });
});
