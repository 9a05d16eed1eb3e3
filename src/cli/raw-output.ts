// Output that a terminal shows as it is. Bun's raw mode leaves on that each line feed begins a line, which breaks the
// picture of a program that moves the cursor by it.
import { dlopen, FFIType, ptr } from "bun:ffi";

/** The place of the output flags in `struct termios` (termios(3)), and the flag that changes output. */
const [OUTPUT_FLAGS, OPOST] = [4, 1];
const TERMIOS_BYTES = 60;
const TCSADRAIN = 1;

/** Leaves output as it is, until the raw mode ends. */
export function leaveOutputAsItIs(fd: number): void {
  const { symbols, close } = dlopen("libc.so.6", {
    tcgetattr: { args: [FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
    tcsetattr: { args: [FFIType.i32, FFIType.i32, FFIType.ptr], returns: FFIType.i32 },
  });
  const termios = Buffer.alloc(TERMIOS_BYTES);
  if (symbols.tcgetattr(fd, ptr(termios)) === 0) {
    termios.writeUInt32LE((termios.readUInt32LE(OUTPUT_FLAGS) & ~OPOST) >>> 0, OUTPUT_FLAGS);
    symbols.tcsetattr(fd, TCSADRAIN, ptr(termios));
  }
  close();
}
