// The pause program as bytes: a static x86-64 executable that lets the kernel reap its children, sleeps until SIGINT or SIGTERM and exits 0.
// It is the first process of every pod sandbox, and of every machine that is made of namespaces. Blocked signals still reach a process that is PID 1, so it
// needs no signal handler (signal(7), rt_sigtimedwait(2)).

const base = 0x400000n;
const headerBytes = 64;
const programHeaderBytes = 56;

/** Machine code by instruction. */
const code = [
  [0x31, 0xc0], // xor eax, eax
  [0x50, 0x50, 0x50], // push rax, three times: mask, restorer, flags of the action
  [0x6a, 0x01], // push 1: SIG_IGN
  [0x48, 0x89, 0xe6], // mov rsi, rsp
  [0x6a, 0x11, 0x5f], // rdi = 17: SIGCHLD
  [0x31, 0xd2], // xor edx, edx
  [0x6a, 0x08, 0x41, 0x5a], // r10 = 8: size of a signal set
  [0xb0, 0x0d], // rax = 13: rt_sigaction
  [0x0f, 0x05], // syscall
  [0x68, 0x02, 0x40, 0x00, 0x00], // push 0x4002: SIGINT and SIGTERM
  [0x48, 0x89, 0xe6], // mov rsi, rsp
  [0x31, 0xff], // rdi = 0: SIG_BLOCK
  [0x31, 0xd2], // xor edx, edx
  [0x6a, 0x0e, 0x58], // rax = 14: rt_sigprocmask
  [0x0f, 0x05], // syscall
  [0x48, 0x89, 0xe7], // wait: mov rdi, rsp
  [0x31, 0xf6], // xor esi, esi
  [0x31, 0xd2], // xor edx, edx
  [0xb8, 0x80, 0x00, 0x00, 0x00], // rax = 128: rt_sigtimedwait
  [0x0f, 0x05], // syscall
  [0x85, 0xc0], // test eax, eax
  [0x7e, 0xee], // jle wait: interrupted by another signal
  [0x31, 0xff], // xor edi, edi
  [0xb8, 0xe7, 0x00, 0x00, 0x00], // rax = 231: exit_group
  [0x0f, 0x05], // syscall
].flat();

/** The executable file (ELF-64, one segment). Throws on machines it cannot run on. */
export function pauseProgram(architecture = 'amd64'): Buffer {
  if (architecture !== 'amd64') throw new Error(`the pause program is made for amd64 only, not for ${architecture}`);
  const size = headerBytes + programHeaderBytes + code.length;
  const file = Buffer.alloc(size);
  file.write('\x7fELF', 0, 'latin1');
  file.set([2, 1, 1, 0], 4); // 64 bits, little endian, version 1, System V
  file.writeUInt16LE(2, 16); // executable
  file.writeUInt16LE(62, 18); // x86-64
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(base + BigInt(headerBytes + programHeaderBytes), 24); // entry
  file.writeBigUInt64LE(BigInt(headerBytes), 32); // program headers
  file.writeUInt16LE(headerBytes, 52);
  file.writeUInt16LE(programHeaderBytes, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(1, 64); // PT_LOAD
  file.writeUInt32LE(5, 68); // read, execute
  file.writeBigUInt64LE(0n, 72);
  file.writeBigUInt64LE(base, 80);
  file.writeBigUInt64LE(base, 88);
  file.writeBigUInt64LE(BigInt(size), 96);
  file.writeBigUInt64LE(BigInt(size), 104);
  file.writeBigUInt64LE(0x1000n, 112);
  file.set(code, headerBytes + programHeaderBytes);
  return file;
}
