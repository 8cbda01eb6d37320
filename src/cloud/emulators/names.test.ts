import { describe, expect, it } from 'vitest';
import { emulatorNameOf, emulatorNames } from './names.ts';

describe('the vendor of --cloud-provider-emulator', () => {
  it.each(emulatorNames)('may be %s', (name) => expect(emulatorNameOf(name)).toBe(name));
  it.each(['hetzner', 'gce', 'cce', 'constructor', ''])('names what is there for %s', (name) =>
    expect(() => emulatorNameOf(name)).toThrow(`there is: ${emulatorNames.join(', ')}`),
  );
});
