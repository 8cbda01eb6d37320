// A terminal for a program that wants one: tmux keeps the screen, keys are sent to it, what it shows is read as text.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// A busy machine takes its time to load a program of this size.
const [escapeMs, startMs, patienceMs] = [300, 120_000, 10_000];
const settings = `k9s:
  refreshRate: 1
  skipLatestRevCheck: true
`;

/** k9s in a terminal of 200 columns: `{ command, press, type, show, close }`. */
export async function terminal({ must, eventually, work, env }, binary) {
  const config = join(work, 'k9s-config');
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, 'config.yaml'), settings);
  const socket = join(work, 'k9s.socket');
  const tmux = (...args) => must('tmux', ['-S', socket, '-f', '/dev/null', ...args], { env: { ...env, K9S_CONFIG_DIR: config, TERM: 'xterm-256color', LANG: 'C.UTF-8' } });
  await tmux('new-session', '-d', '-s', 'k9s', '-x', '200', '-y', '50', binary);
  const screen = () => tmux('capture-pane', '-p', '-t', 'k9s');
  const press = (key) => tmux('send-keys', '-t', 'k9s', key);
  const type = (text) => tmux('send-keys', '-t', 'k9s', '-l', text);
  const within = (timeoutMs) => (what, ...patterns) =>
    eventually(`the screen shows ${what}`, async () => {
      const text = await screen();
      const missing = patterns.filter((pattern) => !pattern.test(text));
      const shown = text.split('\n').map((line) => line.replace(/[│ ]+/g, ' ').trim()).filter(Boolean);
      if (missing.length > 0) throw new Error(`without ${missing.join(', ')}: ${shown.join('\n')}`);
      return true;
    }, timeoutMs);
  /** Waits until the screen shows all of it. */
  const show = within(patienceMs);
  const command = async (text) => {
    await press('Escape');
    // An escape right before a character would be read as one key with it.
    await new Promise((resume) => setTimeout(resume, escapeMs));
    await type(`:${text}`);
    await press('Enter');
  };
  await within(startMs)('its first view', /Context:/);
  return { command, press, type, show, close: () => tmux('kill-server') };
}
