// Loads code of the console that is not needed at once.

/** Adds to a part that could not be loaded what may be the cause. */
export async function loadPart<Part>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    throw new Error("A part of the page could not be loaded. Pilvi may be away, or was upgraded.", { cause });
  }
}
