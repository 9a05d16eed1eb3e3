// Applications of tests of the edge, and what they answer.

/** An application that answers with its name, and with what arrived. */
export function named(name: string) {
  return async (request: Request) =>
    Response.json({
      name,
      method: request.method,
      url: new URL(request.url).pathname,
      headers: Object.fromEntries(request.headers),
      length: (await request.arrayBuffer()).byteLength,
    });
}

export type Answer = { name: string; url: string; headers: Record<string, string>; length: number };

/** What such an application answered. */
export async function answerOf(response: Promise<Response>): Promise<Answer> {
  return (await (await response).json()) as Answer;
}
