import { describe, expect, it } from 'vitest';
import type { Exec } from '#utils';
import { removeAllRules, removeRulesOfOthers } from './modes.ts';

/** A machine on which no rule is there. `failing`: the codes of errors by program. */
function machine(failing: Record<string, string> = {}): { exec: Exec; programs: Set<string> } {
  const programs = new Set<string>();
  const exec: Exec = async (program) => {
    programs.add(program);
    const code = failing[program];
    if (code) throw Object.assign(new Error(`spawn ${program} ${code}`), { code });
    return { code: program === 'iptables' ? 1 : 0, stdout: '', stderr: '' };
  };
  return { exec, programs };
}

describe('rules of other modes', () => {
  it('are taken away, those of the mode that is used stay', async () => {
    const before = { iptables: machine(), nftables: machine() };
    await removeRulesOfOthers('iptables', before.iptables.exec);
    await removeRulesOfOthers('nftables', before.nftables.exec);
    expect([...before.iptables.programs]).toEqual(['nft']);
    expect([...before.nftables.programs]).toEqual(['iptables', 'iptables-save']);
  });

  it('are not there where their program is not', async () => {
    await removeAllRules(machine({ nft: 'ENOENT', iptables: 'ENOENT' }).exec);
    await expect(removeAllRules(machine({ nft: 'EACCES' }).exec)).rejects.toThrow('spawn nft EACCES');
    await expect(removeAllRules(machine({ iptables: 'EACCES' }).exec)).rejects.toThrow('spawn iptables EACCES');
  });
});
