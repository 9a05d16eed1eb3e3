// A filter of system calls: it closes the ways past a process and its files that the kernel's rules for paths leave open,
// for processes that share the user of Pilvi also those to Pilvi's processes.

/** Numbers of system calls on an architecture, which its number for audits names. */
interface SystemCalls {
  audit: number;
  prctl: number;
  socket: number;
  socketpair: number;
  prlimit: number;
  truncate: number;
  /** Shared memory, semaphores and queues of System V, and new queues of POSIX. */
  machineWide: readonly number[];
}

const CALLS: Partial<Record<NodeJS.Architecture, SystemCalls>> = {
  x64: {
    audit: 0xc000_003e,
    prctl: 157,
    socket: 41,
    socketpair: 53,
    prlimit: 302,
    truncate: 76,
    machineWide: [29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220, 240],
  },
  arm64: {
    audit: 0xc000_00b7,
    prctl: 167,
    socket: 198,
    socketpair: 199,
    prlimit: 261,
    truncate: 45,
    machineWide: [194, 195, 196, 190, 193, 191, 186, 189, 188, 187, 192, 180],
  },
};

/** The same number on every architecture. */
const IO_URING_SETUP = 425;
/** Numbers from here on are those of another binary interface of x64. */
const FOREIGN_CALLS = 0x4000_0000;

const AF_UNIX = 1;
const [SOCK_STREAM, SOCK_SEQPACKET, SOCK_TYPES] = [1, 5, 0xf];
const [EPERM, EACCES, ENOSYS] = [1, 13, 38];

/** Places in `struct seccomp_data`: of an argument, its lower half. */
const [NUMBER, ARCHITECTURE] = [0, 4];
const argument = (index: number) => 16 + 8 * index;

/** Instructions of the kernel's packet filter (`linux/bpf_common.h`), as they are used here. */
const [LOAD, AND, IF_EQUAL, IF_AT_LEAST, RETURN] = [0x20, 0x54, 0x15, 0x35, 0x06];
const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const refusal = (errno: number) => 0x0005_0000 + errno;

type Instruction = [code: number, ifTrue: number, ifFalse: number, value: number];

/** The numbers of this machine's system calls; null for an architecture that Pilvi does not know. */
export function systemCalls(): SystemCalls | null {
  return CALLS[process.arch] ?? null;
}

/** What is refused beside what the machine has for all. */
interface Extent {
  /** Whether the process has the user of Pilvi. */
  isUserShared: boolean;
  /** For a kernel whose rules do not cover files that are cut by their path. */
  forbidsTruncate: boolean;
}

/**
 * The filter in hexadecimal. It refuses what outlives a process, and of which the machine has a number for all users
 * together: one process could take all shared memory of System V, without which no Postgres starts. A program for another
 * architecture, whose calls have other numbers, is killed.
 *
 * For a process with the user of Pilvi it also refuses unix sockets, at which Pilvi's processes and databases answer to
 * their own user without a question; rings of input and output, which make sockets past the filter; and limits of other
 * processes.
 */
export function callFilter(calls: SystemCalls, { isUserShared, forbidsTruncate }: Extent): string {
  const refused = [...calls.machineWide, ...(isUserShared && forbidsTruncate ? [calls.truncate] : [])];
  return encoded([
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, calls.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    ...answer(IF_AT_LEAST, FOREIGN_CALLS, ENOSYS),
    ...refused.flatMap((call) => answer(IF_EQUAL, call, EPERM)),
    ...(isUserShared ? sharedUserRules(calls) : []),
    [RETURN, 0, 0, ALLOW],
  ]);
}

/** The instructions that keep a process from others of its user. */
function sharedUserRules(calls: SystemCalls): Instruction[] {
  return [
    ...answer(IF_EQUAL, IO_URING_SETUP, ENOSYS),
    ...block(calls.prlimit, [
      [LOAD, 0, 0, argument(0)],
      [IF_EQUAL, 1, 0, 0],
      [RETURN, 0, 0, refusal(EPERM)],
      [RETURN, 0, 0, ALLOW],
    ]),
    ...block(calls.socket, [
      [LOAD, 0, 0, argument(0)],
      [IF_EQUAL, 0, 1, AF_UNIX],
      [RETURN, 0, 0, refusal(EACCES)],
      [RETURN, 0, 0, ALLOW],
    ]),
    // A socket of a pair without connections could still be led to another's.
    ...block(calls.socketpair, [
      [LOAD, 0, 0, argument(1)],
      [AND, 0, 0, SOCK_TYPES],
      [IF_EQUAL, 2, 0, SOCK_STREAM],
      [IF_EQUAL, 1, 0, SOCK_SEQPACKET],
      [RETURN, 0, 0, refusal(EACCES)],
      [RETURN, 0, 0, ALLOW],
    ]),
  ];
}

/** Answers a call, or all from a number on, with an error. */
function answer(comparison: number, call: number, errno: number): Instruction[] {
  return [
    [comparison, 0, 1, call],
    [RETURN, 0, 0, refusal(errno)],
  ];
}

/** Instructions for one call, which all end the filter. */
function block(call: number, instructions: Instruction[]): Instruction[] {
  return [[IF_EQUAL, 0, instructions.length, call], ...instructions];
}

function encoded(program: Instruction[]): string {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    const at = index * 8;
    bytes.writeUInt16LE(code, at);
    bytes.writeUInt8(ifTrue, at + 2);
    bytes.writeUInt8(ifFalse, at + 3);
    bytes.writeUInt32LE(value, at + 4);
  });
  return bytes.toString("hex");
}
