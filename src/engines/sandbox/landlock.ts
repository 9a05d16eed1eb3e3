// The words of a launcher that restricts itself by Landlock, rules of the kernel for paths, and then becomes the command.
// The launcher is Perl, which every Debian and Ubuntu has: nothing has to be compiled on the user's machine.
import { existsSync, statSync } from "node:fs";
import { callFilter, systemCalls } from "./seccomp.ts";
import type { Sandbox, View } from "./sandbox.ts";
import { ETC_FILES, ETC_FOLDERS, SYSTEM_FOLDERS } from "./system.ts";

const PERL = "/usr/bin/perl";

/** Earlier rules let nothing be moved to another folder, which builds do all the time. */
const MIN_ABI = 2;

/** Rights to files and folders, as the kernel's header `linux/landlock.h` numbers them. */
const [EXECUTE, WRITE_FILE, READ_FILE, READ_DIR] = [1 << 0, 1 << 1, 1 << 2, 1 << 3];
const [MAKE_CHAR, MAKE_BLOCK, TRUNCATE, IOCTL_DEV] = [1 << 6, 1 << 11, 1 << 14, 1 << 15];
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
const READ = EXECUTE | READ_FILE | READ_DIR;

/** Signals and abstract sockets lead to no process outside. */
const SCOPES = 3;

/** Devices without a state. */
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"].map((name) => `/dev/${name}`);

/** Programs ask for the names of their user and their group, and for facts about themselves and the machine. */
const ALSO_READ = ["/etc/passwd", "/etc/group", "/proc"];

/** What programs may read of the system. */
const SYSTEM = [
  ...SYSTEM_FOLDERS,
  ...[...ETC_FILES, ...ETC_FOLDERS].map((name) => `/etc/${name}`),
  ...ALSO_READ,
];

/**
 * Takes the system call of prctl, the rules' attributes and the filter in hexadecimal, the working directory, then
 * words with the rights to a path each, `--`, and the command.
 */
const SCRIPT = `
sub fail { print STDERR "the sandbox cannot be made: $_[0]: $!\\n"; exit 125 }
my ($prctl, $attributes, $filter, $directory) = splice @ARGV, 0, 4;
$prctl += 0;
$_ = pack "H*", $_ for $attributes, $filter;
my $rules = syscall 444, $attributes, length $attributes, 0;
fail "rules" if $rules < 0;
while (($_ = shift) ne "--") {
  my ($rights, $path) = /^(\\d+):(.*)$/s;
  sysopen my $file, $path, 0x280000 or fail $path;
  my $rule = pack "Ql", $rights, fileno $file;
  fail $path if syscall 445, $rules, 1, $rule, 0;
}
chdir $directory or fail $directory;
fail "privileges" if syscall $prctl, 38, 1, 0, 0, 0;
fail "restriction" if syscall 446, $rules, 0;
my $program = pack "S x6 P", length($filter) / 8, $filter;
fail "filter" if syscall $prctl, 22, 2, $program, 0, 0;
exec { $ARGV[0] } @ARGV;
print STDERR "$ARGV[0]: $!\\n";
exit 127;
`;

/** Git warns about settings of the machine that it cannot read. */
export const LANDLOCK_VARIABLES = { GIT_CONFIG_NOSYSTEM: "1" };

type Landlock = Extract<Sandbox, { level: "landlock" }>;

/** Whether the launcher is there and the kernel has the rules. @param abi as the kernel says it; 0 without rules. */
export function hasLandlock(abi: number): boolean {
  return abi >= MIN_ABI && systemCalls() !== null && existsSync(PERL);
}

/** The words before a command, which sees the machine as it is, and opens what its view has. */
export function landlockWords(sandbox: Landlock, view: View): string[] {
  const calls = systemCalls();
  if (calls === null) throw new Error(`no system calls are known of ${process.arch}`);
  const rights = rightsOf(sandbox);
  const paths: [path: string, rights: number][] = [
    ...SYSTEM.filter((path) => existsSync(path)).map((path): [string, number] => [path, READ]),
    ...DEVICES.filter((path) => existsSync(path)).map((path): [string, number] => [path, rights]),
    ...view.mounts.flatMap(({ from, isWritable }): [string, number][] =>
      from === null ? [] : [[from, isWritable ? rights : READ]],
    ),
    ...(view.temporary === null ? [] : [[view.temporary, rights] as [string, number]]),
  ];
  return [
    PERL,
    "-f",
    "-e",
    SCRIPT,
    String(calls.prctl),
    attributesOf(sandbox),
    callFilter(calls, { isUserShared: sandbox.isUserShared, forbidsTruncate: sandbox.abi < 3 }),
    view.directory,
    ...paths.map(([path, wanted]) => `${wanted & rights & (isFolder(path) ? ~0 : OF_FILES)}:${path}`),
    "--",
  ];
}

/** All rights that the kernel knows, but for devices. */
function rightsOf({ abi }: Landlock): number {
  return handledBy(abi) & ~(MAKE_CHAR | MAKE_BLOCK);
}

function handledBy(abi: number): number {
  const count = abi < 3 ? 14 : abi < 5 ? 15 : 16;
  return (1 << count) - 1;
}

/** The attributes that a kernel of this version knows: rights to files, none to the network, scopes. */
function attributesOf({ abi }: Landlock): string {
  const attributes = new BigUint64Array([BigInt(handledBy(abi)), 0n, BigInt(SCOPES)]);
  const known = abi < 4 ? 1 : abi < 6 ? 2 : 3;
  return Buffer.from(attributes.buffer, 0, known * 8).toString("hex");
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
