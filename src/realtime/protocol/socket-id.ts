// Ids of connections: two numbers with a dot between, as the libraries of servers check them.

const numbers = new Uint32Array(512);
let used = numbers.length;

/** Cannot be guessed: whoever is to sign for a connection is told its id by that connection alone. */
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
