// Server-sent events, read from a response's body: EventSource can carry no Authorization header.

/** Splits a growing text into the `data` of each complete event. A comment alone is a sign of life, as a ping is. */
export class SseReader {
  #rest = "";

  /** The data of the events that `chunk` completes. */
  push(chunk: string): string[] {
    this.#rest += chunk;
    const found: string[] = [];
    for (;;) {
      const end = /\r\n\r\n|\n\n|\r\r/.exec(this.#rest);
      if (!end) return found;
      const event = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const data = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith("data:"));
      if (data.length) found.push(data.map((line) => line.slice(5).replace(/^ /, "")).join("\n"));
      else if (event.startsWith(":")) found.push('{"type":"ping"}');
    }
  }
}

/** Calls `hear` with each event's JSON until the stream ends. Raises what the reading raises. */
export async function readEvents(response: Response, hear: (frame: unknown) => void): Promise<void> {
  if (!response.body) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const sse = new SseReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const data of sse.push(decoder.decode(value, { stream: true }))) {
      try {
        hear(JSON.parse(data));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
  }
}
