// A filter of system calls for processes that share the user of Pilvi: it closes the ways to Pilvi's processes that the
// kernel's rules for paths leave open.

/** Numbers of system calls on an architecture, which its number for audits names. */
export interface SystemCalls {
  audit: number;
  prctl: number;
  socket: number;
  socketpair: number;
  prlimit: number;
  truncate: number;
  sharedMemory: readonly number[];
}

const CALLS: Partial<Record<NodeJS.Architecture, SystemCalls>> = {
  x64: {
    audit: 0xc000_003e,
    prctl: 157,
    socket: 41,
    socketpair: 53,
    prlimit: 302,
    truncate: 76,
    sharedMemory: [29, 30, 31],
  },
  arm64: {
    audit: 0xc000_00b7,
    prctl: 167,
    socket: 198,
    socketpair: 199,
    prlimit: 261,
    truncate: 45,
    sharedMemory: [194, 195, 196],
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

/**
 * The filter in hexadecimal. It refuses unix sockets, at which Pilvi's processes and databases answer to their own user
 * without a question; rings of input and output, which make sockets past the filter; limits of other processes; and
 * the shared memory of others.
 * @param forbidsTruncate for a kernel whose rules do not cover files that are cut by their path.
 */
export function sharedUserFilter(
  calls: SystemCalls,
  { forbidsTruncate }: { forbidsTruncate: boolean },
): string {
  const refused = [...calls.sharedMemory, ...(forbidsTruncate ? [calls.truncate] : [])];
  const program: Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [IF_EQUAL, 1, 0, calls.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    ...answer(IF_AT_LEAST, FOREIGN_CALLS, ENOSYS),
    ...answer(IF_EQUAL, IO_URING_SETUP, ENOSYS),
    ...refused.flatMap((call) => answer(IF_EQUAL, call, EPERM)),
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
    [RETURN, 0, 0, ALLOW],
  ];
  return encoded(program);
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
