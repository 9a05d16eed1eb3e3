// Ids of connections: two numbers with a dot in between, as the libraries of servers check them.

const numbers = new Uint32Array(512);
let used = numbers.length;

/** Makes an id that cannot be guessed: an application learns the id to sign from the connection alone. */
export function newSocketId(): string {
  return `${nextNumber()}.${nextNumber()}`;
}

function nextNumber(): number {
  if (used === numbers.length) {
    crypto.getRandomValues(numbers);
    used = 0;
  }
  const number = numbers[used] ?? 0;
  used += 1;
  return number;
}
